import { InvalidSettingError } from '../../contract/change-setting.ts';
import type { ConnectionSettings, DirectorySetting } from '../../contract/settings.ts';
import type { GroupId } from '../../domain/ids.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { plural } from '../names.ts';
import { groupsWithSource, type SourceGroupPorts } from './source-groups.ts';

/** The groups that the reader owns. A released group has no owner, because it is not written. */
export async function groupsOfReader(
  connection: Pick<Connection, 'name'>,
  ports: SourceGroupPorts,
): Promise<readonly GroupId[]> {
  const known = await groupsWithSource(connection, ports);
  const owned = known.filter(({ source, state }) => source === 'directory' && !state.released);
  return owned.map(({ group }) => group);
}

const MAX_NAMED = 5;

/**
 * Refuses to end the reading of a directory whose groups the reader owns. These groups would have no source, and the
 * next source would create them a second time.
 * @throws InvalidSettingError
 */
export async function refuseOwnerless(
  connection: Connection,
  next: Pick<ConnectionSettings, 'directory'>,
  ports: SourceGroupPorts,
): Promise<void> {
  const { directory } = connection.settings;
  if (directory === null || !isReplaced(directory, next.directory)) return;
  const owned = await groupsOfReader(connection, ports);
  if (owned.length === 0) return;
  const named = owned.slice(0, MAX_NAMED).join(', ');
  throw new InvalidSettingError([
    `directory: the reader owns ${plural(owned.length, 'group')} (${named}), which would have no source; first give them to another source, with --to scim or --to events: groupsync directory takeover --to scim`,
  ]);
}

/** Whether the new setting names other groups. Another administrator of Google reads the same groups. */
export function isReplaced(before: DirectorySetting | null, after: DirectorySetting | null): boolean {
  if (before === null || after === null || before.kind !== after.kind) return true;
  return accountOf(before) !== accountOf(after);
}

const accountOf = (setting: DirectorySetting): string => {
  if (setting.kind === 'google') return '';
  return setting.kind === 'entra' ? setting.tenant : setting.orgUrl;
};
