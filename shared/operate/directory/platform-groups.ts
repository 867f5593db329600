import { mayCreate } from '../../contract/group-policy.ts';
import { renderName } from '../../contract/name-template.ts';
import { isWhole, type View } from '../../domain/view.ts';
import { clashFinder } from '../../plan/name-clash.ts';
import { findExisting } from '../../plan/names.ts';
import { openPlatform } from '../../sync/open-platform.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import type { DirectoryGroup } from '../../sync/ports/directory.ts';
import { unmanagedOf } from '../../sync/unmanaged.ts';
import type { DirectoryToolPorts } from './listing.ts';

/** The platform groups that a first run of the reader would find. */
export type PlatformGroups = Awaited<ReturnType<typeof readPlatformGroups>>;

/** @throws PlatformFailure */
export async function readPlatformGroups(connection: Connection, ports: DirectoryToolPorts) {
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
    /** Returns the unmanaged platform group that this directory group would adopt. */
    adoptedBy: (group: Pick<DirectoryGroup, 'id' | 'name'>) =>
      findExisting(wantedFor(group), unmanaged).candidates.filter(isWhole)[0],
    /** Returns true if an unmanaged platform group has the name of this directory group. */
    hasClash: (group: Pick<DirectoryGroup, 'id' | 'name'>) => clashesWith(wantedFor(group)).length > 0,
    /** Returns true if the first run may create a platform group for this directory group. */
    mayCreate: ({ id, name }: DirectoryGroup) => mayCreate(settings, id, name),
  };
}
