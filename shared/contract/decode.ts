import type { DirectoryEvent } from '../domain/event.ts';
import type { ConnectionName } from '../domain/ids.ts';
import { READER_SOURCE } from '../domain/source.ts';
import type { Stamp, StampParts } from '../domain/stamp.ts';
import { judgeAge, MAX_OPERATION, makeStamp, readStamp, stampTimeMs } from '../domain/stamp.ts';
import { type Changes, type Invalid, invalid } from './adapters/reading.ts';
import { MAX_ARN_LENGTH, MAX_EVENTS_PER_MESSAGE, MAX_STAMP_LENGTH } from './events/bounds.ts';
import { ConnectionText } from './events/fields.ts';
import { DEFAULT_CONNECTION, type DeadLetterCode } from './names.ts';
import { type Piece, type Place, placeWithin, unwrap } from './unwrap.ts';

/** A message of the events queue. Times are in milliseconds since 1970. */
export interface MessageToDecode {
  readonly body: string;
  readonly messageId: string;
  /** SQS SentTimestamp. It is the time of an event if neither the event nor its envelope has a time. */
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
  /** Message attribute `connection`. */
  readonly connection?: string | undefined;
  /** Message attribute `stamp`: time and id of the first sending, if the message was sent again. */
  readonly stamp?: string | undefined;
  /** Message attribute `sentBy`: the person who sent it by hand. */
  readonly sentBy?: string | undefined;
  readonly bound?: BoundQueue | undefined;
  /** If given, an event is rejected if the function returns false for the event's connection. */
  readonly knowsConnection?: (connection: ConnectionName) => boolean;
  /** If given, events of the connection before this time are too old. */
  readonly eventsSinceMs?: (connection: ConnectionName) => number;
  /** If given, returns why the event with this stamp could not be stored; undefined for all other events. */
  readonly unstorable?: (stamp: Stamp) => string | undefined;
}

/** The queue of a message, if all messages of that queue belong to one connection. */
export interface BoundQueue {
  readonly queue: string;
  /** undefined: the queue belongs to no connection any more, because its source was removed. */
  readonly to: ConnectionName | undefined;
  /** True for the queue to which only the reader may send. Other queues carry no events of the reader. */
  readonly isOfReader?: boolean;
}

/**
 * The queue of the reader serves every connection. Each message is bound to the connection that its attribute names,
 * because only the reader may send to this queue.
 */
export const readerBinding = (queue: string, connection: string | undefined): BoundQueue => ({
  queue,
  to: connection as ConnectionName | undefined,
  isOfReader: true,
});

/** A part of a message that cannot be accepted, in the form for the dead-letter queue. */
export interface Rejection {
  readonly code: DeadLetterCode;
  readonly message: string;
  /** The body of the one bad event, or the whole body of the message. */
  readonly body: string;
  /** Sent as the attribute `stamp`. Without this stamp, a replayed event would get a new place in the order. */
  readonly stamp?: Stamp | undefined;
  /**
   * Sent as the attribute `connection`, because the connection comes from the envelope, and `body` may have no
   * envelope.
   */
  readonly connection?: string | undefined;
}

export interface DecodedMessage {
  readonly events: readonly DirectoryEvent[];
  /** The number of events that do not concern groupsync, such as a CloudEvent outside `directory.*`. */
  readonly ignored: number;
  readonly rejected: readonly Rejection[];
}

/**
 * Reads one message in any supported format. Never throws: each event is accepted, ignored or rejected by itself. The
 * result depends on the arguments only, so a redelivery gives the same result.
 */
