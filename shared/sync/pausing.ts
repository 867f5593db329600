import { type Gate, OPEN_GATE } from '../domain/gate.ts';
import type { ConnectionName, GroupRef } from '../domain/ids.ts';
import type { ConnectionStore } from './ports/connections.ts';
import type { GateStore } from './ports/gate.ts';
import type { GroupStore } from './ports/groups.ts';
import { dirtyNow, type WakePorts } from './wake.ts';

/** So many changes of one gate in a row would be a fault elsewhere. */
const MAX_RACES = 20;

export interface GroupPausePorts extends Pick<WakePorts, 'applyQueue' | 'clock' | 'coalesceMs'> {
  readonly groups: Pick<GroupStore, 'pause' | 'resume'>;
}

export interface ConnectionPausePorts {
  readonly gates: GateStore;
  readonly connections: Pick<ConnectionStore, 'find' | 'save'>;
  readonly clock: () => number;
}

/** From now on nothing of the group is written; its changes are kept. false where there is no such group. */
export const pauseGroup = (ref: GroupRef, ports: GroupPausePorts): Promise<boolean> =>
  ports.groups.pause(ref);

/** Ends a pause; apply catches up with whatever happened meanwhile. false where the group was not paused. */
export async function resumeGroup(ref: GroupRef, ports: GroupPausePorts): Promise<boolean> {
  const resumed = await ports.groups.resume(ref, dirtyNow(ports));
  if (resumed) await ports.applyQueue.wake([ref]);
  return resumed;
}

/** Closes the connection's gate until a person resumes; events go on being accepted, and wait in the dirty set. */
export async function pauseConnection(
  name: ConnectionName,
  reason: string,
  ports: ConnectionPausePorts,
): Promise<void> {
  const sinceMs = ports.clock();
  await changeGate(name, ports.gates, () => ({ state: 'paused', reason, sinceMs, closings: 0 }));
}

/**
 * Opens the gate, whoever closed it, and ends the observing with which a connection may begin. The pump drains the
 * backlog at its bounded rate. A gate that ought to be closed is closed again by the first call that fails.
 * @returns false where there is no such connection
 */
export async function resumeConnection(name: ConnectionName, ports: ConnectionPausePorts): Promise<boolean> {
  const connection = await ports.connections.find(name);
  if (connection === undefined) return false;
  if (connection.observing) await ports.connections.save({ ...connection, observing: false });
  await changeGate(name, ports.gates, () => OPEN_GATE);
  return true;
}

/** A worker may change the gate between our look and our write, but a person's word is the last. */
async function changeGate(name: ConnectionName, gates: GateStore, next: () => Gate): Promise<void> {
  for (let race = 0; race < MAX_RACES; race += 1) {
    if (await gates.write(name, await gates.read(name), next())) return;
  }
  throw new Error(`the gate of ${name} changed ${MAX_RACES} times while it was to be set: try again`);
}
