import { type Gate, REOPENED_GATE } from '../domain/gate.ts';
import type { ConnectionName, GroupRef } from '../domain/ids.ts';
import { changeGate } from '../sync/gate.ts';
import type { WakePorts } from '../sync/ports/bundles.ts';
import type { ConnectionStore, GateStore } from '../sync/ports/connections.ts';
import type { GroupStore } from '../sync/ports/groups.ts';
import { dirtyNow } from '../sync/wake.ts';
import { changeConnection } from './change-connection.ts';
import { type Deed, doRecorded, type JournalPorts, journalOf, recordDeed, UNNAMED } from './journal.ts';

export interface GroupPausePorts extends JournalPorts, Pick<WakePorts, 'applyQueue' | 'coalesceMs'> {
  readonly groups: Pick<GroupStore, 'read' | 'pause' | 'resume'>;
}

export interface ConnectionPausePorts extends JournalPorts {
  readonly gates: GateStore;
  readonly connections: Pick<ConnectionStore, 'current' | 'replace'>;
}

/**
 * From now on nothing of the group is written; its changes are kept.
 * @param cause who wants it, and why
 * @returns false where there is no such group
 */
export async function pauseGroup(ref: GroupRef, ports: GroupPausePorts, cause = UNNAMED): Promise<boolean> {
  const seen = await ports.groups.read(ref);
  if (seen === undefined) return false;
  const deed = pauseDeed('pause', seen.paused ? 'paused' : 'running', 'paused', cause);
  return doRecorded(ref, deed, ports, () => ports.groups.pause(ref));
}

/** Ends a pause; apply catches up with whatever happened meanwhile. false where the group was not paused. */
export async function resumeGroup(ref: GroupRef, ports: GroupPausePorts, cause = UNNAMED): Promise<boolean> {
  if ((await ports.groups.read(ref))?.paused !== true) return false;
  const deed = pauseDeed('resume', 'paused', 'running', cause);
  const resumed = await doRecorded(ref, deed, ports, () => ports.groups.resume(ref, dirtyNow(ports)));
  if (resumed) await ports.applyQueue.wake([ref]);
  return resumed;
}

const pauseDeed = (action: string, before: string, after: string, cause: string): Deed => ({
  action,
  changes: [{ kind: 'set_pause', before, after, reason: 'writes of the group' }],
  cause,
});

/** Closes the connection's gate until a person resumes; events go on being accepted, and wait in the dirty set. */
export async function pauseConnection(
  name: ConnectionName,
  reason: string,
  ports: Omit<ConnectionPausePorts, 'connections'>,
): Promise<void> {
  const sinceMs = ports.clock();
  await recordGate(name, { action: 'pause', after: 'paused', cause: reason }, ports);
  await changeGate(name, ports.gates, () => ({ state: 'paused', reason, sinceMs, closings: 0 }));
}

/**
 * Opens the gate, whoever closed it, and ends the observing with which a connection may begin. The pump drains the
 * backlog at its bounded rate. A gate that ought to be closed is closed again by the first call that fails.
 * @returns false where there is no such connection
 */
export async function resumeConnection(
  name: ConnectionName,
  ports: ConnectionPausePorts,
  cause = UNNAMED,
): Promise<boolean> {
  const read = await ports.connections.current(name);
  if (read === undefined) return false;
  const action = 'resume';
  if (read.observing) {
    await changeConnection({ read, wanted: { ...read, observing: false }, action, cause }, ports);
  }
  await recordGate(name, { action, after: 'open', cause }, ports);
  await changeGate(name, ports.gates, () => REOPENED_GATE);
  return true;
}

async function recordGate(
  name: ConnectionName,
  { after, ...deed }: Pick<Deed, 'action' | 'cause'> & { readonly after: Gate['state'] },
  ports: Omit<ConnectionPausePorts, 'connections'>,
): Promise<void> {
  const { state: before } = await ports.gates.read(name);
  const change = { kind: 'set_gate', before, after, reason: 'gate of the connection' };
  await recordDeed(journalOf(name), { ...deed, changes: [change] }, ports);
}
