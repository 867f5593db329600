import { type Gate, OPEN_GATE, REOPENED_GATE } from '../domain/gate.ts';
import type { ConnectionName, GroupId, GroupRef } from '../domain/ids.ts';
import type { GateStore } from './ports/connections.ts';
import type { PlatformFailure } from './ports/platform.ts';
import { backoffMs, boundedWaitMs, FAILING_GROUPS, REFUSED_WAIT_MS } from './tuning.ts';

/** So many changes of one gate in a row would be a fault elsewhere. */
const MAX_RACES = 20;

/**
 * Writes what becomes of a gate as it is at that moment.
 * @param next undefined where it is to stay
 * @throws Error where others change it again and again
 */
export async function changeGate(
  name: ConnectionName,
  gates: GateStore,
  next: (gate: Gate) => Gate | undefined,
): Promise<void> {
  for (let race = 0; race < MAX_RACES; race += 1) {
    const gate = await gates.read(name);
    const changed = next(gate);
    if (changed === undefined || (await gates.write(name, gate, changed))) return;
  }
  throw new Error(`the gate of ${name} changed ${MAX_RACES} times while it was to be set: try again`);
}

interface ClosingPorts {
  readonly gates: GateStore;
  readonly clock: () => number;
  readonly random: () => number;
}

export const isRefused = ({ kind }: PlatformFailure): boolean =>
  kind === 'unauthorized' || kind === 'forbidden';

export const isClosedByGroups = ({ state, failing = [] }: Gate): boolean =>
  state === 'backoff' && failing.length >= FAILING_GROUPS;

/** Each group once, and no more of them than close the gate. */
export const latestOf = (groups: readonly GroupId[]): readonly GroupId[] =>
  [...new Set([...groups].reverse())].slice(0, FAILING_GROUPS).reverse();

interface Closing {
  readonly gate: Gate;
  readonly state: 'backoff' | 'unauthorized';
  readonly ports: Pick<ClosingPorts, 'clock' | 'random'>;
}

/** The gate as this failure leaves it; it stays half-open to come where groups had closed it. */
export function closedBy(failure: PlatformFailure, { gate, state, ports }: Closing): Gate {
  const nowMs = ports.clock();
  const { failing, witness } = gate;
  const secretVersion = failure.secretVersion ?? gate.secretVersion;
  return {
    state,
    reason: failure.message,
    sinceMs: gate.state === 'open' ? nowMs : (gate.sinceMs ?? nowMs),
    untilMs: nowMs + waitMs(failure, { gate, state, ports }),
    closings: gate.closings + 1,
    ...(secretVersion === undefined ? {} : { secretVersion }),
    ...(failing === undefined ? {} : { failing }),
    ...(witness === undefined ? {} : { witness }),
  };
}

function waitMs({ retryAfterMs }: PlatformFailure, { gate, state, ports }: Closing): number {
  if (state === 'unauthorized') return REFUSED_WAIT_MS;
  if (retryAfterMs !== undefined) return boundedWaitMs(retryAfterMs);
  const backOff = backoffMs(gate.closings, ports.random());
  // Healthy groups may wait behind the few that closed it.
  return (gate.failing ?? []).length >= FAILING_GROUPS ? Math.min(REFUSED_WAIT_MS, backOff) : backOff;
}

/**
 * Counts a group that failed alone. Five different ones with no success in between close the gate, and so does the
 * canary: then it is not theirs, whatever `/me` says.
 * @returns whether the gate is closed now
 */
export async function countFailing(
  { connection, group }: GroupRef,
  failure: PlatformFailure,
  ports: ClosingPorts,
): Promise<boolean> {
  let isClosed = false;
  await changeGate(connection, ports.gates, (gate) => {
    const isTrial = gate.canary === group;
    isClosed = gate.state !== 'open' && !isTrial;
    if (isClosed || (!isTrial && gate.failing?.includes(group))) return undefined;
    const failing = latestOf([...(gate.failing ?? []), group]);
    const counted = { ...gate, failing };
    isClosed = failing.length >= FAILING_GROUPS;
    return isClosed ? closedBy(failure, { gate: counted, state: 'backoff', ports }) : counted;
  });
  return isClosed;
}

/** A group that succeeded ends the count, and opens the gate for all where groups had closed it. */
export async function countSuccess(name: ConnectionName, seen: Gate, gates: GateStore): Promise<void> {
  if (seen.failing === undefined) return;
  await changeGate(name, gates, (gate) => {
    const opens = isClosedByGroups(gate);
    if (gate.failing === undefined || !(opens || gate.state === 'open')) return undefined;
    return opens || gate.backlog === true ? REOPENED_GATE : OPEN_GATE;
  });
}
