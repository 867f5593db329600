import { type GroupId, groupId, memberId } from '../../domain/ids.ts';
import { nestedGroup } from '../../domain/nesting.ts';
import { locationOf } from '../../scim/document.ts';
import type { ScimObject } from '../../scim/value.ts';
import { collectPages } from '../async-collections.ts';
import type { ScimResource } from '../ports/scim.ts';
import type { ScimContext } from './context.ts';
import { viewGroup } from './group-view.ts';
import { listedAmong } from './membership.ts';

/** Returns the values of a user's attribute `groups` (RFC 7643 section 4.1.2), sorted by group id. */
export async function groupsOfUser(user: string, context: ScimContext): Promise<readonly ScimObject[]> {
  const { ports, connection } = context;
  const ids = await collectPages(ports.users.groupsOf(connection, memberId(user)));
  if (ids.length === 0) return [];
  const [groups, lists] = await Promise.all([
    ports.scim.read(connection, 'Group', ids),
    Promise.all(ids.map(async (id) => [id, await listedAmong(id, [memberId(user)], context)] as const)),
  ]);
  const isListed = new Map<string, boolean>(lists.map(([id, listed]) => [id, listed.has(memberId(user))]));
  const shown: ScimResource[] = [];
  for (const group of groups) {
    if (group.state !== 'live') continue;
    // During a replacement of the whole list, the registers differ from the list that readers see.
    const isMember =
      group.replacements.size > 0
        ? (await viewGroup(group, context)).members.includes(memberId(user))
        : isListed.get(group.id);
    if (isMember) shown.push(group);
  }
  return shown.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map((group) => groupValue(group, context));
}

const groupValue = ({ id, attributes }: ScimResource, { types, baseUrl }: ScimContext): ScimObject => ({
  value: id,
  $ref: locationOf(types.Group, id, baseUrl),
  display: attributes['displayName'] ?? id,
  type: 'direct',
});

/** Returns the users that a group lists, as readers see them; empty if there is no such group. */
export async function usersOfGroup(id: string, context: ScimContext): Promise<readonly string[]> {
  const { ports, connection } = context;
  const [group] = await ports.scim.read(connection, 'Group', [id]);
  if (group?.state !== 'live') return [];
  return (await viewGroup(group, context)).members.filter((member) => nestedGroup(member) === undefined);
}

/** Returns a function that reads the members of a group for a filter. It reads each list once per request. */
export function createMembersReader(context: ScimContext) {
  const lists = new Map<string, Promise<ReadonlySet<string>>>();
  return (group: GroupId): Promise<ReadonlySet<string>> => {
    const known = lists.get(group) ?? usersOfGroup(group, context).then((ids) => new Set(ids));
    lists.set(group, known);
    return known;
  };
}
export type MembersReader = ReturnType<typeof createMembersReader>;

/** Returns the given groups that contain the user, with the fields that a filter needs. */
export async function groupsAmong(
  user: string,
  groups: readonly string[],
  read: MembersReader,
): Promise<readonly ScimObject[]> {
  const values: ScimObject[] = [];
  for (const value of groups)
    if ((await read(groupId(value))).has(user)) values.push({ value, type: 'direct' });
  return values;
}
