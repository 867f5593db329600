import { afterGroupSuccess } from '../domain/failing-calls.ts';
import { type Gate, OPEN_GATE, REOPENED_GATE } from '../domain/gate.ts';
import type { ConnectionName, GroupId, GroupRef, PlatformGroupId } from '../domain/ids.ts';
import { platformGroupId } from '../domain/ids.ts';
import { meaningOf } from '../plan/meaning.ts';
import type { Ports } from './ports/bundles.ts';
import type { Connection } from './ports/connections.ts';
import { entryOf, journalOf, OURSELVES } from './ports/logs.ts';
import { failureIn, type Platform, PlatformFailure } from './ports/platform.ts';
import { backoffMs, boundedWaitMs, FAILING_GROUPS, READS_IN_FLIGHT, REFUSED_WAIT_MS } from './tuning.ts';

const MAX_RACES = 20;

/**
 * Changes the gate with a conditional write, and reads it again after each conflict.
 * @param next returns the new gate; undefined if the gate does not change
 * @throws Error after `MAX_RACES` conflicts
 */
export async function changeGate(
  name: ConnectionName,
  ports: GateWriter,
  next: (gate: Gate) => Gate | undefined,
): Promise<void> {
  for (let race = 0; race < MAX_RACES; race += 1) {
    const gate = await ports.gates.read(name);
    const changed = next(gate);
    if (changed === undefined || (await writeGate(name, gate, changed, ports))) return;
  }
  throw new Error(`the gate of ${name} changed ${MAX_RACES} times during one change of it: try again`);
}

export type GateWriter = Pick<Ports, 'gates' | 'clock' | 'newId'> & {
  readonly audit: Pick<Ports['audit'], 'record'>;
};

/**
 * Writes the gate, and then records in the connection's journal why the gate closed or opened. After a crash between
 * the two writes, the journal lacks the entry. The journal never has an entry without a change. An operator's pause is
 * not recorded here, because it is recorded as an action of the operator.
 * @returns false if the gate differs from `seen`
 */
export async function writeGate(
  name: ConnectionName,
  seen: Gate,
  next: Gate,
  { gates, audit, clock, newId }: GateWriter,
): Promise<boolean> {
  if (!(await gates.write(name, seen, next))) return false;
  if (seen.state === next.state || seen.state === 'paused' || next.state === 'paused') return true;
  const opens = next.state === 'open';
  const { reason = '' } = opens ? seen : next;
  const change = { kind: 'gate', before: seen.state, after: next.state, reason };
  const entry = entryOf(opens ? 'gate_open' : 'gate_close', [change], { clock, newId });
  const cause = opens ? `it was closed by ${reason}` : reason;
  await audit.record(journalOf(name), { ...entry, actor: OURSELVES, cause });
  return true;
}

type ClosingPorts = GateWriter & Pick<Ports, 'random'>;

type GatePorts = ClosingPorts &
  Pick<Ports, 'platforms' | 'groups'> & { readonly index: Pick<Ports['index'], 'all'> };

/**
 * Runs a read of the platform if the gate permits reads, and reports a failed call to the gate. A pause, or a gate that
 * was closed because of failing groups, stops only writes. A gate that was closed for any other reason also stops
 * reads.
 * @throws PlatformFailure if the gate stops reads, and the errors of `read`
 */
export async function throughGate<Result>(
  connection: Connection,
  ports: GatePorts,
  read: () => Promise<Result>,
): Promise<Result> {
  const gate = await ports.gates.read(connection.name);
  if (isClosedForAll(gate)) {
    const { state, reason, secretVersion } = gate;
    const kind = state === 'unauthorized' ? state : 'throttled';
    throw new PlatformFailure(kind, `writes are blocked (${state}): ${reason}`, { secretVersion });
  }
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof PlatformFailure) await reportToGate(connection, cause, ports);
    throw cause;
  }
}

const isClosedForAll = (gate: Gate): boolean =>
  gate.state === 'unauthorized' || (gate.state === 'backoff' && !isClosedByGroups(gate));