export function decodeMessage(given: MessageToDecode): DecodedMessage {
  // A message without a connection belongs to the connection of its queue.
  const message = { ...given, connection: given.connection ?? given.bound?.to };
  const events: DirectoryEvent[] = [];
  const rejected: Rejection[] = [];
  let ignored = 0;
  let slot = 0;
  const delivery = deliveryOf(message);
  const whole = { place: delivery.place, connection: message.connection, body: () => message.body };
  const refuseWhole = (problem: Invalid): DecodedMessage => {
    const all = { ...whole, reading: problem };
    const rejection = rejectionOf(problem, all, stampPartsOf(all, 0, delivery), delivery);
    return { events: [], ignored: 0, rejected: [rejection] };
  };
  for (const piece of unwrap(whole)) {
    const { reading } = piece;
    const stampParts = stampPartsOf(piece, slot, delivery);
    const read = reading.kind === 'changes' ? accept(reading, piece, stampParts, message) : reading;
    if ('code' in read) rejected.push(rejectionOf(read, piece, stampParts, delivery));
    else if ('kind' in read) ignored += 1;
    else events.push(...read);
    slot += reading.kind === 'changes' ? reading.changes.length : 1;
    if (slot > MAX_EVENTS_PER_MESSAGE) return refuseWhole(TOO_MANY);
  }
  const another = nameOfAnother(message, events);
  return another === undefined ? { events, ignored, rejected } : refuseWhole(another);
}

/**
 * The queue determines the connection. If the message or one of its events names another connection, the whole message
 * is refused.
 */
function nameOfAnother(
  { bound, connection }: MessageToDecode,
  events: readonly DirectoryEvent[],
): Invalid | undefined {
  if (bound === undefined) return undefined;
  const { queue, to } = bound;
  const other = [connection, ...events.map((event) => event.connection)].find((name) => name !== to);
  if (other === undefined) return undefined;
  const expected = to
    ? `expected ${to}, to which the queue ${queue} is bound`
    : `the queue ${queue} belongs to no source any more`;
  return invalid(`connection: ${expected}, got ${other}`, 'wrong_connection');
}

const TOO_MANY = invalid(`expected at most ${MAX_EVENTS_PER_MESSAGE} events in one message`, 'too_large');

function accept(
  { changes, source, actor, connection: own }: Changes,
  piece: Piece,
  stampParts: PieceStampParts | undefined,
  message: MessageToDecode,
): readonly DirectoryEvent[] | Invalid {
  const connection = connectionOf(own ?? piece.connection);
  if (connection === undefined) return invalid('connection: expected a name [a-z0-9-]{1,32}');
  if (stampParts === undefined) return invalid('attribute stamp: expected a stamp, got other text');
  const { id, operation } = stampParts;
  if (operation + changes.length - 1 > MAX_OPERATION) {
    return invalid(`expected at most ${MAX_OPERATION} operations with one stamp`);
  }
  const stamp = makeStamp(stampParts);
  const problem = problemOf({ connection, source, stamp }, message);
  if (problem !== undefined) return problem;
  const by = message.sentBy?.slice(0, MAX_ARN_LENGTH);
  const who = by === undefined ? actor : { kind: 'directory' as const, id: by, ...actor, by };
  const events = changes.map((change, index): DirectoryEvent => {
    const stamp = makeStamp({ ...stampParts, operation: operation + index });
    return { connection, id, source, stamp, ...(who && { actor: who }), change };
  });
  for (const event of events) {
    const reason = message.unstorable?.(event.stamp);
    if (reason !== undefined) return invalid(`expected an event that can be stored: ${reason}`, 'unstorable');
  }
  return events;
}

/** The reasons to refuse an event that depend on its message, and not on its content. */
function problemOf(
  { connection, source, stamp }: Pick<DirectoryEvent, 'connection' | 'source' | 'stamp'>,
  message: MessageToDecode,
): Invalid | undefined {
  if (source === READER_SOURCE && message.bound?.isOfReader !== true) return invalid(NOT_OF_READER);
  const age = judgeAge(stamp, message.receivedAtMs);
  if (age !== 'acceptable') return invalid(AGE_MESSAGES[age], age);
  const sinceMs = message.eventsSinceMs?.(connection) ?? 0;
  if (stampTimeMs(stamp) < sinceMs) {
    const erased = new Date(sinceMs).toISOString();
    return invalid(
      `time: expected after ${erased}, when the data of the connection ${connection} was erased`,
      'too_old',
    );
  }
  if (message.knowsConnection?.(connection) === false) {
    return invalid(`connection: expected one that exists, got ${connection}`, 'unknown_connection');
  }
  return undefined;
}

