import { type GroupId, groupId, type MemberId, memberId } from '../../domain/ids.ts';
import { nestedGroup, nestedMember } from '../../domain/nesting.ts';
import type { Stamp } from '../../domain/stamp.ts';
import { collectPages } from '../../sync/async-collections.ts';
import type { ScimResource } from '../ports.ts';
import {
  documentOf,
  etagOf,
  isDescribed,
  type ListedMember,
  locationOf,
  memberValues,
} from '../protocol/document.ts';
import { type Projection, project, shows } from '../protocol/projection.ts';
import { acceptsNested, type ResourceType, type TypeName } from '../protocol/resource-type.ts';
import type { ScimObject } from '../protocol/value.ts';
import type { ScimContext } from './context.ts';
import { etagWithoutMembers, viewGroup } from './group-view.ts';
import { listedAmong } from './membership.ts';
import { groupsAmongListed, listedMember } from './nesting.ts';

interface Given {
  /** The group's floor, if it was read together with the resource. */
  readonly floor?: Stamp | undefined;
  readonly members?: readonly string[] | undefined;
  /** The number of resources in the list; undefined if the response is this resource alone. */
  readonly among?: number;
  /** Whether this request created the resource. A new resource is in no group. */
  readonly isNew?: boolean;
}

/** Returns a resource with the selected attributes. Reads a group's members only if the response shows them. */
export async function show(
  resource: ScimResource,
  projection: Projection,
  context: ScimContext,
  given: Given = {},
) {
  const { types, baseUrl } = context;
  const type = types[resource.type];
  if (!showsMembers(type, projection)) {
    const etag = etagWithoutMembers(resource, context);
    const groups = showsGroups(type, projection, given) ? await groupsOfUser(resource.id, context) : [];
    const document = documentOf(resource, type, baseUrl, etag);
    const whole = groups.length === 0 ? document : { ...document, groups };
    return { document: project(whole, projection, type), etag };
  }
  const view =
    given.members === undefined
      ? await viewGroup(resource, context, given.floor)
      : { resource, members: given.members, etag: etagOf(resource.version) };
  const groups = given.among ?? 1;
  const listed = view.members.map(listedMember);
  const names = isDescribed(listed.length, groups) ? await namesOf(listed, context) : undefined;
  const members = memberValues(listed, { types, baseUrl, groups, names });
  const document = { ...documentOf(view.resource, type, baseUrl, view.etag), members };
  return { document: project(document, projection, type), etag: view.etag };
}

/**
 * Returns whether the response shows a user's groups. In a list, the client must request them, because they cost a query
 * and three reads per group for each user.
 */
function showsGroups(type: ResourceType, projection: Projection, { among, isNew = false }: Given) {
  if (type.name !== 'User' || isNew || !shows(projection, 'groups', type)) return false;
  return projection.only !== undefined || among === undefined;
}

/** Returns the names of the members by id. A member that is no SCIM resource has no name. */
async function namesOf(members: readonly ListedMember[], { ports, connection }: ScimContext) {
  const read = async (type: TypeName) => {
    const ids = members.filter((member) => member.type === type).map(({ value }) => value);
    return ids.length === 0 ? [] : [...(await ports.scim.describe(connection, type, ids, ports.clock()))];
  };
  return new Map((await Promise.all([read('User'), read('Group')])).flat());
}

export const showsMembers = (type: ResourceType, projection: Projection): boolean =>
  type.name === 'Group' && shows(projection, 'members', type);

/**
 * Returns the values of a user's attribute `groups` (RFC 7643 section 4.1.2), sorted by group id. A group is indirect if
 * it contains the user only through a nested group.
 */
export async function groupsOfUser(user: string, context: ScimContext): Promise<readonly ScimObject[]> {
  const found = new Map<string, ScimObject>();
  const isNested = acceptsNested(context.types.Group);
  let type: 'direct' | 'indirect' = 'direct';
  let level: readonly MemberId[] = [memberId(user)];
  while (level.length > 0) {
    const listing = (await Promise.all(level.map((member) => groupsListing(member, context)))).flat();
    const fresh = listing.filter(({ id }) => !found.has(id));
    for (const group of fresh) found.set(group.id, groupValue(group, type, context));
    type = 'indirect';
    level = isNested ? fresh.map(({ id }) => nestedMember(groupId(id))) : [];
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}

/** Returns the groups that list a user or a nested group, as readers see the lists. */
async function groupsListing(member: MemberId, context: ScimContext): Promise<readonly ScimResource[]> {
  const { ports, connection } = context;
  const ids = await collectPages(ports.users.groupsOf(connection, member));
  if (ids.length === 0) return [];
  const [groups, lists] = await Promise.all([
    ports.scim.read(connection, 'Group', ids),
    Promise.all(ids.map(async (id) => [id, await listedAmong(id, [member], context)] as const)),
  ]);
  const isListed = new Map<string, boolean>(lists.map(([id, listed]) => [id, listed.has(member)]));
  const listing: ScimResource[] = [];
  for (const group of groups) {
    if (group.state !== 'live') continue;
    // During a replacement of the whole list, the registers differ from the list that readers see.
    const isMember =
      group.replacements.size > 0
        ? (await viewGroup(group, context)).members.includes(member)
        : isListed.get(group.id);
    if (isMember) listing.push(group);
  }
  return listing;
}

const groupValue = (
  { id, attributes }: ScimResource,
  type: 'direct' | 'indirect',
  { types, baseUrl }: ScimContext,
): ScimObject => ({
  value: id,
  $ref: locationOf(types.Group, id, baseUrl),
  display: attributes['displayName'] ?? id,
  type,
});

/**
 * Returns the users that a group lists, as readers see them, and the users of its nested groups; empty if there is no
 * such group.
 */
export async function usersOfGroup(id: string, context: ScimContext): Promise<readonly string[]> {
  const { ports, connection, types } = context;
  const users = new Set<string>();
  const seen = new Set([id]);
  let level: readonly string[] = [id];
  while (level.length > 0) {
    const groups = (await ports.scim.read(connection, 'Group', level)).filter(
      ({ state }) => state === 'live',
    );
    const views = await Promise.all(groups.map((group) => viewGroup(group, context)));
    const members = views.flatMap((view) => view.members);
    for (const member of members) if (nestedGroup(member) === undefined) users.add(member);
    const nested = acceptsNested(types.Group) ? groupsAmongListed(members) : [];
    level = [...new Set(nested)].filter((group) => !seen.has(group));
    for (const group of level) seen.add(group);
  }
  return [...users];
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

export async function groupsAmong(
  user: string,
  groups: readonly string[],
  read: MembersReader,
): Promise<readonly ScimObject[]> {
  const values: ScimObject[] = [];
  for (const value of groups) if ((await read(groupId(value))).has(user)) values.push({ value });
  return values;
}
