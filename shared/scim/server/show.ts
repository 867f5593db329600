import type { Stamp } from '../../domain/stamp.ts';
import type { ScimResource } from '../ports.ts';
import { documentOf, etagOf, isDescribed, type ListedMember, memberValues } from '../protocol/document.ts';
import { type Projection, project, shows } from '../protocol/projection.ts';
import type { ResourceType, TypeName } from '../protocol/resource-type.ts';
import type { ScimContext } from './context.ts';
import { etagWithoutMembers, viewGroup } from './group-view.ts';
import { listedMember } from './nesting.ts';

interface Given {
  readonly floor?: Stamp | undefined;
  readonly members?: readonly string[] | undefined;
  /** The number of resources in the list; undefined if the response is this resource alone. */
  readonly among?: number;
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
    return { document: project(documentOf(resource, type, baseUrl, etag), projection, type), etag };
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
