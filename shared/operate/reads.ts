import type { ConnectionName, GroupRef } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import { type JournalPorts, journalOf, recordAction } from './journal.ts';

/** Data of people that a person was shown. */
export interface ReadOfPeople {
  readonly what:
    | 'activity'
    | 'drift'
    | 'export'
    | 'hold'
    | 'members'
    | 'message'
    | 'pending'
    | 'person'
    | 'plan'
    | 'search';
  readonly group?: GroupRef['group'] | undefined;
  /** The id of a member or of a dead-lettered message. */
  readonly id?: string | undefined;
}

/**
 * Records who reads which data of people, if the setting `auditReads` is on. The caller shows the data afterwards, so no
 * data is shown without its entry.
 */
export async function recordRead(
  connection: ConnectionName,
  { what, group, id }: ReadOfPeople,
  ports: JournalPorts & Pick<ToolPorts, 'connections'>,
): Promise<void> {
  const known = await ports.connections.find(connection);
  if (known?.settings.auditReads !== true) return;
  const action = `${READ}${what}`;
  const change = { kind: action, before: null, after: id ?? group ?? null, reason: 'auditReads' };
  await recordAction(journalOf(connection), { action, group, changes: [change] }, ports);
}

/** The beginning of the actions of these entries. */
export const READ = 'read_';
