import type { OtherSource } from '../contract/answers/files.ts';
import type { GroupId } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';

export type OtherSourcePorts = Pick<ToolPorts, 'reader' | 'scim'>;

/**
 * Returns the groups that belong to the directory reader or to a SCIM client. Ingest does not store events about a
 * group of the reader. A SCIM client does not know other events, and its next request about a member replaces them.
 */
export async function ofOtherSources(
  { name, settings }: Pick<Connection, 'name' | 'settings'>,
  groups: readonly GroupId[],
  { reader, scim }: OtherSourcePorts,
): Promise<readonly OtherSource[]> {
  const owned = settings.directory === null ? undefined : await reader.owned(name, groups);
  const others = groups.filter((group) => owned?.has(group) !== true);
  const resources = await scim.read(name, 'Group', others);
  return [
    ...[...(owned?.keys() ?? [])].map((group) => ({ group, source: 'directory' as const })),
    ...resources.map(({ id }) => ({ group: String(id), source: 'scim' as const })),
  ];
}
