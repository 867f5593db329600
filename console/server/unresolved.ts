import type { ConnectionName } from '../../shared/domain/ids.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import { collectPages } from '../../shared/sync/tuning.ts';

const MAX_GROUPS = 50;

/** Returns the external changes that were only reported and still exist, newest first: no later write was made. */
export async function unresolved(
  connection: ConnectionName,
  { drift, groups }: Pick<ToolPorts, 'drift' | 'groups'>,
) {
  const records = await collectPages(drift.list(connection));
  const reported = records
    .filter(({ settledBy }) => settledBy === 'report')
    .sort((a, b) => b.detectedAtMs - a.detectedAtMs);
  const ids = [...new Set(reported.map(({ group }) => group))].slice(0, MAX_GROUPS);
  const states = await groups.readMany(ids.map((group) => ({ connection, group })));
  const writtenMs = new Map(states.map(({ ref, lastWriteAtMs = 0 }) => [ref.group, lastWriteAtMs]));
  return reported
    .filter(({ group, detectedAtMs }) => (writtenMs.get(group) ?? Number.POSITIVE_INFINITY) <= detectedAtMs)
    .map(({ group, kind, initiator, actor, detectedAtMs }) => ({
      group: String(group),
      kind,
      initiator,
      actor,
      detectedAt: new Date(detectedAtMs).toISOString(),
    }));
}
