import { foldEvents } from '../../domain/fold.ts';
import type { ConnectionName, GroupRef } from '../../domain/ids.ts';
import { isOwnSource } from '../../domain/source.ts';
import type { UserStore } from '../ports/desired.ts';
import type { RejectedMessage } from '../ports/queues.ts';
import { UnstorableError } from '../ports/store-errors.ts';
import { noteReceipt, type SourcePorts } from '../sources.ts';
import {
  type AcceptedEvent,
  type AcceptPorts,
  acceptEvents,
  Failures,
  type IncomingMessage,
  refuseEvents,
  type UnstorableEvent,
} from './accept.ts';
import { originsOf } from './origins.ts';
import { isWide, shareOut } from './shares.ts';
import { type StorePorts, storeFold } from './store-fold.ts';

export type IngestPorts = AcceptPorts & StorePorts & SourcePorts & { readonly users: UserStore };

export interface IngestReport {
  /** Messages that must come again: something that they said could not be written or sent, or there was no time. */
  readonly failedMessages: ReadonlySet<string>;
  /** How many of those were not processed because the time was up. */
  readonly notStarted: number;
  /** Why, for the log. */
  readonly causes: readonly unknown[];
  /** The connection of each event that was accepted. */
  readonly acceptedFrom: readonly ConnectionName[];
  readonly ignored: number;
  readonly rejected: readonly RejectedMessage[];
  readonly touched: readonly GroupRef[];
}

export interface RunTimes {
  /** No share but the first is begun from then on. */
  readonly startUntilMs?: number;
  /** After this time no request starts, not even in a chunk that was begun: only the messages of that chunk come again. */
  readonly stopAtMs?: number;
}

/**
 * Folds one batch of messages into desired state and wakes the groups that it names.
 *
 *     decode ──▶ dead-letter what is bad ──▶ registers acknowledged ──▶ rev + dirty ──▶ read clock ──▶ send
 *
 * A crash after any arrow leaves messages undeleted: they come again, every write is a join that repeats harmlessly,
 * and every group named is marked and woken again even though no register changes then, unless the mark itself says that
 * it was made for all of this (invariants 2 and 9).
 *
 * A hundred messages may name ten members or a hundred thousand. So the batch is taken in shares, and what a run stored
 * is acknowledged instead of being lost with a run that was cut off.
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
    touched: [] as GroupRef[],
  };
  const producers = new Set<ConnectionName>();
  for (const [number, share] of shareOut(messages).entries()) {
    // The first share is taken whatever the time, so that every run gets somewhere.
    if (number > 0 && ports.clock() >= startUntilMs) {
      for (const { messageId } of share) failures.messages.add(messageId);
      report.notStarted += share.length;
      continue;
    }
    const { accepted, rejected, ignored } = await acceptEvents(share, ports, failures);
    for (const connection of producersOf(accepted, share)) producers.add(connection);
    report.acceptedFrom.push(...accepted.map(({ event }) => event.connection));
    report.rejected.push(...rejected);
    report.ignored += ignored;
    const refused = await storeEvents(accepted, failures, async (events, attempt) => {
      for (const fold of foldEvents(events.map(({ event }) => event)).values()) {
        const origins = originsOf(events, fold.connection);
        const wide = share.find(isWide);
        report.touched.push(
          ...(await storeFold(fold, { ports, origins, failures: attempt, stopAtMs, wide })),
        );
      }
    });
    report.rejected.push(...(await refuseEvents(refused, share, ports, failures)));
  }
  for (const connection of producers) await noteReceipt(connection, { source: 'events' }, ports);
  return { ...report, failedMessages: failures.messages, causes: failures.causes };
}

/** Connections whose producers sent something. A message that was dead-lettered and sent again is no sign of its producer. */
function producersOf(
  accepted: readonly AcceptedEvent[],
  messages: readonly IncomingMessage[],
): readonly ConnectionName[] {
  const again = new Set(messages.flatMap((one) => (one.failedBefore === undefined ? [] : one.messageId)));
  return accepted
    .filter(({ event, messageId }) => !isOwnSource(event.source) && !again.has(messageId))
    .map(({ event }) => event.connection);
}

type Store = (events: readonly AcceptedEvent[], failures: Failures) => Promise<void>;

/**
 * Stores events together. If the table can never store some content, the messages with that content are stored again in
 * halves, until the event is found. All other events are stored. Storing an event twice is harmless.
 * @returns the events that cannot be stored
 */
async function storeEvents(
  events: readonly AcceptedEvent[],
  failures: Failures,
  store: Store,
): Promise<readonly UnstorableEvent[]> {
  const attempt = new Failures();
  await store(events, attempt);
  const suspects = events.filter(({ messageId }) => attempt.unstorable.has(messageId));
  for (const cause of attempt.causes) {
    const others = [...attempt.messages].filter((id) => !attempt.unstorable.has(id));
    if (!(cause instanceof UnstorableError)) failures.add(cause, others);
  }
  const [only] = suspects;
  const cause = only && attempt.unstorable.get(only.messageId);
  if (only === undefined || cause === undefined) return [];
  if (suspects.length === 1) return [{ ...only, cause }];
  const half = Math.ceil(suspects.length / 2);
  return [
    ...(await storeEvents(suspects.slice(0, half), failures, store)),
    ...(await storeEvents(suspects.slice(half), failures, store)),
  ];
}
