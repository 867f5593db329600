import type { GroupRef } from '../domain/ids.ts';
import { isRestated } from '../plan/restore.ts';
import type { ToolPorts, WakePorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { dirtyNow, replanAll } from '../sync/wake.ts';
import { doRecorded, type JournalPorts } from './journal.ts';
import { Refused } from './names.ts';
import { refuseMoved } from './pausing.ts';
import { changeConnection } from './settings.ts';

type RestatedPorts = JournalPorts &
  Pick<WakePorts, 'applyQueue' | 'coalesceMs'> &
  Pick<ToolPorts, 'groups' | 'connections' | 'index' | 'desired'>;

const CHANGE = { kind: 'accept_registers', before: null, after: 'as stored', reason: 'restored table' };

/**
 * Accepts the stored members of a group after a restore of the table. Apply then creates the group and adds members.
 * @returns false if the group does not wait for its source
 */
export async function acceptRestored(ref: GroupRef, found: Connection, ports: RestatedPorts) {
  const seen = await ports.groups.read(ref);
  if (seen === undefined || isRestated(seen, found.restoredAtMs)) return false;
  await refuseMoved(seen, 'restated', ports);
  const action = { action: 'restated', changes: [CHANGE] } as const;
  const isDone = await doRecorded(ref, action, ports, () => ports.groups.restate(ref, dirtyNow(ports)));
  if (isDone) await ports.applyQueue.wake([ref]);
  return isDone;
}

/**
 * Accepts the stored members of all groups. The connection then works as before the restore of the table.
 * @returns the number of groups that are planned again; undefined if the table was not restored
 * @throws Refused while the connection observes, because an operator has not checked the restored table yet
 */
export async function endRestore(read: Connection, ports: RestatedPorts): Promise<number | undefined> {
  if (read.restoredAtMs === undefined) return undefined;
  if (read.observing)
    throw new Refused('nothing was changed: the connection still observes; first run: groupsync resume');
  const { restoredAtMs: _, ...wanted } = read;
  await changeConnection({ read, wanted, action: 'restated' }, ports);
  return replanAll(read.name, ports);
}
