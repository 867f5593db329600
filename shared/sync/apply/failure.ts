import type { Gate } from '../../domain/gate.ts';
import type { GroupState } from '../../domain/group-state.ts';
import type { GroupRef, PlatformGroupId } from '../../domain/ids.ts';
import { closedBy, countFailing, isRefused } from '../gate-closing.ts';
import { refusalOf } from '../gatekeeper.ts';
import type { ApplyPorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import { isRefusal, type Platform, PlatformFailure } from '../ports/platform.ts';
import { backoffMs, READS_IN_FLIGHT } from '../tuning.ts';

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
 *     forbidden                      | group of ours too| gate `unauthorized`
 *     forbidden, no or bad answer    | all is well      | this group alone waits
 *     anything else                  | –                | this group alone waits
 *     a fifth group, no success since| all is well      | gate `backoff`, then one group first
 *
 * However often it fails, a group waits an hour at most. Nothing here burns a receive: the message is done with, and
 * the dirty mark is what remains (invariant 9).
 */
export async function handleFailure(
  ref: GroupRef,
  failure: PlatformFailure,
  context: FailureContext,
): Promise<'gate_closed' | 'postponed'> {
  const general = await generalFailure(ref, failure, context);
  if (general !== undefined) {
    await closeGate(general, context);
    return 'gate_closed';
  }
  const { ports } = context;
  const attempts = (await ports.groups.read(ref))?.attempts ?? 0;
  const error = { code: failure.kind, message: failure.message };
  await postpone(ref, error, { attempts, ports });
  return (await countFailing(ref, failure, ports)) ? 'gate_closed' : 'postponed';
}

interface GeneralFailure {
  readonly failure: PlatformFailure;
  readonly witness?: PlatformGroupId;
}

/** The failure of the whole connection behind this one, if there is one. */
async function generalFailure(
  ref: GroupRef,
  failure: PlatformFailure,
  { connection, ports }: FailureContext,
): Promise<GeneralFailure | undefined> {
  const { kind } = failure;
  if (kind === 'unauthorized' || kind === 'throttled') return { failure };
  if (kind === 'not_found' || isRefusal(failure)) return undefined;
  try {
    const platform = await ports.platforms.open(connection);
    const probed = await platform.probe();
    if (probed !== undefined) return { failure: probed };
    return kind === 'forbidden' ? await refusedEverywhere(ref, platform, ports) : undefined;
  } catch (cause) {
    if (cause instanceof PlatformFailure) return { failure: cause };
    throw cause;
  }
}

/** Whether another group of ours is refused as well, or this one by itself where there is no other. */
async function refusedEverywhere(
  ref: GroupRef,
  platform: Platform,
  ports: ApplyPorts,
): Promise<GeneralFailure | undefined> {
  const witness = (await anotherOfOurs(ref, ports)) ?? (await ports.groups.read(ref))?.platformId;
  if (witness === undefined) return undefined;
  const failure = await refusalOf(() => platform.groups.get(witness));
  return failure && { failure, witness };
}

async function anotherOfOurs(
  { connection, group }: GroupRef,
  { index, groups }: ApplyPorts,
): Promise<PlatformGroupId | undefined> {
  for await (const page of index.all(connection)) {
    const others = page.filter(({ ref, settled }) => ref.group !== group && settled === 'in_sync');
    const refs = others.slice(0, READS_IN_FLIGHT).map(({ ref }) => ref);
    const states = await groups.readMany(refs, () => {});
    const linked = states.find(({ platformId, released }) => platformId !== undefined && !released);
    if (linked !== undefined) return linked.platformId;
  }
  return undefined;
}

/** A gate that somebody else has changed meanwhile is left as they put it. */
async function closeGate(
  { failure, witness }: GeneralFailure,
  { connection, ports, gate }: FailureContext,
): Promise<void> {
  const state = isRefused(failure) ? 'unauthorized' : 'backoff';
  const closed = closedBy(failure, { gate, state, ports });
  await ports.gates.write(connection.name, gate, witness === undefined ? closed : { ...closed, witness });
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
export async function giveUp(state: GroupState, cause: PlatformFailure, ports: ApplyPorts): Promise<void> {
  const { ref, rev } = state;
  const code = 'platform_rejected';
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