const NOT_OF_READER = `source: expected another than ${READER_SOURCE}, which only the directory reader of groupsync uses`;

const AGE_MESSAGES = {
  time_in_future: 'time: expected at most 5 minutes after the receipt',
  too_old: 'time: expected at most 400 days before the receipt',
};

function connectionOf(text: string | undefined): ConnectionName | undefined {
  if (text === undefined) return DEFAULT_CONNECTION;
  return ConnectionText.safeParse(text).data as ConnectionName | undefined;
}

/** The source in the stamps of an edited message. These stamps sort after the stamps of the original message. */
export const EDITED_SOURCE = 'groupsync/edit';

interface Delivery {
  /** Place of events without a place of their own; undefined if the attribute `stamp` cannot be read. */
  readonly place: Place | undefined;
  /** The number of the first operation; above 0 for a part of an earlier message that was sent again. */
  readonly operation: number;
  readonly isEdited: boolean;
}

/** The latest time that RFC 3339 can express: the end of the year 9999. */
const LAST_INSTANT_MS = 253_402_300_799_999;

function deliveryOf({ stamp, sentAtMs, messageId }: MessageToDecode): Delivery {
  if (stamp !== undefined) {
    const place = stamp.length > MAX_STAMP_LENGTH ? undefined : readStamp(stamp);
    return { place, operation: place?.operation ?? 0, isEdited: place?.source === EDITED_SOURCE };
  }
  const withinRange = Math.min(Math.max(Math.trunc(sentAtMs) || 0, 0), LAST_INSTANT_MS);
  const place = { time: new Date(withinRange).toISOString(), id: messageId };
  return { place, operation: 0, isEdited: false };
}

type PieceStampParts = StampParts & { readonly operation: number };

/** Whether the event has a time and an id of its own. Its place in the order then does not depend on the message. */
const hasOwnPlace = (reading: Piece['reading']): boolean =>
  reading.kind === 'changes' && reading.time !== undefined && reading.id !== undefined;

/**
 * Returns the stamp parts of the first change of a piece; undefined if neither the piece nor its envelope has a place.
 * @param slot the number of earlier events of this message. It separates events that share the message's time and id
 */
function stampPartsOf(
  { reading, place }: Piece,
  slot: number,
  delivery: Delivery,
): PieceStampParts | undefined {
  const fields: Partial<Changes> = reading.kind === 'changes' ? reading : {};
  const own = placeWithin(place, fields);
  if (own === undefined) return undefined;
  const base = hasOwnPlace(reading) && !delivery.isEdited ? 0 : delivery.operation;
  const operation = base + (hasOwnPlace(reading) ? 0 : slot);
  return { ...own, source: fields.source ?? '', sequence: fields.sequence, operation };
}

/**
 * Returns the rejection of an unreadable event. An operator may fix the event and send it again. The fixed event may
 * have no time of its own, so the rejection keeps the event's place in time. If the event has a time, that time counts
 * and the kept stamp is ignored. A message that was edited before stays marked as edited.
 */
function rejectionOf(
  { code, message }: Invalid,
  { reading, connection, body }: Piece,
  stampParts: PieceStampParts | undefined,
  { isEdited }: Delivery,
): Rejection {
  const needsIt = isEdited || !hasOwnPlace(reading);
  const isPlaced = stampParts !== undefined && needsIt && stampParts.operation <= MAX_OPERATION;
  return {
    code,
    message,
    body: body(),
    ...(isPlaced && { stamp: makeStamp({ ...stampParts, ...(isEdited && { source: EDITED_SOURCE }) }) }),
    ...(connection !== undefined && { connection }),
  };
}
