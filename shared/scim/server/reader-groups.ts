import type { DirectoryEvent } from '../../domain/event.ts';
import { type GroupId, groupId } from '../../domain/ids.ts';
import { foldName } from '../../plan/names.ts';
import { askOwner } from '../../sync/ingest/owned.ts';
import { dirtyNow } from '../../sync/wake.ts';
import type { ScimResource } from '../ports.ts';
import type { ScimContext } from './context.ts';

/**
 * Releases a new SCIM group if the reader has a group with the same name, or with the SCIM group's external id as its
 * id, because a group has one source. The client can read the group, but it is not written until `endYields` ends this.
 */
export async function yieldToReader(group: ScimResource, context: ScimContext): Promise<void> {
  const { connection, ports, settings } = context;
  const owner = settings.directory === null ? undefined : await readersGroup(group, context);
  if (owner === undefined) return;
  const ref = { connection, group: groupId(group.id) };
  const { to, yields } = owner;
  await ports.reader.noteMove(connection, { from: ref.group, to, source: 'directory', yields });
  // The group is released before it has a name in the desired state. Otherwise a worker could create a platform group
  // before the release.
  await ports.desired.markDirty(ref, dirtyNow(ports));
  await ports.groups.release(ref, dirtyNow(ports), to);
}

async function readersGroup({ attributes }: ScimResource, { connection, ports }: ScimContext) {
  const { displayName, externalId } = attributes;
  const folded = foldName(String(displayName));
  const own = (await ports.reader.groups(connection)).filter(({ other }) => other === undefined);
  const byId = own.find(({ group }) => group === externalId);
  const same = byId ?? own.find(({ name = '' }) => foldName(name) === folded);
  return same && { to: same.group, yields: byId === undefined ? ('name' as const) : ('id' as const) };
}

export async function askReader(
  events: readonly DirectoryEvent[],
  { connection, ports, settings }: Pick<ScimContext, 'connection' | 'ports' | 'settings'>,
): Promise<void> {
  if (settings.directory === null) return;
  const named = events.flatMap(({ change }): GroupId[] => ('group' in change ? [change.group] : []));
  if (named.length > 0) await askOwner(connection, new Set(named), ports);
}
