import type { ConnectionName } from '../../domain/ids.ts';
import { folded } from '../../scim/attribute.ts';
import { ScimError } from '../../scim/errors.ts';
import { type TypeName, UNIQUE_ATTRIBUTE } from '../../scim/resource-type.ts';
import { FULL_USER } from '../../scim/schemas/user.ts';
import { elements, isObject, type ScimValue } from '../../scim/value.ts';
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

/** As a text is claimed. Case does not matter for what is unique; an external id is the client's and stays as it is. */
export function claimOf(text: string, type: TypeName): IndexedValue {
  const attribute = UNIQUE_ATTRIBUTE[type];
  return { type, attribute, value: folded({ name: attribute, caseExact: false }, text) };
}

function uniqueValue(resource: ScimResource | undefined): IndexedValue | undefined {
  const text = resource?.attributes[UNIQUE_ATTRIBUTE[resource.type]];
  return resource !== undefined && typeof text === 'string' ? claimOf(text, resource.type) : undefined;
}

/** A value by which several resources may be found. Case matters for an external id only. */
export function pointerOf(
  attribute: 'externalId' | 'emails' | 'employeeNumber',
  text: string,
  type: TypeName,
): IndexedValue {
  return { type, attribute, value: folded({ name: attribute, caseExact: attribute === 'externalId' }, text) };
}

/** The values that point at a resource, each once. */
function pointersOf(resource: ScimResource | undefined): readonly IndexedValue[] {
  if (resource === undefined) return [];
  const { type, attributes } = resource;
  const addresses = elements(attributes['emails']).map((email) => (isObject(email) ? email['value'] : email));
  const extension = attributes[FULL_USER[1].id];
  const number = isObject(extension) ? extension['employeeNumber'] : undefined;
  const values: readonly (readonly [IndexedValue['attribute'], ScimValue | undefined])[] = [
    ['externalId', attributes['externalId']],
    ...addresses.map((address) => ['emails', address] as const),
    ['employeeNumber', number],
  ];
  const pointers = values.flatMap(([attribute, value]) =>
    typeof value === 'string' ? [pointerOf(attribute as 'emails', value, type)] : [],
  );
  return [...new Map(pointers.map((pointer) => [nameOf(pointer), pointer])).values()];
}

const nameOf = ({ attribute, value }: IndexedValue): string => `${attribute} ${value}`;

/** Whether two revisions are found by the same values. */
export const isIndexedAlike = (before: ScimResource, after: ScimResource): boolean =>
  uniqueValue(before)?.value === uniqueValue(after)?.value &&
  pointersOf(before).map(nameOf).join() === pointersOf(after).map(nameOf).join();

/**
 * Claims what the resource must have alone, and points at it from what others may have too.
 * @throws ScimError uniqueness
 */
export async function indexResource(resource: ScimResource, context: IndexContext): Promise<void> {
  const { ports, connection } = context;
  await claimUnique(resource, context);
  // Without a condition, and so all of them in one request to the table.
  await Promise.all(
    pointersOf(resource).map((pointer) => ports.scim.point(connection, pointer, resource.id)),
  );
}

async function claimUnique(resource: ScimResource, context: IndexContext): Promise<void> {
  const { ports, connection } = context;
  const unique = uniqueValue(resource);
  if (unique === undefined) return;
  const claim = (from?: string) => ports.scim.claim(connection, unique, resource.id, from);
  // Nearly all are free: the holder is read only if the claim was refused.
  if (await claim()) return;
  const holder = await freeHolder(unique, resource, context);
  if (!(await claim(holder))) throw taken(resource.type);
  if (holder === undefined || holder === resource.id || !(await isHeldBy(holder, unique, context))) return;
  // The holder has saved its resource, and verified its claim, between the two.
  await ports.scim.claim(connection, unique, holder, resource.id);
  throw taken(resource.type);
}

/** Whether a live resource has the value. */
async function isHeldBy(id: string, value: IndexedValue, { ports, connection }: IndexContext) {
  const [found] = await ports.scim.read(connection, value.type, [id]);
  return found?.state === 'live' && uniqueValue(found)?.value === value.value;
}

/**
 * Who holds a value that the resource may have: itself, or one that no longer has it.
 * @throws ScimError uniqueness
 */
async function freeHolder(value: IndexedValue, resource: ScimResource, context: IndexContext) {
  const holder = await context.ports.scim.holder(context.connection, value);
  if (holder === undefined || holder === resource.id) return holder;
  if (await isHeldBy(holder, value, context)) throw taken(value.type);
  return holder;
}

const taken = (type: TypeName) =>
  new ScimError(409, `${UNIQUE_ATTRIBUTE[type]}: expected a value that no other ${type} has`, {
    scimType: 'uniqueness',
  });

/** @throws ScimError uniqueness where another request took the claim over before the resource was saved */
export async function verifyClaim(resource: ScimResource, context: IndexContext): Promise<void> {
  const value = uniqueValue(resource);
  if (value === undefined) return;
  if ((await context.ports.scim.holder(context.connection, value)) !== resource.id)
    throw taken(resource.type);
}

/** Lets go of the values that a resource had and, as it is now, does not have. */
export async function unindex(
  before: ScimResource,
  after: ScimResource | undefined,
  { ports, connection }: IndexContext,
): Promise<void> {
  const unique = uniqueValue(before);
  if (unique !== undefined && unique.value !== uniqueValue(after)?.value) {
    await ports.scim.release(connection, unique, before.id);
  }
  const kept = new Set(pointersOf(after).map(nameOf));
  const old = pointersOf(before).filter((pointer) => !kept.has(nameOf(pointer)));
  await Promise.all(old.map((pointer) => ports.scim.unpoint(connection, pointer, before.id)));
}
