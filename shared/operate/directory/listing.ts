import { selectionOf } from '../../contract/group-policy.ts';
import type { GroupId } from '../../domain/ids.ts';
import type { ListedGroup } from '../../sync/directory/context.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import type { Directory } from '../../sync/ports/directory.ts';

export type DirectoryToolPorts = Pick<
  ToolPorts,
  | 'audit'
  | 'caller'
  | 'claims'
  | 'clock'
  | 'connections'
  | 'desired'
  | 'groups'
  | 'index'
  | 'newId'
  | 'people'
  | 'platforms'
  | 'reader'
  | 'scim'
  | 'sleep'
  | 'users'
>;

export interface DirectoryListing {
  readonly listed: ReadonlyMap<GroupId, ListedGroup>;
  /** The groups that the settings `groups.include` and `groups.exclude` select. */
  readonly selected: readonly ListedGroup[];
}

/** Lists every group of a directory. @throws DirectoryError */
export async function listDirectory(
  directory: Pick<Directory, 'groups'>,
  { settings }: Pick<Connection, 'settings'>,
): Promise<DirectoryListing> {
  const listed = new Map<GroupId, ListedGroup>();
  for await (const { items, asOfMs } of directory.groups()) {
    for (const group of items) listed.set(group.id, { group, asOfMs });
  }
  const isSelected = selectionOf(settings);
  return { listed, selected: [...listed.values()].filter(({ group }) => isSelected(group)) };
}
