import type { GroupState } from '../../domain/group-state.ts';
import type { GroupRef } from '../../domain/ids.ts';
import { countFailing, tellGate } from '../gate.ts';
import type { ApplyPorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import type { AuditLink } from '../ports/logs.ts';
import type { PlatformFailure } from '../ports/platform.ts';
import { affordableAtMs, spentBy, tryAgainMs } from '../tuning.ts';

/**
 * What is everybody's trouble closes the gate; else this group alone waits, an hour at most however often it fails, and
 * the fifth group in a row without a success closes the gate all the same. Nothing here burns a receive: the message is
 * done with, and the dirty mark is what remains (invariant 9).
 */
export async function handleFailure(
  ref: GroupRef,
  failure: PlatformFailure,
  {
    connection,
    ...how
  }: { readonly connection: Connection; readonly ports: ApplyPorts; readonly calls: number },
): Promise<'gate_closed' | 'postponed'> {
  const { ports } = how;
  if (await tellGate(connection, failure, ports, ref.group)) return 'gate_closed';
  const state = (await ports.groups.read(ref)) ?? { ref, attempts: 0 };
  await postpone(state, { code: failure.kind, message: failure.message }, how);
  return (await countFailing(ref, failure, ports)) ? 'gate_closed' : 'postponed';
}

/** Writes when to look at the group again. It stays dirty; the pump wakes it. */
export async function postpone(
  state: Pick<GroupState, 'ref' | 'attempts' | 'spent'>,
  error: { readonly code: string; readonly message: string },
  {
    ports,
    calls,
    waitMs = tryAgainMs(state.attempts, ports.random()),
  }: { readonly ports: ApplyPorts; readonly calls: number; readonly waitMs?: number | undefined },
): Promise<void> {
  const { ref, attempts } = state;
  const nowMs = ports.clock();
  const spent = spentBy(state.spent, calls, nowMs);
  const tries = { attempts: attempts + 1, spent };
  await ports.groups.postpone(ref, affordableAtMs(nowMs + waitMs, spent), { ...error, atMs: nowMs }, tries);
}

/**
 * Leaves the group until its next change, or for a day, and tells a person through the dead-letter queue, once while the
 * reason is the same and nobody replayed it. The letter goes first: a crash in between repeats it, where the reverse would lose it.
 */
export async function giveUp(
  state: GroupState,
  cause: PlatformFailure,
  { ports, audited }: { readonly ports: ApplyPorts; readonly audited: AuditLink },
): Promise<void> {
  const { ref, rev, lastError, failedBefore } = state;
  const { connection } = ref;
  const { message } = cause;
  const code = 'platform_rejected';
  const letter = {
    messageId: `${connection}/${ref.group}/${rev}`,
    body: JSON.stringify(ref),
    code,
    message,
    failedBefore,
  } as const;
  const isTold = failedBefore === undefined && lastError?.code === code && lastError.message === message;
  const unburied = isTold ? [] : await ports.deadLetters.bury([{ ...letter, connection, group: ref }]);
  if (unburied.length > 0) throw new Error('the dead-letter queue did not accept a message', { cause });
  await ports.groups.fail(state, { code, message, atMs: ports.clock() }, audited);
}