/**
 * Reports a failed call to the gate. Only a failure that concerns all groups closes the gate:
 *
 *     `meaningOf`      | `/me`        | groups     | result
 *     -----------------|--------------|------------|---------------------------------------
 *     the connection's | –            | –          | gate `backoff` until Retry-After, or with a backoff
 *     probe            | fails        | –          | gate `unauthorized` or `backoff`
 *     probe, `gate`    | succeeds     | refuse     | gate `unauthorized` or `backoff`, until the groups answer
 *     anything else    | –            | –          | only the caller waits
 *
 * @param group the group of the call
 * @returns whether the failure concerns all groups. A gate that is paused, or already closed for all groups, does not
 * change
 */
export async function reportToGate(
  connection: Connection,
  failure: PlatformFailure,
  ports: GatePorts,
  group?: GroupId,
): Promise<boolean> {
  const general = await generalFailureOf(connection, failure, { ports, group });
  if (general === undefined) return false;
  const { witness } = general;
  await changeGate(connection.name, ports, (gate) => {
    if (gate.state === 'paused' || isClosedForAll(gate)) return undefined;
    const closed = closedBy(general.failure, gate, ports);
    return witness === undefined ? closed : { ...closed, witness };
  });
  return true;
}

async function generalFailureOf(
  connection: Connection,
  failure: PlatformFailure,
  { ports, group }: { readonly ports: GatePorts; readonly group: GroupId | undefined },
): Promise<{ readonly failure: PlatformFailure; readonly witness?: PlatformGroupId } | undefined> {
  const { whose, next } = meaningOf(failure, failure.call);
  if (whose === 'connection') return { failure };
  if (whose === 'group') return undefined;
  try {
    const platform = await ports.platforms.open(connection);
    const probed = await platform.probe();
    if (probed !== undefined) return { failure: probed };
    if (next !== 'gate' || (failure.call ?? 'other') === 'other') return undefined;
    const witness = (await otherLinkedGroup(connection.name, group, ports)) ?? LIST_ALONE;
    const refused = await refusalAtGroups(witness, platform);
    return refused && { failure: refused, witness };
  } catch (cause) {
    if (cause instanceof PlatformFailure) return { failure: cause };
    throw cause;
  }
}

/**
 * A witness is a linked group that is fetched to find out whether the platform refuses all groups. This value means
 * that there is no linked group to fetch. The answer to the request for the list then decides alone.
 */
const LIST_ALONE = platformGroupId('*');

/** Returns a linked group that is in sync, other than `group`. A random choice spreads the fetches over the groups. */
export async function otherLinkedGroup(
  connection: ConnectionName,
  group: GroupId | undefined,
  { index, groups, random }: Pick<GatePorts, 'index' | 'groups' | 'random'>,
): Promise<PlatformGroupId | undefined> {
  for await (const page of index.all(connection)) {
    const others = page.filter(({ ref, settled }) => ref.group !== group && settled === 'in_sync');
    const first = Math.floor(random() * others.length);
    const rotated = [...others.slice(first), ...others.slice(0, first)];
    const refs = rotated.slice(0, READS_IN_FLIGHT).map(({ ref }) => ref);
    const states = await groups.readMany(refs, () => {});
    const linked = states.find(({ link }) => link !== undefined);
    if (linked !== undefined) return linked.link?.id;
  }
  return undefined;
}

/**
 * Returns the failure if the platform refuses both the fetch of the witness and the list of groups. In this case, the
 * credential can access no group. A 404 for the witness counts as a refusal.
 */
export async function refusalAtGroups(witness: PlatformGroupId, { groups }: Platform) {
  if (witness !== LIST_ALONE) {
    let shown: unknown;
    const failure = await failureIn(async () => {
      shown = await groups.get(witness);
    });
    const isRefused = failure !== undefined && meaningOf(failure, 'group').next === 'gate';
    if (shown !== undefined || !(failure === undefined || isRefused)) return undefined;
  }
  const failure = await failureIn(() => groups.list(0));
  return failure && meaningOf(failure, 'groups').next === 'gate' ? failure : undefined;
}

