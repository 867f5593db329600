import type { DriftRow } from '../../shared/contract/answers/reconcile.ts';
import { type ConnectionName, groupId } from '../../shared/domain/ids.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';

/** Maximum number of groups that are read. */
const MAX_GROUPS = 50;

/** Returns the external changes that were only reported and still exist, newest first: no later write was made. */
export async function unresolved(
  connection: ConnectionName,
  drift: readonly DriftRow[],
  { groups }: Pick<ToolPorts, 'groups'>,
): Promise<readonly DriftRow[]> {
  const reported = drift.filter(({ settledBy }) => settledBy === 'report');
  const ids = [...new Set(reported.map(({ group }) => group))].slice(0, MAX_GROUPS);
  const states = await groups.readMany(ids.map((id) => ({ connection, group: groupId(id) })));
  const writtenMs = new Map(states.map(({ ref, lastWriteAtMs = 0 }) => [ref.group as string, lastWriteAtMs]));
  return reported.filter(({ group, detectedAt }) => {
    const lastMs = writtenMs.get(group);
    return lastMs !== undefined && lastMs <= Date.parse(detectedAt);
  });
}
