import { type ConnectionName, type GroupRef, groupId, intentId } from '../../domain/ids.ts';
import type { AuditedChange, AuditLog } from '../ports/audit.ts';

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

/** Records what a person did, before it is done: a crash in between tells of an attempt, never hides a deed. */
export async function recordDeed(ref: GroupRef, deed: Deed, ports: JournalPorts): Promise<void> {
  await ports.audit.record(ref, {
    atMs: ports.clock(),
    intent: intentId(ports.newId()),
    action: deed.action,
    changes: deed.changes,
    changeCount: deed.changes.length,
    versionBefore: null,
    versionAfter: null,
    cause: deed.cause,
    outcome: 'written',
  });
}
