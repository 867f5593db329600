import { DEFAULT_CONNECTION } from '../../contract/names.ts';
import { type Delivery, type DeliveryOf, MAX_IDS, meaningOfChanges } from '../../domain/delivery.ts';
import { foldEvents } from '../../domain/fold.ts';
import { type ConnectionName, connectionName, type GroupRef } from '../../domain/ids.ts';
import { isOwnSource } from '../../domain/source.ts';
import type { UserStore } from '../ports/bundles.ts';
import type { RejectedMessage } from '../ports/queues.ts';
import { UnstorableError } from '../ports/store-errors.ts';
import { noteReceipt, type SourcePorts } from '../sources.ts';
import {
  type AcceptedEvent,
  type AcceptPorts,
  acceptEvents,
  Failures,
  type IncomingMessage,
  isPassing,
  refuseEvents,
  type UnstorableEvent,
} from './accept.ts';
import { originsOf } from './origins.ts';
import { type OwnedPorts, withoutOwned } from './owned.ts';
import { type StorePorts, storeFold } from './store-fold.ts';

type IngestPorts = AcceptPorts & StorePorts & OwnedPorts & SourcePorts & { readonly users: UserStore };

export interface IngestReport {
  /** The messages that must be received again, after a failed write or wake-up, or because no time was left. */
  readonly failedMessages: ReadonlySet<string>;
  /** The `failedMessages` that a receive within seconds can probably store. */
  readonly postponed: ReadonlySet<string>;
  /** The number of `failedMessages` whose chunk was not started, because the run had no time left. */
  readonly notStarted: number;
  /** The errors, for the log. */
  readonly causes: readonly unknown[];
  readonly acceptedFrom: readonly ConnectionName[];
  readonly ignored: number;
  readonly rejected: readonly RejectedMessage[];
  readonly changedGroups: readonly GroupRef[];
  readonly deliveries: readonly DeliveryOf[];
}

interface RunTimes {
  /** After this time, no chunk starts, except the first chunk. */
  readonly startUntilMs?: number;
  /** After this time, no request starts. The messages of an unfinished chunk are then received again. */
  readonly stopAtMs?: number;
}

/**
 * Stores the changes of one batch of messages as desired state, and wakes the groups that they name.
 *
 *     decode ──▶ dead-letter bad messages ──▶ store registers ──▶ raise rev, mark dirty ──▶ send
 *
 * After a crash at any arrow, SQS still has the messages and delivers them again. Every write can be repeated without
 * harm. The next receipt marks and wakes each group again, except if the group has already stored this batch
 * (`isRepeated`; invariants 2 and 9).
 *
 * The messages of a batch may name ten members or a hundred thousand. So the batch is processed in chunks. If the run
 * has no time left, it still acknowledges the messages of the finished chunks.
 */
export async function ingest(
  messages: readonly IncomingMessage[],
  ports: IngestPorts,
  { startUntilMs = Number.POSITIVE_INFINITY, stopAtMs = Number.POSITIVE_INFINITY }: RunTimes = {},
): Promise<IngestReport> {
  const failures = new Failures();
  const report = {
    notStarted: 0,
    acceptedFrom: [] as ConnectionName[],
    ignored: 0,
    rejected: [] as RejectedMessage[],
    changedGroups: [] as GroupRef[],
    deliveries: [] as DeliveryOf[],
  };
  const producers = new Set<ConnectionName>();
  for (const [number, chunk] of chunksOf(messages).entries()) {
    // The first chunk is always processed, so that every run makes progress.
    if (number > 0 && ports.clock() >= startUntilMs) {
      for (const { messageId } of chunk) failures.messages.add(messageId);
      report.notStarted += chunk.length;
      continue;
    }
    const acceptance = await acceptEvents(chunk, ports, failures);
    const { rejected, ignored } = acceptance;
    for (const connection of producersOf(acceptance.accepted, chunk)) producers.add(connection);
    report.acceptedFrom.push(...acceptance.accepted.map(({ event }) => event.connection));
    const accepted = await withoutOwned(acceptance, ports, failures);
    report.rejected.push(...rejected);
    report.ignored += ignored;
    const refused = await storeEvents(accepted, failures, async (events, attempt) => {
      for (const fold of foldEvents(events.map(({ event }) => event)).values()) {
        const origins = originsOf(events, fold.connection);
        const oversized = chunk.find(isOversized);
        report.changedGroups.push(
          ...(await storeFold(fold, { ports, origins, failures: attempt, stopAtMs, oversized })),
        );
      }
    });
    const unstorable = await refuseEvents(refused, chunk, ports, failures);
    report.rejected.push(...unstorable);
    const stored = new Set(accepted.filter((one) => !refused.some(({ event }) => event === one.event)));
    const result = { messages: chunk, accepted: acceptance.accepted, stored, failures, nowMs: ports.clock() };
    report.deliveries.push(
      ...(await deliveriesOf({ ...result, rejected: [...rejected, ...unstorable] }, ports)),
    );
  }
  for (const connection of producers) await noteReceipt(connection, { source: 'events' }, ports);
  const postponed = new Set(
    messages.filter((one) => isPostponed(one, failures)).map(({ messageId }) => messageId),
  );
  return { ...report, failedMessages: failures.messages, postponed, causes: failures.causes };
}

