import { READ } from '../contract/operator-actions.ts';
import type { ConnectionName, GroupRef } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import { type JournalPorts, journalOf, recordAction } from './journal.ts';

/** A record that a person was shown data of people. */
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
 * If the setting `auditReads` is on, records who reads which data of people. The caller shows the data only after this
 * function returns, so no data is shown without an entry.
 */
export async function recordRead(
  connection: ConnectionName,
  { what, group, id }: ReadOfPeople,
  ports: JournalPorts & Pick<ToolPorts, 'connections'>,
): Promise<void> {
  const known = await ports.connections.find(connection);
  if (known?.settings.auditReads !== true) return;
  const action = `${READ}${what}` as const;
  const change = { kind: action, before: null, after: id ?? group ?? null, reason: 'auditReads' };
  await recordAction(journalOf(connection), { action, group, changes: [change] }, ports);
}
