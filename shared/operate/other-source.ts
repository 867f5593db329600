import type { OtherSource } from '../contract/answers/files.ts';
import type { GroupId } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';

export type OtherSourcePorts = Pick<ToolPorts, 'reader' | 'scim'>;

/**
 * Returns the groups that belong to the directory reader or to a SCIM client, also after a takeover. Ingest does not
 * store events about a group of the reader. The next SCIM request about a member replaces the effect of other events.
 */
export async function ofOtherSources(
  { name, settings }: Pick<Connection, 'name' | 'settings'>,
  groups: readonly GroupId[],
  { reader, scim }: OtherSourcePorts,
): Promise<readonly OtherSource[]> {
  const owned = settings.directory === null ? undefined : await reader.owned(name, groups);
  const others = groups.filter((group) => owned?.has(group) !== true);
  const resources = await scim.read(name, 'Group', others);
  const moved = (await reader.moves(name)).filter(({ source }) => source === 'scim').map(({ from }) => from);
  const ofScim = new Set([
    ...resources.map(({ id }) => id),
    ...others.filter((group) => moved.includes(group)),
  ]);
  return [
    ...[...(owned?.keys() ?? [])].map((group) => ({ group, source: 'directory' as const })),
    ...[...ofScim].map((group) => ({ group, source: 'scim' as const })),
  ];
}
