import type { ConnectionName } from '../../domain/ids.ts';
import { ScimError } from '../../scim/errors.ts';
import type { ResourceType } from '../../scim/resource-type.ts';
import type { IndexedValue, ScimResource, ScimStore } from '../ports/scim.ts';

/*
 * How no two resources come to have one name, with writes of single items only:
 *
 *     claim the value ──▶ save the resource ──▶ is the claim still ours? ──▶ release the old value
 *
 * A claim whose holder is gone, or does not have the value, was left by a crash (or its holder has not come to its
 * save yet) and may be taken over; whoever was overtaken notices after its own save, and takes that back.
 */

/** As much of a request's surroundings as an index needs. */
interface IndexContext {
  readonly connection: ConnectionName;
  readonly ports: { readonly scim: ScimStore };
}

/** Case does not matter for what is unique; an external id is the client's and stays as it is. */
function uniqueValue(resource: ScimResource, type: ResourceType): IndexedValue | undefined {
  const value = resource.attributes[type.uniqueAttribute];
  if (typeof value !== 'string') return undefined;
  return { type: type.name, attribute: type.uniqueAttribute, value: value.toLowerCase() };
}

function externalValue({ type, attributes }: ScimResource): IndexedValue | undefined {
  const value = attributes['externalId'];
  return typeof value === 'string' ? { type, attribute: 'externalId', value } : undefined;
}

/** Whether two revisions are found by the same values. */
export const isIndexedAlike = (before: ScimResource, after: ScimResource, type: ResourceType): boolean =>
  uniqueValue(before, type)?.value === uniqueValue(after, type)?.value &&
  externalValue(before)?.value === externalValue(after)?.value;

/**
 * Claims what the resource must have alone, and points at it from what others may have too.
 * @throws ScimError uniqueness
 */
export async function indexResource(
  resource: ScimResource,
  type: ResourceType,
  context: IndexContext,
): Promise<void> {
  const { ports, connection } = context;
  const unique = uniqueValue(resource, type);
  if (unique !== undefined) await claim(unique, resource.id, type, context);
  const external = externalValue(resource);
  if (external !== undefined) await ports.scim.point(connection, external, resource.id);
}

async function claim(
  value: IndexedValue,
  id: string,
  type: ResourceType,
  { ports, connection }: IndexContext,
): Promise<void> {
  const holder = await ports.scim.holder(connection, value);
  if (holder !== undefined && holder !== id) {
    const [found] = await ports.scim.read(connection, value.type, [holder]);
    const holds = found?.state === 'live' && uniqueValue(found, type)?.value === value.value;
    if (holds) throw taken(type);
  }
  if (!(await ports.scim.claim(connection, value, { id, from: holder }))) throw taken(type);
}

const taken = (type: ResourceType) =>
  new ScimError(409, `${type.uniqueAttribute}: expected a value that no other ${type.name} has`, {
    scimType: 'uniqueness',
  });

/** @throws ScimError uniqueness where another request took the claim over before the resource was saved */
export async function verifyClaim(
  resource: ScimResource,
  type: ResourceType,
  context: IndexContext,
): Promise<void> {
  const value = uniqueValue(resource, type);
  if (value === undefined) return;
  if ((await context.ports.scim.holder(context.connection, value)) !== resource.id) throw taken(type);
}

/** Lets go of the values that a resource had and, as it is now, does not have. */
export async function unindex(
  before: ScimResource,
  after: ScimResource | undefined,
  type: ResourceType,
  { ports, connection }: IndexContext,
): Promise<void> {
  const unique = uniqueValue(before, type);
  if (unique !== undefined && unique.value !== (after && uniqueValue(after, type))?.value) {
    await ports.scim.release(connection, unique, before.id);
  }
  const external = externalValue(before);
  if (external !== undefined && external.value !== (after && externalValue(after))?.value) {
    await ports.scim.unpoint(connection, external, before.id);
  }
}
