import type { DirectoryEvent } from '../domain/event.ts';
import { type ConnectionName, connectionName } from '../domain/ids.ts';
import {
  judgeAge,
  MAX_OPERATION,
  makeStamp,
  readStamp,
  type Stamp,
  type StampParts,
} from '../domain/stamp.ts';
import { type Changes, type Invalid, invalid } from './adapters/reading.ts';
import { MAX_EVENTS_PER_MESSAGE } from './events/bounds.ts';
import { ConnectionText } from './events/fields.ts';
import { DEFAULT_CONNECTION, type DeadLetterCode } from './names.ts';
import { type Piece, type Place, unwrap } from './unwrap.ts';

/** A message of the events queue. Times are in milliseconds since 1970. */
export interface MessageToDecode {
  readonly body: string;
  readonly messageId: string;
  /** SQS SentTimestamp: the time of events that carry none, of their own or by an envelope. */
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
  /** Message attribute `connection`. */
  readonly connectionAttribute?: string | undefined;
  /** Message attribute `stamp`: when and as what the message was first sent, if it has been sent again since. */
  readonly stampAttribute?: string | undefined;
  /** Where given, an event of a connection for which it answers false is rejected. */
  readonly knowsConnection?: (connection: ConnectionName) => boolean;
}

/** A part of a message that cannot be accepted, as the dead-letter queue takes it. */
export interface Rejection {
  readonly code: DeadLetterCode;
  readonly message: string;
  /** The one bad event where it came among others, else the message's body as it was. */
  readonly body: string;
  /** To be sent along as attribute `stamp`, or the event would take a new place in the order when it is replayed. */
  readonly stamp?: Stamp;
  /** To be sent along as attribute `connection`: from the envelope that `body` may no longer have. */
  readonly connection?: string;
}

export interface DecodedMessage {
  readonly events: readonly DirectoryEvent[];
  /** Events that are none of our business, such as a CloudEvent outside `directory.*`. */
  readonly ignored: number;
  readonly rejected: readonly Rejection[];
}

/**
 * Reads one message in any supported format. Never throws: whatever came is accepted, ignored or rejected, and a bad
 * event in a list is rejected alone. The result depends on the arguments only, so a redelivery reads the same.
 */
export function decodeMessage(message: MessageToDecode): DecodedMessage {
  const events: DirectoryEvent[] = [];
  const rejected: Rejection[] = [];
  let ignored = 0;
  let slot = 0;
  const delivery = { place: placeOf(message), connection: message.connectionAttribute };
  for (const piece of unwrap(message.body, delivery)) {
    const { reading } = piece;
    if (reading.kind === 'ignored') ignored += 1;
    else {
      const read = reading.kind === 'changes' ? accept(reading, { piece, slot, message }) : reading;
      if (read.kind === 'accepted') events.push(...read.events);
      else rejected.push(rejectionOf(read, piece, slot));
    }
    slot += reading.kind === 'changes' ? reading.changes.length : 1;
    if (slot > MAX_EVENTS_PER_MESSAGE) {
      const whole = { ...piece, ...delivery, reading: TOO_MANY, body: () => message.body };
      return { events: [], ignored: 0, rejected: [rejectionOf(TOO_MANY, whole, 0)] };
    }
  }
  return { events, ignored, rejected };
}

const TOO_MANY = invalid(`expected at most ${MAX_EVENTS_PER_MESSAGE} events in one message`, 'too_large');

interface Acceptable {
  readonly piece: Piece;
  /** How many events of this message came before: keeps those apart that share the message's time and id. */
  readonly slot: number;
  readonly message: MessageToDecode;
}

interface Accepted {
  readonly kind: 'accepted';
  readonly events: readonly DirectoryEvent[];
}

function accept(reading: Changes, { piece, slot, message }: Acceptable): Accepted | Invalid {
  const connection = connectionOf(reading.connection ?? piece.connection);
  if (connection === undefined) return invalid('connection: expected a name [a-z0-9-]{1,32}');
  const standing = standingOf(reading, piece.place, slot);
  if (standing === undefined) return invalid('attribute stamp: expected a stamp, got other text');
  const { id, operation } = standing;
  if (operation + reading.changes.length - 1 > MAX_OPERATION) {
    return invalid(`expected at most ${MAX_OPERATION} operations in all that shares one stamp`);
  }
  const age = judgeAge(makeStamp(standing), message.receivedAtMs);
  if (age !== 'acceptable') return invalid(AGE_MESSAGES[age], age);
  if (message.knowsConnection?.(connection) === false) {
    return invalid(`connection: expected one that exists, got ${connection}`, 'unknown_connection');
  }
  const { source } = reading;
  const events = reading.changes.map((change, index) => {
    const stamp = makeStamp({ ...standing, operation: operation + index });
    return { connection, id, source, stamp, change };
  });
  return { kind: 'accepted', events };
}

const AGE_MESSAGES = {
  time_in_future: 'time: expected at most 5 minutes after the receipt',
  too_old: 'time: expected at most 400 days before the receipt',
};

function connectionOf(text: string | undefined): ConnectionName | undefined {
  if (text === undefined) return DEFAULT_CONNECTION;
  const parsed = ConnectionText.safeParse(text);
  return parsed.success ? connectionName(parsed.data) : undefined;
}

/** What a reading itself says of its place in the order. */
type Standing = Pick<Changes, 'time' | 'id' | 'source' | 'sequence'>;

/** Whether the event alone says where it stands in the order, whatever message it comes in. */
const standsAlone = ({ time, id }: Standing): boolean => time !== undefined && id !== undefined;

/** Where a reading's first change stands in the order; undefined where neither it nor its wrapping says. */
function standingOf(
  reading: Standing,
  place: Place | undefined,
  slot: number,
): (StampParts & { readonly operation: number }) | undefined {
  const { source, sequence } = reading;
  const time = reading.time ?? place?.time;
  const id = reading.id ?? place?.id;
  if (time === undefined || id === undefined) return undefined;
  return { time, id, source, sequence, operation: standsAlone(reading) ? 0 : (place?.operation ?? 0) + slot };
}

/** Greatest time that RFC 3339 can write: the end of the year 9999. */
const LAST_INSTANT_MS = 253_402_300_799_999;

function placeOf({ stampAttribute, sentAtMs, messageId }: MessageToDecode): Place | undefined {
  if (stampAttribute !== undefined) {
    const parts = readStamp(stampAttribute);
    return parts && { time: parts.time, id: parts.id, operation: parts.operation ?? 0 };
  }
  const withinRange = Math.min(Math.max(Math.trunc(sentAtMs) || 0, 0), LAST_INSTANT_MS);
  return { time: new Date(withinRange).toISOString(), id: messageId, operation: 0 };
}

/**
 * An event that could not be read may turn out to have no time of its own once it is mended, so it keeps its place
 * too. Where it does have a time, that counts, and the stamp beside it does no harm.
 */
function rejectionOf(
  { code, message }: Invalid,
  { reading, place, connection, body }: Piece,
  slot: number,
): Rejection {
  const event: Standing = reading.kind === 'changes' ? reading : { source: '' };
  const standing = standsAlone(event) ? undefined : standingOf(event, place, slot);
  return {
    code,
    message,
    body: body(),
    ...(standing !== undefined && standing.operation <= MAX_OPERATION && { stamp: makeStamp(standing) }),
    ...(connection !== undefined && { connection }),
  };
}
