import pMap from 'p-map';
import type { DriftRow } from '../../shared/contract/answers/reconcile.ts';
import { FIELD_NAMES, GROUP_FIELDS } from '../../shared/domain/group-fields.ts';
import type { GroupState } from '../../shared/domain/group-state.ts';
import { type ConnectionName, groupId } from '../../shared/domain/ids.ts';
import type { AcceptedDrift } from '../../shared/domain/view.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';

/** Maximum number of groups whose views are read. */
const MAX_GROUPS = 50;
const READS_AT_ONCE = 8;

/** Differences of members and fields. The view of a group contains those that are accepted drift. */
const IN_VIEW: ReadonlySet<string> = new Set([
  'members_added',
  'members_removed',
  ...FIELD_NAMES.map((field) => GROUP_FIELDS[field].drift),
]);

/**
 * Returns the external changes that were left as is and still exist, newest first. A difference of members or fields
 * exists while the group's view has accepted drift. Any other difference exists until the next write of the group.
 */
export async function unresolved(
  connection: ConnectionName,
  drift: readonly DriftRow[],
  { groups }: Pick<ToolPorts, 'groups'>,
): Promise<readonly DriftRow[]> {
  const reported = drift.filter(({ settledBy }) => settledBy === 'report');
  const ids = [...new Set(reported.map(({ group }) => group))].slice(0, MAX_GROUPS);
  const states = await groups.readMany(ids.map((id) => ({ connection, group: groupId(id) })));
  const accepting = await pMap(
    states,
    async (state) =>
      [state.ref.group as string, { state, isAccepting: await accepts(state, groups) }] as const,
    { concurrency: READS_AT_ONCE },
  );
  const byGroup = new Map(accepting);
  return reported.filter(({ group, kind, detectedAt }) => {
    const known = byGroup.get(group);
    if (known === undefined) return false;
    if (IN_VIEW.has(kind)) return known.isAccepting;
    return (known.state.lastWriteAtMs ?? 0) <= Date.parse(detectedAt);
  });
}

async function accepts({ ref, link }: GroupState, groups: ToolPorts['groups']): Promise<boolean> {
  const view = link && (await groups.readView(ref, link.view));
  return view?.acceptedDrift !== undefined && hasDrift(view.acceptedDrift);
}

const hasDrift = (accepted: AcceptedDrift): boolean =>
  accepted.policy === 'report' &&
  (accepted.present.size > 0 ||
    accepted.absent.size > 0 ||
    FIELD_NAMES.some((field) => accepted[field] === true));
