import type { Item } from '../shared/store/table.ts';
import { SCIM_ID } from './checks/observation.ts';
import type { Cloud } from './cloud.ts';
import type { createMeetings } from './meetings.ts';
import type { Effect } from './run-log.ts';
import { originalName } from './simulation-run.ts';

/**
 * Records a feature for each connection and group on which it took effect:
 *
 *     the feature                      | took effect on
 *     ---------------------------------|------------------------------------------------
 *     names a group                    | this group
 *     is about a person                | the groups that contain the member
 *     is another fault                 | the groups with an open write or an open decision
 *     is any other one                 | all groups of the connection
 */
export function touch(
  cloud: Cloud,
  meetings: ReturnType<typeof createMeetings>,
  { connection, company, ...effect }: Effect & { readonly atMs: number; readonly feature: string },
): void {
  const { atMs, feature } = effect;
  for (const spec of cloud.run.connections) {
    const { name } = spec;
    if ((connection ?? name) !== name || (company ?? spec.company) !== spec.company) continue;
    const groups = groupsOf(cloud, name, effect);
    if (groups === undefined) meetings.touch({ atMs, feature, connection: name });
    for (const group of new Set((groups ?? []).map((one) => ownGroup(cloud, one))))
      meetings.touch({ atMs, feature, connection: name, group });
  }
}

function groupsOf(
  { directory, table }: Cloud,
  connection: string,
  { group, member, role, feature }: Effect & { readonly feature: string },
): readonly string[] | undefined {
  if (group != null) return [group];
  const named = member ?? role?.slice(`r-${originalName(connection)}-`.length).replace(/-.*/, '');
  if (named !== undefined)
    return [...directory.read(connection).groups].flatMap(([id, { members }]) =>
      members.has(named) ? [id] : [],
    );
  return /^(?:aws|platformFault):/.test(feature)
    ? [...table.items.values()].flatMap((item) => (isOpenIn(connection, item) ? String(item['group']) : []))
    : undefined;
}

const isOpenIn = (connection: string, { pk, dirtySince, intent, removals }: Item): boolean =>
  pk.startsWith(`G#${connection}#`) && [dirtySince, intent, removals].some((one) => one !== undefined);

/** The platform may fold the id of a group. A group of the SCIM client that took over a group counts as that group. */
function ownGroup({ actions }: Cloud, group: string): string {
  const moves = SCIM_ID.test(group) ? actions.flatMap((one) => one.moves ?? []) : [];
  const owned = moves.find(({ to }) => to === group)?.from ?? group;
  return owned.toLowerCase().replace(/^s-/, '');
}
