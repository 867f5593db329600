import type { ConnectionSettings } from '../../contract/settings.ts';
import type { EventActor } from '../../domain/event.ts';
import type { ConnectionName, GroupId } from '../../domain/ids.ts';
import type { StorePorts } from '../../sync/ingest/store-fold.ts';
import type { Ports, ScimStore } from '../../sync/ports/bundles.ts';
import type { IndexedValue, ScimResource } from '../ports.ts';
import { folded } from '../protocol/attribute.ts';
import { badRequest, errorBody, type ScimError } from '../protocol/errors.ts';
import type { RequestContent } from '../protocol/meaning.ts';
import { type ResourceTypes, type TypeName, UNIQUE_ATTRIBUTE } from '../protocol/resource-type.ts';
import { FULL_USER } from '../protocol/schemas/user.ts';
import { elements, isObject, type ScimObject, type ScimValue } from '../protocol/value.ts';

/** The ports of the SCIM server. They include the ports of ingest. */
export type DirectoryPorts = StorePorts & Pick<Ports, 'scim' | 'groups' | 'reader' | 'newId'>;

/** The ids in a member list that belong to no user or group. A provider sends them if its references are outdated. */
export interface StaleMembers {
  readonly group: GroupId;
  /** The ids of deleted users and deleted nested groups. The SCIM server ignores them. */
  readonly deleted: readonly string[];
  /** The ids that no user ever had. The group lists each of them without an address, as a pending member. */
  readonly unknown: readonly string[];
}

/** The context of one request. No data of a connection is cached between requests. */
export interface ScimContext {
  readonly ports: DirectoryPorts;
  readonly connection: ConnectionName;
  readonly settings: ConnectionSettings;
  /** Rejects if the token is no longer valid. Each write waits for this promise first. */
  readonly admitted: Promise<unknown>;
  /** The token of the request. It is the author of the request's events. */
  readonly actor: EventActor;
  readonly types: ResourceTypes;
  /** The base URL of the endpoint, without a trailing slash: `https://…/scim/v2`. */
  readonly baseUrl: string;
  readonly noteStale: (stale: StaleMembers) => void;
  readonly noteEvent: (id: string) => void;
}

export interface ScimRequest extends RequestContent {
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

export interface ScimReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ScimObject | undefined;
}

export const ok = (body: ScimObject, headers: Readonly<Record<string, string>> = {}): ScimReply => ({
  status: 200,
  headers,
  body,
});

export const noContent = (headers: Readonly<Record<string, string>> = {}): ScimReply => ({
  status: 204,
  headers,
  body: undefined,
});

/** @throws ScimError invalidSyntax if the body is not an object */
export function objectBody({ body }: ScimRequest): ScimObject {
  if (!isObject(body)) throw badRequest('invalidSyntax', 'expected a JSON object as the body');
  return body;
}

export const errorReply = (error: ScimError): ScimReply => ({
  status: error.status,
  headers: error.headers,
  body: errorBody(error),
});

interface IndexContext {
  readonly connection: ConnectionName;
  readonly ports: { readonly scim: ScimStore };
}

export function claimOf(text: string, type: TypeName): IndexedValue {
  const attribute = UNIQUE_ATTRIBUTE[type];
  const value = folded({ name: attribute, caseExact: false, uniqueness: 'server' }, text);
  return { type, attribute, value };
}

export function uniqueValue(resource: ScimResource | undefined): IndexedValue | undefined {
  const text = resource?.attributes[UNIQUE_ATTRIBUTE[resource.type]];
  return resource !== undefined && typeof text === 'string' ? claimOf(text, resource.type) : undefined;
}

/** Returns an index value that several resources may share. The value ignores case, except for external ids. */
export function pointerOf(
  attribute: 'externalId' | 'emails' | 'employeeNumber',
  text: string,
  type: TypeName,
): IndexedValue {
  const caseExact = attribute === 'externalId';
  return { type, attribute, value: folded({ name: attribute, caseExact, uniqueness: 'none' }, text) };
}

/** The index entry of each group whose members the last PUT did not mention. */
export const KEPT_MEMBERS: IndexedValue = { type: 'Group', attribute: 'keptMs', value: 'yes' };

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
  if (resource.keptMs !== undefined) pointers.push(KEPT_MEMBERS);
  return [...new Map(pointers.map((pointer) => [nameOf(pointer), pointer])).values()];
}

const nameOf = ({ attribute, value }: IndexedValue): string => `${attribute} ${value}`;

export const isIndexedAlike = (before: ScimResource, after: ScimResource): boolean =>
  uniqueValue(before)?.value === uniqueValue(after)?.value &&
  pointersOf(before).map(nameOf).join() === pointersOf(after).map(nameOf).join();

/**
 * Adds an index entry for each value that several resources may share. These writes have no conditions, so one request
 * is enough for all of them.
 */
export async function pointAt(resource: ScimResource, { ports, connection }: IndexContext): Promise<void> {
  await Promise.all(
    pointersOf(resource).map((pointer) => ports.scim.point(connection, pointer, resource.id)),
  );
}

/** Removes the claim and the index entries of values that the resource no longer has. */
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