/**
 * The number of receives after which a message returns only after the visibility timeout of the queue. So the receives
 * until the message is dead-lettered span half an hour, also while DynamoDB throttles each of them.
 */
const QUICK_RECEIVES = 5;

const isPostponed = ({ messageId, receives = 1 }: IncomingMessage, { messages, lasting }: Failures) =>
  messages.has(messageId) && !lasting.has(messageId) && receives <= QUICK_RECEIVES;

const [SOONEST_SECONDS, LATEST_SECONDS] = [5, 15];

/** Returns the time after which postponed messages are received again. It is random, so that runs do not coincide. */
export const postponedSeconds = (random: number): number =>
  Math.round(SOONEST_SECONDS + (LATEST_SECONDS - SOONEST_SECONDS) * random);

/** Returns the connections whose producers sent an event. Replays and groupsync's own events do not count. */
function producersOf(accepted: readonly AcceptedEvent[], messages: readonly IncomingMessage[]) {
  const again = new Set(messages.flatMap((one) => (one.failedBefore === undefined ? [] : one.messageId)));
  return accepted
    .filter(({ event, messageId }) => !isOwnSource(event.source) && !again.has(messageId))
    .map(({ event }) => event.connection);
}

type Store = (events: readonly AcceptedEvent[], failures: Failures) => Promise<void>;

/**
 * Stores events together. If the table can never store one of the events, the function stores each half of the affected
 * events separately, until the invalid event is alone. So some events are stored twice, which does no harm.
 * @returns the events that the table can never store
 */
async function storeEvents(
  events: readonly AcceptedEvent[],
  failures: Failures,
  store: Store,
): Promise<readonly UnstorableEvent[]> {
  const attempt = new Failures();
  await store(events, attempt);
  const unstored = events.filter(({ messageId }) => attempt.unstorable.has(messageId));
  for (const cause of attempt.causes) {
    const failed = isPassing(cause) ? attempt.messages : attempt.lasting;
    const others = [...failed].filter((id) => !attempt.unstorable.has(id));
    if (!(cause instanceof UnstorableError)) failures.add(cause, others);
  }
  const [only] = unstored;
  const cause = only && attempt.unstorable.get(only.messageId);
  if (only === undefined || cause === undefined) return [];
  if (unstored.length === 1) return [{ ...only, cause }];
  const half = Math.ceil(unstored.length / 2);
  return [
    ...(await storeEvents(unstored.slice(0, half), failures, store)),
    ...(await storeEvents(unstored.slice(half), failures, store)),
  ];
}

/**
 * The maximum total length of the bodies in one chunk, in characters. It is enough for twelve Okta events, or for a
 * thousand members of an import. A chunk is stored within seconds. All changes of one group in a chunk need one write.
 */
const CHUNK_LENGTH = 65_536;

/** An oversized message comes last, until it was received this many times more often than the other messages. */
const PATIENCE = 5;

/**
 * Splits a batch into chunks by body size. The connections with the smallest part of the batch come first, so a lone
 * change does not wait for an import. In a connection, the messages that were received most often come first. The reason
 * is that a run may end before its last chunk. In another order, the same message could be in the last chunk each time,
 * until SQS moves it to the dead-letter queue. For the same reason, messages after their quick receives come before all.
 */
