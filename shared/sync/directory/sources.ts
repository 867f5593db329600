import { groupExists, groupName } from '../../domain/group.ts';
import type { GroupState } from '../../domain/group-state.ts';
import type { ConnectionName, GroupId } from '../../domain/ids.ts';
import { READER_SOURCE } from '../../domain/source.ts';
import { readStamp } from '../../domain/stamp.ts';
import { foldName } from '../../plan/names.ts';
import { collectPages } from '../async-collections.ts';
import type { Ports, ReaderStore } from '../ports/bundles.ts';

/*
 * A group has one source. If several sources of one connection wrote the same group, each source would undo the changes
 * of the other sources:
 *
 *   the source of the group is | the reader                          | SCIM and events
 *   ---------------------------|-------------------------------------|-----------------------------------
 *   the reader                 | sends what differs                  | make the reader read the group
 *   another source, same id    | compares; sends if `corrects` is on | change the group
 *   another source, same name  | leaves its own group out            | change the group
 */

export interface SourcePorts {
  readonly index: Pick<Ports['index'], 'all'>;
  readonly groups: Pick<Ports['groups'], 'readMany'>;
  readonly reader: Pick<ReaderStore, 'owned'>;
}

/** Returns whether the source of the group is SCIM or events. A released group has no source. */
export const isOfAnotherSource = ({
  registers,
  released,
}: Pick<GroupState, 'registers' | 'released'>): boolean =>
  groupExists(registers) && !released && readStamp(registers.upserted)?.source !== READER_SOURCE;

export async function groupsOfOtherSources(
  connection: ConnectionName,
  { index, groups, reader }: SourcePorts,
): Promise<readonly GroupState[]> {
  const refs = (await collectPages(index.all(connection))).map(({ ref }) => ref);
  const owned = await reader.owned(
    connection,
    refs.map(({ group }) => group),
  );
  const states = await groups.readMany(refs.filter(({ group }) => !owned.has(group)));
  return states.filter(isOfAnotherSource);
}

export interface OtherGroups {
  /**
   * Finds the group of another source with the same id as a group of the directory, or else with the same name.
   * `foldName` compares the names, as it does for duplicates.
   */
  readonly sameAs: (group: GroupId, name: string) => GroupId | undefined;
}

export function otherGroupsOf(states: readonly GroupState[]): OtherGroups {
  const ids = new Set(states.map(({ ref }) => ref.group));
  const byName = new Map(
    states.map(({ ref, registers }) => [foldName(groupName(registers) ?? ''), ref.group]),
  );
  return { sameAs: (group, name) => (ids.has(group) ? group : byName.get(foldName(name))) };
}
