import type { Gate } from '../../domain/gate.ts';
import type { GroupRef } from '../../domain/ids.ts';
import type { Connection } from '../ports/connections.ts';
import type { GroupState } from '../ports/groups.ts';
import { PlatformFailure } from '../ports/platform.ts';
import { backoffMs, MAX_ATTEMPTS } from '../tuning.ts';
import type { ApplyPorts } from './ports.ts';

interface FailureContext {
  readonly connection: Connection;
  readonly ports: ApplyPorts;
  readonly gate: Gate;
}

/**
 * What a failed call means for the group and for its connection. Only what concerns every group closes the gate:
 *
 *     failure                        | neutral probe    | then
 *     -------------------------------|------------------|--------------------------------------
 *     unauthorized                   | –                | gate `unauthorized`
 *     throttled                      | –                | gate `backoff` until Retry-After
 *     forbidden, no or bad answer    | fails likewise   | gate `unauthorized` or `backoff`
 *     forbidden, no or bad answer    | all is well      | this group alone waits
 *     anything else                  | –                | this group alone waits
 *
 * Nothing here burns a receive: the message is done with, and the dirty mark is what remains (invariant 9).
 */
export async function handleFailure(
  ref: GroupRef,
  failure: PlatformFailure,
  context: FailureContext,
): Promise<'gate_closed' | 'postponed' | 'failed'> {
  const general = await generalFailure(failure, context);
  if (general !== undefined) {
    await closeGate(general, context);
    return 'gate_closed';
  }
  const { ports } = context;
  const state = await ports.groups.read(ref);
  const attempts = state?.attempts ?? 0;
  const error = { code: failure.kind, message: failure.message };
  if (state !== undefined && attempts + 1 >= MAX_ATTEMPTS) {
    await giveUp(state, failure, { ports, code: 'retries_exhausted' });
    return 'failed';
  }
  await postpone(ref, error, { attempts, ports });
  return 'postponed';
}

/** The failure of the whole connection behind this one, if there is one. */
async function generalFailure(
  failure: PlatformFailure,
  { connection, ports }: FailureContext,
): Promise<PlatformFailure | undefined> {
  switch (failure.kind) {
    case 'unauthorized':
    case 'throttled':
      return failure;
    case 'not_found':
    case 'rejected':
      return undefined;
    default:
      try {
        return await (await ports.platforms.open(connection)).probe();
      } catch (cause) {
        if (cause instanceof PlatformFailure) return cause;
        throw cause;
      }
  }
}

/** A gate that somebody else has changed meanwhile is left as they put it. */
async function closeGate(
  failure: PlatformFailure,
  { connection, ports, gate }: FailureContext,
): Promise<void> {
  const nowMs = ports.clock();
  const refused = failure.kind === 'unauthorized' || failure.kind === 'forbidden';
  const waitMs = failure.retryAfterMs ?? backoffMs(gate.closings, ports.random());
  await ports.gates.write(connection.name, gate, {
    state: refused ? 'unauthorized' : 'backoff',
    reason: failure.message,
    sinceMs: nowMs,
    closings: gate.closings + 1,
    untilMs: nowMs + waitMs,
    ...(failure.secretVersion === undefined ? {} : { secretVersion: failure.secretVersion }),
  });
}

/** Writes when to look at the group again. It stays dirty; the pump wakes it. */
export async function postpone(
  ref: GroupRef,
  error: { readonly code: string; readonly message: string },
  {
    attempts,
    ports,
    waitMs = backoffMs(attempts, ports.random()),
  }: { readonly attempts: number; readonly ports: ApplyPorts; readonly waitMs?: number },
): Promise<void> {
  const nowMs = ports.clock();
  await ports.groups.postpone(ref, nowMs + waitMs, { ...error, atMs: nowMs }, attempts + 1);
}

/**
 * Leaves the group until its next change, and tells a person through the dead-letter queue. The letter goes first: a
 * crash in between repeats it, where the reverse would lose it.
 */
export async function giveUp(
  state: GroupState,
  cause: PlatformFailure,
  { ports, code }: { readonly ports: ApplyPorts; readonly code: 'platform_rejected' | 'retries_exhausted' },
): Promise<void> {
  const { ref, rev } = state;
  const unburied = await ports.deadLetters.bury([
    {
      messageId: `${ref.connection}/${ref.group}/${rev}`,
      body: JSON.stringify(ref),
      code,
      message: cause.message,
      connection: ref.connection,
      group: ref,
    },
  ]);
  if (unburied.length > 0) throw new Error('the dead-letter queue did not accept a message', { cause });
  await ports.groups.fail(state, { code, message: cause.message, atMs: ports.clock() });
}
