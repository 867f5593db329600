import {
  type CallOutcomes,
  changesRecord,
  type FailingCalls,
  withOutcomes,
} from '../domain/failing-calls.ts';
import type { Gate } from '../domain/gate.ts';
import type { ConnectionName } from '../domain/ids.ts';
import type { GateStore } from './ports/bundles.ts';
import type { CallOutcome } from './ports/platform.ts';

/**
 * The maximum number of tries to write one record. A try fails if another worker changed the gate. After the last try,
 * the counts stay in memory for the next invocation.
 */
const MAX_TRIES = 5;

/**
 * Counts the calls of one worker in memory. The record writes the counts to the gate's item when calls begin to fail,
 * then every few seconds, and once or twice more when calls succeed again. While no call fails, the record writes
 * nothing.
 */
export function createCallRecord(gates: GateStore, clock: () => number) {
  const counted = new Map<ConnectionName, Map<string, CallOutcomes>>();
  const recorded = new Map<ConnectionName, readonly FailingCalls[]>();

  const read = async (connection: ConnectionName): Promise<Gate> => {
    const gate = await gates.read(connection);
    recorded.set(connection, gate.failingCalls ?? []);
    return gate;
  };

  const record = async (connection: ConnectionName, outcomes: ReadonlyMap<string, CallOutcomes>) => {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const gate = await read(connection);
      const before = gate.failingCalls ?? [];
      if (!changesRecord(before, outcomes, clock())) return;
      const failingCalls = withOutcomes(before, outcomes, clock());
      if (!(await gates.write(connection, gate, { ...gate, failingCalls }))) continue;
      recorded.set(connection, failingCalls);
      counted.delete(connection);
      return;
    }
  };

  return {
    /** The given gate store. Its `read` also remembers the gate's record of failing calls. */
    gates: { read, write: gates.write },
    count(connection: ConnectionName, { endpoint, failure }: CallOutcome): void {
      const outcomes = counted.get(connection) ?? new Map<string, CallOutcomes>();
      counted.set(connection, outcomes);
      outcomes.set(endpoint, plusOne(outcomes.get(endpoint), failure, clock()));
    },
    /**
     * Writes the counts to the gate's item at the end of an invocation. While all calls succeed and no failing calls are
     * recorded, this method makes no request.
     */
    async flush() {
      for (const [connection, outcomes] of counted) {
        const before = recorded.get(connection) ?? [];
        if (changesRecord(before, outcomes, clock())) await record(connection, outcomes);
        else forgetUnrecorded(outcomes, before);
      }
    },
  };
}

function plusOne(before: CallOutcomes | undefined, failure: string | undefined, atMs: number): CallOutcomes {
  const { total = 0, failed = 0 } = before ?? {};
  if (failure === undefined) return { ...before, total: total + 1, failed, lastGoodMs: atMs };
  return { ...before, total: total + 1, failed: failed + 1, lastFailedMs: atMs, reason: failure };
}

/** Drops the counts of endpoints without a record of failing calls. Successes matter only to end such a record. */
function forgetUnrecorded(outcomes: Map<string, CallOutcomes>, recorded: readonly FailingCalls[]): void {
  const failing = new Set(recorded.map(({ endpoint }) => endpoint));
  for (const endpoint of [...outcomes.keys()]) if (!failing.has(endpoint)) outcomes.delete(endpoint);
}