function chunksOf(messages: readonly IncomingMessage[]): readonly (readonly IncomingMessage[])[] {
  const chunks: IncomingMessage[][] = [];
  const lengths = new Map<string | undefined, number>();
  const owner = ({ bound, connection }: IncomingMessage) => bound?.to ?? connection;
  const lengthOf = (message: IncomingMessage) => lengths.get(owner(message)) ?? 0;
  for (const message of messages) lengths.set(owner(message), lengthOf(message) + message.body.length);
  const order = (a: IncomingMessage, b: IncomingMessage) =>
    Number(isLate(b)) - Number(isLate(a)) || lengthOf(a) - lengthOf(b) || urgency(b) - urgency(a);
  let length = 0;
  for (const message of [...messages].sort(order)) {
    const current = chunks.at(-1);
    if (current === undefined || length + message.body.length > CHUNK_LENGTH) {
      chunks.push([message]);
      length = message.body.length;
    } else {
      current.push(message);
      length += message.body.length;
    }
  }
  return chunks;
}

const isLate = ({ receives = 1 }: IncomingMessage): boolean => receives > QUICK_RECEIVES;
const urgency = (message: IncomingMessage): number =>
  (message.receives ?? 1) - (isOversized(message) ? PATIENCE : 0);

const isOversized = ({ body }: IncomingMessage): boolean => body.length > CHUNK_LENGTH;

interface ChunkResult {
  readonly messages: readonly IncomingMessage[];
  /** The valid events, also those that belong to a group of the reader. */
  readonly accepted: readonly AcceptedEvent[];
  readonly stored: ReadonlySet<AcceptedEvent>;
  readonly rejected: readonly RejectedMessage[];
  readonly failures: Failures;
  readonly nowMs: number;
}

/** The code of an event that was not stored, because the directory reader is the source of its group. */
const OF_READER = 'group_of_reader';

/**
 * Returns one record for each message and each connection that it names. A message of the reader has a record only if
 * groupsync refuses it, because the run of the reader has one too.
 */
async function deliveriesOf(chunk: ChunkResult, { connections }: AcceptPorts) {
  const records: DeliveryOf[] = [];
  for (const message of chunk.messages) {
    const own = message.connection ?? message.bound?.to ?? DEFAULT_CONNECTION;
    const accepted = chunk.accepted.filter(({ messageId }) => messageId === message.messageId);
    const rejected = chunk.rejected.filter(({ messageId }) => messageId === message.messageId);
    const names = [
      ...accepted.map(({ event }) => event.connection),
      ...rejected.map(({ connection = own }) => connection),
    ];
    for (const name of new Set(names.length === 0 ? [own] : names)) {
      const found = await connections.find(connectionName(name)).catch(() => undefined);
      const refused = rejected.filter(({ connection = own }) => connection === name);
      if (found === undefined || (message.bound?.isOfReader === true && refused.length === 0)) continue;
      const events = accepted.filter(({ event }) => event.connection === name);
      records.push({ connection: found.name, delivery: deliveryOf(message, events, refused, chunk) });
    }
  }
  return records;
}

function deliveryOf(
  { messageId, sentAtMs, body, bound }: IncomingMessage,
  events: readonly AcceptedEvent[],
  refused: readonly RejectedMessage[],
  { stored, failures, nowMs }: ChunkResult,
): Delivery {
  const isStored = events.some((one) => stored.has(one));
  const isLeft = events.some((one) => !stored.has(one));
  const done = isStored ? 'accepted' : 'ignored';
  const outcome = refused.length > 0 ? 'refused' : done;
  return {
    id: messageId,
    atMs: sentAtMs,
    client: { kind: 'event', id: events[0]?.event.source || bound?.queue || 'events' },
    request: 'event',
    ...meaningOfChanges(events.map(({ event }) => event.change)),
    events: [...new Set(events.map(({ event }) => event.id))].slice(0, MAX_IDS),
    outcome: failures.messages.has(messageId) ? 'retried' : outcome,
    status: null,
    code: refused[0]?.code ?? (isLeft ? OF_READER : null),
    detail: null,
    filter: null,
    bytes: Buffer.byteLength(body),
    elapsedMs: Math.max(0, nowMs - sentAtMs),
  };
}