export const isClosedByGroups = ({ state, failing = [] }: Gate): boolean =>
  state === 'backoff' && failing.length >= FAILING_GROUPS;

export function closedBy(
  failure: PlatformFailure,
  gate: Gate,
  ports: Pick<ClosingPorts, 'clock' | 'random'>,
  isRefused = failure.kind === 'unauthorized' || failure.kind === 'forbidden',
): Gate {
  const nowMs = ports.clock();
  const { failing, witness } = gate;
  const { secretVersion = gate.secretVersion, refusedAtMs } = failure;
  return {
    state: isRefused ? 'unauthorized' : 'backoff',
    reason: failure.message,
    sinceMs: gate.state === 'open' ? nowMs : (gate.sinceMs ?? nowMs),
    untilMs: nowMs + (isRefused ? REFUSED_WAIT_MS : waitMs(failure, gate, ports.random())),
    closings: gate.closings + 1,
    ...(secretVersion === undefined ? {} : { secretVersion }),
    ...(refusedAtMs === undefined ? {} : { refusedAtMs }),
    ...(failing === undefined ? {} : { failing }),
    ...(witness === undefined ? {} : { witness }),
  };
}

function waitMs({ retryAfterMs }: PlatformFailure, gate: Gate, random: number): number {
  if (retryAfterMs !== undefined) return boundedWaitMs(retryAfterMs, gate.closings);
  const backOff = backoffMs(gate.closings, random);
  // The wait is limited if failing groups closed the gate, because healthy groups wait too.
  return (gate.failing ?? []).length >= FAILING_GROUPS ? Math.min(REFUSED_WAIT_MS, backOff) : backOff;
}

/**
 * Counts a failure of one group. The gate closes if five different groups fail without a success in between, or if the
 * canary fails. The fault then concerns the whole connection, even if `/me` succeeds.
 * @returns whether the gate is closed now
 */
export async function countFailing(
  { connection, group }: GroupRef,
  failure: PlatformFailure,
  ports: ClosingPorts,
): Promise<boolean> {
  let isClosed = false;
  await changeGate(connection, ports, (gate) => {
    const isCanary = gate.canary === group;
    isClosed = gate.state !== 'open' && !isCanary;
    if (isClosed) return undefined;
    const failing = [...new Set([...(gate.failing ?? []), group])].slice(-FAILING_GROUPS);
    const counted = { ...gate, failing };
    isClosed = failing.length >= FAILING_GROUPS;
    return isClosed ? closedBy(failure, counted, ports, false) : counted;
  });
  return isClosed;
}

/**
 * Ends the count of failing groups. The caller calls this function after a success, and after a refusal of a write's
 * content or version. If failing groups had closed the gate, the gate opens for all groups. The record of failing calls
 * then shows that calls about groups succeed again.
 */
export async function countSuccess(name: ConnectionName, seen: Gate, ports: GateWriter): Promise<void> {
  const nowMs = ports.clock();
  if (seen.failing === undefined && !callsRecover(seen, nowMs)) return;
  await changeGate(name, ports, (gate) => {
    const counted = withoutCount(gate, nowMs);
    if (!callsRecover(gate, nowMs)) return counted;
    return { ...(counted ?? gate), failingCalls: afterGroupSuccess(gate.failingCalls ?? [], nowMs) };
  });
}

function withoutCount(gate: Gate, nowMs: number): Gate | undefined {
  const opens = isClosedByGroups(gate);
  if (gate.failing === undefined || !(opens || gate.state === 'open')) return undefined;
  if (opens) return { ...REOPENED_GATE, sinceMs: nowMs };
  const { sinceMs } = gate;
  return {
    ...(gate.backlog === true ? REOPENED_GATE : OPEN_GATE),
    ...(sinceMs !== undefined && { sinceMs }),
  };
}

const callsRecover = ({ failingCalls = [] }: Gate, nowMs: number): boolean =>
  afterGroupSuccess(failingCalls, nowMs) !== failingCalls;
