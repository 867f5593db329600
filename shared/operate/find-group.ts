import { type ConnectionName, type GroupRef, groupId } from '../domain/ids.ts';
import type { GroupIndex } from '../sync/ports/group-index.ts';
import type { GroupStore } from '../sync/ports/groups.ts';

/** What a person asked for is not there, or not unique; the message says what to do next. */
export class NotFound extends Error {
  override readonly name = 'NotFound';
}

export interface FindGroupPorts {
  readonly groups: Pick<GroupStore, 'read'>;
  readonly index: Pick<GroupIndex, 'all'>;
}

/**
 * The group that a person means: its id in the directory, or its exact name where only one group has it.
 * @throws NotFound
 */
export async function findGroup(
  connection: ConnectionName,
  text: string,
  ports: FindGroupPorts,
): Promise<GroupRef> {
  const byId = { connection, group: groupId(text) };
  if (text !== '' && (await ports.groups.read(byId)) !== undefined) return byId;
  const named: GroupRef[] = [];
  for await (const page of ports.index.all(connection)) {
    named.push(...page.filter(({ name }) => name === text).map(({ ref }) => ref));
  }
  const [only, ...others] = named;
  if (only === undefined) {
    throw new NotFound(`no group of connection ${connection} has the id or the name "${text}"`);
  }
  if (others.length > 0) {
    const ids = named.map(({ group }) => group).join(', ');
    throw new NotFound(`${named.length} groups are named "${text}"; give the id: ${ids}`);
  }
  return only;
}

/** Every group of a connection, by id. */
export async function allGroups(
  connection: ConnectionName,
  { index }: Pick<FindGroupPorts, 'index'>,
): Promise<readonly GroupRef[]> {
  const refs: GroupRef[] = [];
  for await (const page of index.all(connection)) refs.push(...page.map(({ ref }) => ref));
  return refs.sort((a, b) => (a.group < b.group ? -1 : 1));
}
