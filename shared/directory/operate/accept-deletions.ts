import type { ConnectionName } from '../../domain/ids.ts';
import { readerHealthOf } from '../../domain/source.ts';
import { type JournalPorts, journalOf, recordAction } from '../../operate/journal.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';

type AcceptPorts = JournalPorts & Pick<ToolPorts, 'sources'>;

/**
 * Records an operator's confirmation that the missing groups are deleted. The entry contains the reason why the reader
 * stopped.
 */
export async function recordAcceptedDeletions(connection: ConnectionName, ports: AcceptPorts): Promise<void> {
  const { stopped } = readerHealthOf(await ports.sources.read(connection));
  const change = {
    kind: 'accept_deletions',
    before: stopped?.reason ?? null,
    after: 'missing groups count as deleted',
    reason: 'the operator checked the groups that the directory does not find',
  };
  const action = { action: 'directory_accept_deletions', changes: [change] } as const;
  await recordAction(journalOf(connection), action, ports);
}

export async function recordDeletedGroups(
  connection: ConnectionName,
  groups: readonly string[],
  ports: JournalPorts,
): Promise<void> {
  if (groups.length === 0) return;
  const reason = 'an operator accepted the deletions';
  const changes = groups.map((group) => ({ kind: 'delete_group', before: group, after: null, reason }));
  await recordAction(journalOf(connection), { action: 'directory_accepted_deletions', changes }, ports);
}
