import { type Gate, REOPENED_GATE } from '../domain/gate.ts';
import type { ConnectionName } from '../domain/ids.ts';
import { WAKE_GRACE_MS } from '../domain/wake-up.ts';
import { closedBy, type GateWriter, isClosedByGroups, refusalAtGroups, writeGate } from './gate.ts';
import type { ConnectionStore, Ports } from './ports/bundles.ts';
import type { Connection } from './ports/connections.ts';
import type { GroupSummary } from './ports/group-index.ts';
import { PlatformFailure } from './ports/platform.ts';

export type GateKeeperPorts = GateWriter &
  Pick<Ports, 'platforms' | 'index' | 'applyQueue' | 'coalesceMs' | 'random'> & {
    readonly connections: Pick<ConnectionStore, 'find' | 'list'>;
  };

/**
 * Probes a closed gate when its wait is over, or when the connection's secret differs from the secret that closed the
 * gate. Only the requeue job does this, so a broken connection gets at most one probe a minute.
 */
export async function tryGate(name: ConnectionName, ports: GateKeeperPorts): Promise<Gate> {
  const gate = await ports.gates.read(name);
  if (gate.state === 'open' || gate.state === 'paused') return gate;
  const connection = await ports.connections.find(name);
  if (connection === undefined) return gate;
  const isDue = gate.untilMs === undefined || ports.clock() >= gate.untilMs;
  const probed = await probe(connection, gate, { ports, isDue });
  if (probed === 'not_tried') return gate;
  if (probed === undefined) return letIn(name, gate, ports);
  await writeGate(name, gate, closedBy(probed, gate, ports), ports);
  return ports.gates.read(name);
}

async function probe(
  connection: Connection,
  gate: Gate,
  { ports, isDue }: { readonly ports: GateKeeperPorts; readonly isDue: boolean },
): Promise<PlatformFailure | undefined | 'not_tried'> {
  const { secretVersion, witness } = gate;
  const refused = refusedSecret(gate);
  const mayTry = (version: string | undefined) => isDue || isOtherSecret(version, gate);
  try {
    const platform = await ports.platforms.open(connection, {
      ...(isDue ? {} : { unlessSecret: secretVersion }),
      ...(witness === undefined ? { refusedSecret: refused } : { refusedAtGroups: refused }),
    });
    if (!mayTry(platform.secretVersion)) return 'not_tried';
    const failure = await platform.probe();
    return witness === undefined ? failure : (failure ?? (await refusalAtGroups(witness, platform)));
  } catch (cause) {
    if (!(cause instanceof PlatformFailure)) throw cause;
    return mayTry(cause.secretVersion) ? cause : 'not_tried';
  }
}

/**
 * Whether a version of the secret differs from the version that closed the gate. That version is unknown if groupsync
 * could not read the secret. In the state `unauthorized`, every readable version then counts as different.
 */
const isOtherSecret = (version: string | undefined, { secretVersion, state }: Gate): boolean =>
  version !== undefined &&
  version !== secretVersion &&
  (secretVersion !== undefined || state === 'unauthorized');

/** Returns the secret that the platform refused; undefined if it is unknown or the gate closed for another reason. */
const refusedSecret = ({ secretVersion, state, refusedAtMs }: Gate) =>
  state === 'unauthorized' && secretVersion !== undefined
    ? { version: secretVersion, atMs: refusedAtMs }
    : undefined;

/** Opens the gate. If failing groups had closed it, the gate opens first for one waiting group only, the canary. */
async function letIn(name: ConnectionName, gate: Gate, ports: GateKeeperPorts): Promise<Gate> {
  const canary = isClosedByGroups(gate) ? await nextCanary(name, ports) : undefined;
  if (canary === undefined) {
    await writeGate(name, gate, { ...REOPENED_GATE, sinceMs: ports.clock() }, ports);
  } else {
    const { ref } = canary;
    const nowMs = ports.clock();
    const untilMs = nowMs + ports.coalesceMs + WAKE_GRACE_MS;
    if (await ports.gates.write(name, gate, { ...gate, canary: ref.group, untilMs })) {
      await ports.index.reschedule(canary, { wakeAtMs: nowMs });
      await ports.applyQueue.wake([ref]);
    }
  }
  return ports.gates.read(name);
}

/**
 * Returns the waiting group to try first; undefined if no group waits. Groups that were not tried since they became
 * dirty come first. The groups are ordered by due time, which a try makes later. So every waiting group is tried at some
 * time.
 */
async function nextCanary(
  name: ConnectionName,
  { index, coalesceMs }: GateKeeperPorts,
): Promise<GroupSummary | undefined> {
  const rank = ({ dirtySinceMs = 0, dueMs = 0 }: GroupSummary) => {
    const wasTried = dueMs > dirtySinceMs + coalesceMs + WAKE_GRACE_MS;
    return (wasTried ? 1e14 : 0) + dueMs;
  };
  let best: GroupSummary | undefined;
  for await (const page of index.all(name)) {
    for (const group of page) {
      if (group.dirtySinceMs === undefined || group.pausedAtMs !== undefined) continue;
      if (best === undefined || rank(group) < rank(best)) best = group;
    }
  }
  return best;
}
