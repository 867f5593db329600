import type { DirectoryEvent } from '../../domain/event.ts';
import { type GroupId, groupId } from '../../domain/ids.ts';
import type { ScimResource } from '../ports/scim.ts';
import { dirtyNow } from '../wake.ts';
import type { ScimContext } from './context.ts';

/*
 * A group has one source (`shared/sync/directory/sources.ts`). If the directory reader is the source of a group, a SCIM
 * client may still create a group with the same name. groupsync stores this SCIM group, so that the client can read it.
 * But groupsync does not write it to the platform.
 */

/**
 * Releases a new SCIM group if the reader has a group with the same name, or with the SCIM group's external id as its
 * id. Also records that the reader's group replaces the SCIM group.
 */
export async function yieldToReader(group: ScimResource, context: ScimContext): Promise<void> {
  const { connection, ports, settings } = context;
  const owner = settings.directory === null ? undefined : await readersGroup(group, context);
  if (owner === undefined) return;
  const ref = { connection, group: groupId(group.id) };
  await ports.reader.noteMove(connection, { from: ref.group, to: owner, source: 'directory' });
  // The group is released before it has a name in the desired state. Otherwise a worker could create a platform group
  // before the release.
  await ports.desired.markDirty(ref, dirtyNow(ports));
  await ports.groups.release(ref, dirtyNow(ports));
}

async function readersGroup({ attributes }: ScimResource, { connection, ports }: ScimContext) {
  const { displayName, externalId } = attributes;
  const own = (await ports.reader.groups(connection)).filter(({ other }) => other === undefined);
  const same = own.find(({ group }) => group === externalId) ?? own.find(({ name }) => name === displayName);
  return same?.group;
}

export async function askReader(
  events: readonly DirectoryEvent[],
  { connection, ports, settings }: Pick<ScimContext, 'connection' | 'ports' | 'settings'>,
): Promise<void> {
  if (settings.directory === null) return;
  const named = events.flatMap(({ change }): GroupId[] => ('group' in change ? [change.group] : []));
  if (named.length === 0) return;
  const owned = await ports.reader.owned(connection, [...new Set(named)]);
  const asked = [...new Set(owned.values())];
  await Promise.all(asked.map((group) => ports.reader.notePushed(connection, group, ports.clock())));
}
