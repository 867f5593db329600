import { mayCreate } from '../../contract/group-policy.ts';
import { renderName } from '../../contract/name-template.ts';
import { isWhole, type ListedGroup, type View } from '../../domain/view.ts';
import { clashFinder } from '../../plan/name-clash.ts';
import { findExisting } from '../../plan/names.ts';
import { openPlatform } from '../../sync/open-platform.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import type { DirectoryGroup } from '../../sync/ports/directory.ts';
import { unmanagedOf } from '../../sync/unmanaged.ts';
import type { DirectoryToolPorts } from './listing.ts';

/** The platform groups that a first run of the reader would find. */
export interface PlatformGroups {
  readonly byId: ReadonlyMap<string, ListedGroup>;
  readonly unmanaged: readonly ListedGroup[];
  /** Returns the unmanaged platform group that this directory group would adopt. */
  readonly adoptedBy: (group: Pick<DirectoryGroup, 'id' | 'name'>) => ListedGroup | undefined;
  /** Returns true if an unmanaged platform group has the name of this directory group. */
  readonly hasClash: (group: Pick<DirectoryGroup, 'id' | 'name'>) => boolean;
  /** Returns true if the first run may create a platform group for this directory group. */
  readonly mayCreate: (group: DirectoryGroup) => boolean;
}

/** @throws PlatformFailure */
export async function readPlatformGroups(
  connection: Connection,
  ports: DirectoryToolPorts,
): Promise<PlatformGroups> {
  const { settings, company, name: connectionName } = connection;
  const listed = await (await openPlatform(connection, ports)).groups.list(0);
  const unmanaged = await unmanagedOf(listed, company, ports);
  const clashesWith = clashFinder(unmanaged);
  const wantedFor = ({ id, name: named }: Pick<DirectoryGroup, 'id' | 'name'>): View => {
    const name = renderName(settings.nameTemplate, { name: named, id, connection: connectionName });
    return { name, spokeId: id, users: new Map() };
  };
  return {
    byId: new Map(listed.map((group) => [group.id, group])),
    unmanaged,
    adoptedBy: (group) => findExisting(wantedFor(group), unmanaged).candidates.filter(isWhole)[0],
    hasClash: (group) => clashesWith(wantedFor(group)).length > 0,
    mayCreate: ({ id, name }) => mayCreate(settings, id, name),
  };
}
