import type { OtherSource } from '../contract/answers/files.ts';
import { type GroupId, groupId } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';

export type OtherSourcePorts = Pick<ToolPorts, 'reader' | 'scim'>;

/**
 * Returns the groups that belong to the directory reader or to a SCIM client, also after a takeover. Ingest does not
 * store events about a group of the reader. The next SCIM request about a member replaces the effect of other events.
 */
export async function ofOtherSources(
  { name }: Pick<Connection, 'name'>,
  groups: readonly GroupId[],
  { reader, scim }: OtherSourcePorts,
): Promise<readonly OtherSource[]> {
  const owners = await reader.owners(name, groups);
  const others = groups.filter((group) => !owners.has(group));
  const resources = await scim.read(name, 'Group', others);
  const moved = [...owners].flatMap(([group, { source }]) => (source === 'events' ? [] : { group, source }));
  return [...moved, ...resources.map(({ id }) => ({ group: groupId(id), source: 'scim' as const }))];
}
