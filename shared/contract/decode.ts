import type { DirectoryEvent } from '../domain/event.ts';
import type { ConnectionName } from '../domain/ids.ts';
import { READER_SOURCE } from '../domain/source.ts';
import type { Stamp, StampParts } from '../domain/stamp.ts';
import { judgeAge, MAX_OPERATION, makeStamp, readStamp, stampTimeMs } from '../domain/stamp.ts';
import { type Changes, type Invalid, invalid } from './adapters/reading.ts';
import { MAX_ARN_LENGTH, MAX_EVENTS_PER_MESSAGE, MAX_STAMP_LENGTH } from './events/bounds.ts';
import { ConnectionText } from './events/fields.ts';
import { DEFAULT_CONNECTION, type DeadLetterCode } from './names.ts';
import { type EventPlace, type Piece, placeWithin, unwrap } from './unwrap.ts';

/** A message of the events queue. Times are in milliseconds since 1970. */
export interface MessageToDecode {
  readonly body: string;
  readonly messageId: string;
  /** The SQS attribute SentTimestamp. If neither an event nor its envelope has a time, the event gets this time. */
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
  /** Message attribute `connection`. */
  readonly connection?: string | undefined;
  /** The message attribute `stamp`. A message that was sent again has the stamp of its first sending here. */
  readonly stamp?: string | undefined;
  /** The message attribute `sentBy`: the operator who sent the message. */
  readonly sentBy?: string | undefined;
  readonly bound?: BoundQueue | undefined;
  /** Returns whether a connection exists. An event of a connection that does not exist is rejected. */
  readonly knowsConnection?: (connection: ConnectionName) => boolean;
  /** Returns the time before which events of a connection are too old. */
  readonly eventsSinceMs?: (connection: ConnectionName) => number;
  /** Returns the reason why the event with this stamp cannot be stored; undefined if it can be stored. */
  readonly unstorable?: (stamp: Stamp) => string | undefined;
}

export interface BoundQueue {
  readonly queue: string;
  /** The connection; undefined if the source of the queue was removed. */
  readonly to: ConnectionName | undefined;
  /** Whether this is the reader's queue. The reader uses only this queue, and no other sender uses this queue. */
  readonly isOfReader?: boolean;
}

/**
 * Returns the binding of a message of the reader's queue. This queue serves every connection, so each message belongs
 * to the connection in its attribute. The attribute is trusted, because only the reader may send to this queue.
 */
export const readerBinding = (queue: string, connection: string | undefined): BoundQueue => ({
  queue,
  to: connection as ConnectionName | undefined,
  isOfReader: true,
});

export interface Rejection {
  readonly code: DeadLetterCode;
  readonly message: string;
  readonly body: string;
  /** The attribute `stamp`. Without it, a replayed event would get a new position in the order of events. */
  readonly stamp?: Stamp | undefined;
  /** The value of the attribute `connection`. The connection may come from an envelope that `body` does not contain. */
  readonly connection?: string | undefined;
}

export interface DecodedMessage {
  readonly events: readonly DirectoryEvent[];
  /** The number of events that do not concern groupsync, such as a CloudEvent outside `directory.*`. */
  readonly ignored: number;
  readonly rejected: readonly Rejection[];
}

/**
 * Reads one message in any supported format. The function does not throw: it accepts, ignores or rejects each event
 * separately. It rejects the whole message if the message has too many events or names another queue's connection. The
 * stamps depend only on the message, so they are the same after a redelivery.
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
  const another = otherConnection(message, events);
  return another === undefined ? { events, ignored, rejected } : refuseWhole(another);
}

/**
 * Returns the rejection of a message that names another connection than the connection of its queue. One event with
 * another connection is enough to reject the whole message.
 */
function otherConnection({ bound, connection }: MessageToDecode, events: readonly DirectoryEvent[]) {
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

const NOT_OF_READER = `source: expected a source other than ${READER_SOURCE}, which only the directory reader of groupsync uses`;

const AGE_MESSAGES = {
  time_in_future: 'time: expected at most 5 minutes after the receipt',
  too_old: 'time: expected at most 400 days before the receipt',
};

function connectionOf(text: string | undefined): ConnectionName | undefined {
  if (text === undefined) return DEFAULT_CONNECTION;
  return ConnectionText.safeParse(text).data as ConnectionName | undefined;
}

/** The source in the attribute `stamp` of an edited message, whose `operation` is above those of the original. */
export const EDITED_SOURCE = 'groupsync/edit';

interface Delivery {
  /** The time and id for events without their own; undefined if the attribute `stamp` cannot be read. */
  readonly place: EventPlace | undefined;
  /** The number of the first operation; above 0 if this message is a part of an earlier message, or was edited. */
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

/** Whether the event has its own time and id, so that its position does not depend on the message. */
const hasOwnPlace = (reading: Piece['reading']): boolean =>
  reading.kind === 'changes' && reading.time !== undefined && reading.id !== undefined;

/**
 * Returns the stamp parts of the first change of a piece; undefined if no level of the message gives a time and an id.
 * @param slot the number of earlier events of this message, which distinguishes events with the message's time and id
 */
function stampPartsOf({ reading, place }: Piece, slot: number, delivery: Delivery) {
  const fields: Partial<Changes> = reading.kind === 'changes' ? reading : {};
  const own = placeWithin(place, fields);
  if (own === undefined) return undefined;
  const base = hasOwnPlace(reading) && !delivery.isEdited ? 0 : delivery.operation;
  const operation = base + (hasOwnPlace(reading) ? 0 : slot);
  return { ...own, source: fields.source ?? '', sequence: fields.sequence, operation };
}

/**
 * Returns the rejection of an unreadable event. An operator may fix the event and send it again. If the fixed event has
 * no time, the stamp of the rejection gives its position in the order of events. If the fixed event has a time, that
 * time counts. The stamp of an edited message still shows that the message was edited.
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
