import { groupExists, groupName } from '../../domain/group.ts';
import type { GroupState } from '../../domain/group-state.ts';
import type { ConnectionName, GroupId, GroupRef } from '../../domain/ids.ts';
import { type Source, sourceOf } from '../../domain/source.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { collectPages } from '../../sync/tuning.ts';
import type { SourceGroup } from '../rules/mapping.ts';

export type SourceGroupPorts = Pick<ToolPorts, 'groups' | 'index' | 'reader' | 'scim'>;

/** A group that exists in the desired state of a connection, with the source that owns it. */
export interface GroupOfSource extends SourceGroup {
  readonly group: GroupId;
  readonly source: Source;
  readonly state: GroupState;
}

/**
 * Lists all groups. The index is sorted by the next wake-up, so a read can miss a group whose wake-up changes meanwhile.
 * So the index is read until a read adds no group.
 */
async function allGroups(name: ConnectionName, index: SourceGroupPorts['index']) {
  const found = new Map<GroupId, GroupRef>();
  let known = -1;
  while (known < found.size) {
    known = found.size;
    for (const { ref } of await collectPages(index.all(name))) found.set(ref.group, ref);
  }
  return [...found.values()];
}

/**
 * Returns the groups of a connection with their sources. With `withDeleted`, groups are included that the directory
 * deleted and that still have a platform group, because the deletion waits. The first matching line counts:
 *
 *     the group                                            | source
 *     -----------------------------------------------------|----------------------------
 *     was given to another source under the same id        | that source
 *     is a resource of a SCIM client                       | scim
 *     is compared by the reader, under the same id         | events
 *     is another group of the reader                       | directory
 *     any other group                                      | that of the last upsert
 */
export async function groupsWithSource(
  { name }: Pick<Connection, 'name'>,
  { groups, index, reader, scim }: SourceGroupPorts,
  { withDeleted = false } = {},
): Promise<readonly GroupOfSource[]> {
  const refs = await allGroups(name, index);
  const [stored, read, moves] = await Promise.all([
    groups.readMany(refs),
    reader.groups(name),
    reader.moves(name),
  ]);
  const isKept = ({ link, intent }: GroupState) => withDeleted && (link ?? intent) !== undefined;
  const states = stored.filter((state) => groupExists(state.registers) || isKept(state));
  const ids = states.map(({ ref }) => ref.group);
  const resources = await scim.read(name, 'Group', ids);
  const externalIds = new Map(resources.map(({ id, attributes }) => [id, attributes['externalId']]));
  const readers = new Map(read.map((one) => [one.group, one]));
  const kept = new Map(
    moves.flatMap(({ from, to, source }) => (from === to ? [[from, source] as const] : [])),
  );
  const sourceOfGroup = ({ ref: { group }, registers }: GroupState): Source => {
    const { other } = readers.get(group) ?? {};
    if (kept.has(group)) return kept.get(group) as Source;
    if (externalIds.has(group)) return 'scim';
    if (readers.has(group)) return other === group ? 'events' : 'directory';
    return sourceOf(registers.upserted);
  };
  return states.map((state) => {
    const { group } = state.ref;
    const externalId = externalIds.get(group);
    return {
      group,
      name: (groupName(state.registers) ?? state.registers.name?.value) || undefined,
      source: sourceOfGroup(state),
      state,
      address: readers.get(group)?.address,
      externalId: typeof externalId === 'string' ? externalId : undefined,
    };
  });
}
