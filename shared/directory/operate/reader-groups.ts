import { InvalidSettingError } from '../../contract/change-setting.ts';
import { type DirectorySetting, groupsOfDirectory } from '../../contract/directory-settings.ts';
import type { ConnectionSettings } from '../../contract/settings.ts';
import type { GroupId } from '../../domain/ids.ts';
import { plural } from '../../operate/names.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { groupsWithSource, type SourceGroupPorts } from './source-groups.ts';

/** Returns the groups that the reader owns. A released group is left out, because no source owns it. */
export async function groupsOfReader(connection: Pick<Connection, 'name'>, ports: SourceGroupPorts) {
  const known = await groupsWithSource(connection, ports);
  const owned = known.filter(({ source, state }) => source === 'directory' && !state.released);
  return owned.map(({ group }) => group);
}

/**
 * Returns the groups that a takeover has given to the reader and that the reader has not found yet. Each is returned
 * with the group that owned the platform group before.
 */
export async function awaitedGroups(
  { name }: Pick<Connection, 'name'>,
  { reader }: Pick<SourceGroupPorts, 'reader'>,
): Promise<ReadonlyMap<GroupId, GroupId>> {
  const [moves, found] = await Promise.all([reader.moves(name), reader.groups(name)]);
  const isFound = new Set(found.map(({ group }) => group));
  const given = moves.filter(({ from, to, source }) => source === 'directory' && from !== to);
  return new Map(given.filter(({ to }) => !isFound.has(to)).map(({ from, to }) => [to, from]));
}

const MAX_NAMED = 5;

/**
 * Refuses to disconnect a directory while the reader owns groups. These groups would have no source, and the next
 * source would create them a second time. Groups that a takeover has already given to the next directory are not
 * counted.
 * @throws InvalidSettingError
 */
export async function refuseOwnerless(
  connection: Connection,
  next: Pick<ConnectionSettings, 'directory'>,
  ports: SourceGroupPorts,
): Promise<void> {
  const { directory } = connection.settings;
  if (directory === null || !isReplaced(directory, next.directory)) return;
  const given = next.directory === null ? new Map() : await awaitedGroups(connection, ports);
  const owned = (await groupsOfReader(connection, ports)).filter((group) => !given.has(group));
  if (owned.length === 0) return;
  const named = owned.slice(0, MAX_NAMED).join(', ');
  throw new InvalidSettingError([
    `directory: the reader owns ${plural(owned.length, 'group')} (${named}), which would have no source; first give them to another source, with --to scim or --to events: groupsync directory takeover --to scim`,
  ]);
}

/**
 * True if the new setting may read other groups. Two settings of Google count as the same directory, because another
 * administrator reads the same groups.
 */
export const isReplaced = (before: DirectorySetting | null, after: DirectorySetting | null): boolean =>
  groupsOfDirectory(before) !== groupsOfDirectory(after);
