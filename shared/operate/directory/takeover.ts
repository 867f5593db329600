import type { TakeoverPlan, TakeoverReport } from '../../contract/answers.ts';
import { groupName } from '../../domain/group.ts';
import { type GroupId, groupId } from '../../domain/ids.ts';
import { mapGroups } from '../../plan/directory/mapping.ts';
import { groupsOfOtherSources } from '../../sync/directory/sources.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { observeConnection } from '../pausing.ts';
import { type DirectoryToolPorts, listDirectory } from './listing.ts';
import { moveGroup } from './move-group.ts';
import type { ShownDirectory } from './through-function.ts';

/** Returns the groups that a takeover would move. Changes nothing. @throws DirectoryError */
export async function planTakeover(
  connection: Connection,
  directory: ShownDirectory,
  ports: DirectoryToolPorts,
): Promise<TakeoverPlan> {
  const { name } = connection;
  const { selected } = await listDirectory(directory, connection);
  const others = await groupsOfOtherSources(name, ports);
  const ids = others.map(({ ref }) => ref.group as string);
  const resources = ids.length === 0 ? [] : await ports.scim.read(name, 'Group', ids);
  const externalIds = new Map(resources.map(({ id, attributes }) => [id, attributes['externalId']]));
  const sources = others.map(({ ref, registers }) => {
    const externalId = externalIds.get(ref.group);
    return {
      group: ref.group,
      name: groupName(registers),
      ...(typeof externalId === 'string' && { externalId }),
    };
  });
  const { pairs, unmapped } = mapGroups(
    sources,
    selected.map(({ group }) => group),
  );
  const nameOf = new Map(sources.map((source) => [source.group as string, source.name ?? null]));
  const begun = await unfinished(connection, ports);
  return {
    groups: [
      ...begun,
      ...pairs.map(({ from, to, by }) => ({
        group: from,
        name: nameOf.get(from) ?? null,
        directoryGroup: to.id as string,
        directoryName: to.name,
        by,
      })),
    ],
    unmapped: unmapped.map((group) => ({ group, name: nameOf.get(group) ?? null })),
  };
}

/** Groups of an earlier takeover that was interrupted: their platform group has not moved yet. */
async function unfinished({ name }: Connection, ports: DirectoryToolPorts): Promise<TakeoverPlan['groups']> {
  const left: TakeoverPlan['groups'][number][] = [];
  for (const [from, to] of await ports.reader.takenOver(name)) {
    if (from === to) continue;
    const [before, after] = await Promise.all(
      [from, to].map((group) => ports.groups.read({ connection: name, group })),
    );
    const platformId = before?.link?.id ?? before?.previousLink?.platformId;
    if (platformId === undefined || after?.link !== undefined) continue;
    const directoryName = (after && groupName(after.registers)) ?? null;
    const groupNamed = (before && groupName(before.registers)) ?? null;
    left.push({ group: from, name: groupNamed, directoryGroup: to, directoryName, by: 'earlier' });
  }
  return left;
}

/**
 * Makes the reader the owner of groups of other sources. From its first step, the connection only observes. So nothing
 * is written, and no member is removed, before an operator has checked the plan and resumed the connection.
 *
 *     observe ──▶ each group: events and SCIM only trigger reads ──▶ its platform group moves ──▶ the reader reads it
 *
 * After a crash the command can be repeated. It continues with the remaining groups.
 */
export async function takeOverGroups(
  connection: Connection,
  { groups, unmapped }: TakeoverPlan,
  ports: DirectoryToolPorts,
): Promise<TakeoverReport> {
  const { name } = connection;
  if (groups.length > 0) await observeConnection(connection, 'directory_takeover', ports);
  const busy: string[] = [];
  for (const { group, directoryGroup } of groups) {
    const move = { from: groupId(group), to: groupId(directoryGroup) };
    if (!(await moveGroup(connection, move, ports))) busy.push(group);
  }
  return { connection: name, observing: connection.observing || groups.length > 0, groups, unmapped, busy };
}

/**
 * Groups of other sources. While there are any, no directory can be connected, because the connection would have these
 * groups a second time.
 */
export const otherSourcesOf = async (
  { name }: Pick<Connection, 'name'>,
  ports: Pick<DirectoryToolPorts, 'index' | 'groups' | 'reader'>,
): Promise<readonly GroupId[]> => (await groupsOfOtherSources(name, ports)).map(({ ref }) => ref.group);
