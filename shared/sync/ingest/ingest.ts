import { foldEvents } from '../../domain/fold.ts';
import type { ConnectionName, GroupRef } from '../../domain/ids.ts';
import type { UserStore } from '../ports/desired.ts';
import type { DeadLetter } from '../ports/queue.ts';
import { type AcceptPorts, acceptEvents, type IncomingMessage } from './accept.ts';
import { Failures } from './failures.ts';
import { originsOf } from './origins.ts';
import { type StorePorts, storeFold } from './store-fold.ts';

export type IngestPorts = AcceptPorts & StorePorts & { readonly users: UserStore };

export interface IngestReport {
  /** Messages that must come again: something that they said could not be written or sent. */
  readonly failedMessages: ReadonlySet<string>;
  /** Why, for the log. */
  readonly causes: readonly unknown[];
  /** The connection of each event that was accepted. */
  readonly acceptedFrom: readonly ConnectionName[];
  readonly ignored: number;
  readonly rejected: readonly DeadLetter[];
  readonly touched: readonly GroupRef[];
}

/**
 * Folds one batch of messages into desired state and wakes the groups that it names.
 *
 *     decode ──▶ dead-letter what is bad ──▶ registers acknowledged ──▶ rev + dirty ──▶ read clock ──▶ send
 *
 * A crash after any arrow leaves messages undeleted: they come again, every write is a join that repeats harmlessly,
 * and every group named is marked and woken again even though no register changes then (invariants 2 and 9).
 */
export async function ingest(
  messages: readonly IncomingMessage[],
  ports: IngestPorts,
): Promise<IngestReport> {
  const failures = new Failures();
  const { accepted, rejected, ignored } = await acceptEvents(messages, ports, failures);
  const touched: GroupRef[] = [];
  for (const fold of foldEvents(accepted.map(({ event }) => event)).values()) {
    const origins = originsOf(accepted, fold.connection);
    touched.push(...(await storeFold(fold, { ports, origins, failures })));
  }
  return {
    failedMessages: failures.messages,
    causes: failures.causes,
    acceptedFrom: accepted.map(({ event }) => event.connection),
    ignored,
    rejected,
    touched,
  };
}
