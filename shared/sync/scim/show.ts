import type { Stamp } from '../../domain/stamp.ts';
import { documentOf, etagOf, isDescribed, type ListedMember, memberValues } from '../../scim/document.ts';
import { type Projection, project, shows } from '../../scim/projection.ts';
import type { ResourceType, TypeName } from '../../scim/resource-type.ts';
import type { ScimObject } from '../../scim/value.ts';
import type { ScimResource } from '../ports/scim.ts';
import type { ScimContext } from './context.ts';
import { etagWithoutMembers, viewGroup } from './group-view.ts';
import { listedMember } from './nesting.ts';
import { groupsOfUser } from './user-groups.ts';

/**
 * On a page with more users than this, `groups` is included only if the client requests it, because it costs a query
 * for each user.
 */
const MAX_USERS_WITH_GROUPS = 20;

/** A resource in the form of the response, with its entity tag. */
interface Shown {
  readonly document: ScimObject;
  readonly etag: string;
}

interface Given {
  /** The group's floor, if it was read together with the resource. */
  readonly floor?: Stamp | undefined;
  readonly members?: readonly string[] | undefined;
  /** The number of resources in the response. */
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
): Promise<Shown> {
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

/** Returns whether the response shows a user's groups. On a large page, the client must request them. */
function showsGroups(
  type: ResourceType,
  projection: Projection,
  { among = 1, isNew = false }: Given,
): boolean {
  if (type.name !== 'User' || isNew || !shows(projection, 'groups', type)) return false;
  return projection.only !== undefined || among <= MAX_USERS_WITH_GROUPS;
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
