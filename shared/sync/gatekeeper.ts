import { type Gate, OPEN_GATE } from '../domain/gate.ts';
import type { ConnectionName } from '../domain/ids.ts';
import type { Connection, Connections } from './ports/connections.ts';
import type { GateStore } from './ports/gate.ts';
import { PlatformFailure, type Platforms } from './ports/platform.ts';
import { backoffMs } from './tuning.ts';

export interface GateKeeperPorts {
  readonly connections: Connections;
  readonly gates: GateStore;
  readonly platforms: Platforms;
  readonly clock: () => number;
  readonly random: () => number;
}

/**
 * Tries a gate that closed by itself: when its time has come, or when the connection's secret is another than the one
 * that was found wanting. Only the pump does this, so a broken connection is asked once a minute at most.
 */
export async function tryGate(name: ConnectionName, ports: GateKeeperPorts): Promise<Gate> {
  const gate = await ports.gates.read(name);
  if (gate.state === 'open' || gate.state === 'paused') return gate;
  const connection = await ports.connections.find(name);
  if (connection === undefined) return gate;
  const isDue = gate.untilMs === undefined || ports.clock() >= gate.untilMs;
  const probed = await probe(connection, gate, { ports, isDue });
  if (probed === 'not_tried') return gate;
  const next = probed === undefined ? OPEN_GATE : stillClosed(gate, probed, ports);
  return (await ports.gates.write(name, gate, next)) ? next : ports.gates.read(name);
}

async function probe(
  connection: Connection,
  gate: Gate,
  { ports, isDue }: { readonly ports: GateKeeperPorts; readonly isDue: boolean },
): Promise<PlatformFailure | undefined | 'not_tried'> {
  try {
    const platform = await ports.platforms.open(connection);
    const hasNewSecret = gate.secretVersion !== undefined && gate.secretVersion !== platform.secretVersion;
    return isDue || hasNewSecret ? await platform.probe() : 'not_tried';
  } catch (cause) {
    if (cause instanceof PlatformFailure) return isDue ? cause : 'not_tried';
    throw cause;
  }
}

function stillClosed(gate: Gate, failure: PlatformFailure, { clock, random }: GateKeeperPorts): Gate {
  const refused = failure.kind === 'unauthorized' || failure.kind === 'forbidden';
  return {
    state: refused ? 'unauthorized' : 'backoff',
    reason: failure.message,
    sinceMs: gate.sinceMs ?? clock(),
    untilMs: clock() + (failure.retryAfterMs ?? backoffMs(gate.closings, random())),
    closings: gate.closings + 1,
    ...(failure.secretVersion === undefined ? {} : { secretVersion: failure.secretVersion }),
  };
}
