import type { DirectoryEvent } from '../../domain/event.ts';
import { type GroupId, groupId } from '../../domain/ids.ts';
import type { ScimResource } from '../ports/scim.ts';
import { dirtyNow } from '../wake.ts';
import type { ScimContext } from './context.ts';

/*
 * A group has one source (`shared/sync/directory/sources.ts`). If the directory reader owns a group, the group of a
 * SCIM client for it is still stored, so that the client can read what it wrote. But it is not written to the platform.
 */

/**
 * If the reader owns a group with the same name or external id, releases the new SCIM group and records that it belongs
 * to the reader's group.
 */
export async function yieldToReader(group: ScimResource, context: ScimContext): Promise<void> {
  const { connection, ports, settings } = context;
  const owner = settings.directory === null ? undefined : await readersGroup(group, context);
  if (owner === undefined) return;
  const ref = { connection, group: groupId(group.id) };
  await ports.reader.noteMove(connection, { from: ref.group, to: owner, source: 'directory' });
  // The group is released before it exists in the desired state. Otherwise a worker could create a platform group in
  // between.
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
