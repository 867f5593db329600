import type { GroupState } from '../../domain/group-state.ts';
import type { GroupRef } from '../../domain/ids.ts';
import { countFailing, tellGate } from '../gate.ts';
import type { ApplyPorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import type { AuditLink } from '../ports/logs.ts';
import type { PlatformFailure } from '../ports/platform.ts';
import { affordableAtMs, tryAgainMs } from '../tuning.ts';

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
    calledMs,
    ports,
  }: { readonly connection: Connection; readonly ports: ApplyPorts; readonly calledMs: readonly number[] },
): Promise<'gate_closed' | 'postponed'> {
  if (await tellGate(connection, failure, ports, ref.group)) return 'gate_closed';
  const { attempts = 0 } = (await ports.groups.read(ref)) ?? {};
  await postpone({ ref, attempts, calledMs }, { code: failure.kind, message: failure.message }, { ports });
  return (await countFailing(ref, failure, ports)) ? 'gate_closed' : 'postponed';
}

/** Writes when to look at the group again. It stays dirty; the pump wakes it. */
export async function postpone(
  state: Pick<GroupState, 'ref' | 'attempts' | 'calledMs'>,
  error: { readonly code: string; readonly message: string },
  {
    ports,
    waitMs = tryAgainMs(state.attempts, ports.random()),
  }: { readonly ports: ApplyPorts; readonly waitMs?: number | undefined },
): Promise<void> {
  const { ref, attempts, calledMs } = state;
  const nowMs = ports.clock();
  const dueMs = affordableAtMs(nowMs + waitMs, calledMs);
  await ports.groups.postpone(ref, dueMs, { ...error, atMs: nowMs }, { attempts: attempts + 1, calledMs });
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
