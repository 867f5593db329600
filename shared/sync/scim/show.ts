import { groupId } from '../../domain/ids.ts';
import { documentOf, etagOf, locationOf, memberValues } from '../../scim/document.ts';
import { type Projection, project, shows } from '../../scim/projection.ts';
import type { ResourceType } from '../../scim/resource-type.ts';
import type { ScimObject } from '../../scim/value.ts';
import type { ScimResource } from '../ports/scim.ts';
import type { ScimContext } from './context.ts';
import { listedMembers } from './membership.ts';

/** A resource as the request asks to see it; a group's members are read only where they are shown. */
export async function show(
  resource: ScimResource,
  type: ResourceType,
  projection: Projection,
  context: ScimContext,
): Promise<ScimObject> {
  const document = documentOf(resource, type, context.baseUrl);
  const hasMembers = type.name === 'Group' && shows(projection, 'members', type);
  const members = hasMembers ? await listedMembers(groupId(resource.id), context) : [];
  const whole = hasMembers ? { ...document, members: memberValues(members, context.baseUrl) } : document;
  return project(whole, projection, type);
}

export const etagHeader = ({ version }: ScimResource) => ({ etag: etagOf(version) });

/** Of an answer to a request that wrote the resource. */
export const writtenHeaders = (resource: ScimResource, type: ResourceType, { baseUrl }: ScimContext) => ({
  ...etagHeader(resource),
  location: locationOf(type, resource.id, baseUrl),
});
