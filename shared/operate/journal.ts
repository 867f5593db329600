import { type ConnectionName, type GroupRef, groupId, intentId } from '../domain/ids.ts';
import type { AuditEntry, AuditedChange, AuditLog } from '../sync/ports/logs.ts';

/** What people do that concerns no one group is kept beside the groups' audits, under an id that no group can have. */
export const journalOf = (connection: ConnectionName): GroupRef => ({ connection, group: groupId('') });

export interface Deed {
  readonly action: string;
  readonly changes: readonly AuditedChange[];
  /** The person and their reason, as `groupsync audit` shows it. */
  readonly cause: string;
}

export interface JournalPorts {
  readonly audit: AuditLog;
  readonly clock: () => number;
  readonly newId: () => string;
}

/** Of a caller that gives no name. */
export const UNNAMED = 'no name given';

/** Records what a person did, before it is done: a crash in between tells of an attempt, never hides a deed. */
export const recordDeed = (ref: GroupRef, deed: Deed, ports: JournalPorts): Promise<void> =>
  ports.audit.record(ref, entryOf(deed, ports));

/** Records a deed, does it, and corrects the record where it was refused because of what somebody else did meanwhile. */
export async function doRecorded(
  ref: GroupRef,
  deed: Deed,
  ports: JournalPorts,
  act: () => Promise<boolean>,
): Promise<boolean> {
  const entry = entryOf(deed, ports);
  await ports.audit.record(ref, entry);
  const isDone = await act();
  if (!isDone) await ports.audit.record(ref, { ...entry, outcome: 'found_changed' });
  return isDone;
}

const entryOf = ({ action, changes, cause }: Deed, { clock, newId }: JournalPorts): AuditEntry => ({
  atMs: clock(),
  intent: intentId(newId()),
  action,
  changes,
  changeCount: changes.length,
  versionBefore: null,
  versionAfter: null,
  cause,
  outcome: 'written',
});
