import { groupId, memberId } from '../../domain/ids.ts';
import type { Stamp } from '../../domain/stamp.ts';
import { documentOf, etagOf, memberValues } from '../../scim/document.ts';
import { badRequest, listBody } from '../../scim/errors.ts';
import { checkFilter, type Filter, matchesFilter, sorted } from '../../scim/filter/evaluate.ts';
import { type Lookup, lookupOf, membersAskedBy } from '../../scim/filter/lookup.ts';
import type { ListQuery } from '../../scim/list-query.ts';
import { type Projection, project, shows } from '../../scim/projection.ts';
import type { ResourceType, TypeName } from '../../scim/resource-type.ts';
import type { ScimObject } from '../../scim/value.ts';
import { atOnce, gather } from '../gather.ts';
import type { ScimResource } from '../ports/scim.ts';
import type { ScimContext } from './context.ts';
import { etagWithoutMembers, viewGroup } from './group-view.ts';
import { claimOf } from './indexing.ts';
import { listedAmong, listedMembers } from './membership.ts';
import { mend } from './resources.ts';
import { hashOf } from './tokens.ts';

const GROUPS_IN_FLIGHT = 8;
/** Characters of one page, most of them members: Lambda answers 6 MB at most, in which each quote takes one more. */
const MAX_PAGE_LENGTH = 5_000_000;
const TOO_LONG = `expected a page of at most ${MAX_PAGE_LENGTH} characters; ask for fewer groups, or without members`;

/** A resource that satisfies the filter, as the filter saw it. */
interface Found {
  readonly resource: ScimResource;
  readonly document: ScimObject;
}

/**
 * A list of one type, or of several, one after the other (RFC 7644 sections 3.4.2 and 3.4.3). The order is that of
 * the ids, which grow: a list that is read page by page keeps its order while resources are added at its end.
 */
export async function listResources(names: readonly TypeName[], query: ListQuery, context: ScimContext) {
  const { filter, sortBy, descending, startIndex, count, cursor, projection } = query;
  const types = names.map((name) => context.types[name]);
  if (filter !== undefined) for (const type of types) checkFilter(filter, type);
  const [only] = types.length === 1 ? types : [];
  const plain = filter === undefined && sortBy === undefined ? only : undefined;
  const found: Found[] = [];
  if (plain === undefined) for (const type of types) found.push(...(await findAll(type, query, context)));
  const ids = plain ? await idsOf(plain.name, context) : found.map(({ resource }) => resource.id);
  const isOrdered = only !== undefined && sortBy === undefined;
  // A cursor goes on with the list that gave it, whatever of each resource is shown.
  const scope = hashOf(JSON.stringify([names, filter, sortBy, descending])).slice(0, 8);
  const from = cursor === undefined ? startIndex - 1 : beginAt({ cursor, scope }, ids, isOrdered);
  const page = plain
    ? await readAll(ids.slice(from, from + count), plain.name, context)
    : found.slice(from, from + count).map(({ resource }) => resource);
  const resources = await showAll(page, projection, context);
  const next = ids[from + count];
  const nextCursor =
    next === undefined ? {} : { nextCursor: Buffer.from(`${scope} ${next}`).toString('base64url') };
  return listBody(resources, {
    totalResults: ids.length,
    ...(cursor === undefined ? { startIndex } : nextCursor),
  });
}

/** @throws ScimError tooMany where Lambda could not answer */
async function showAll(
  page: readonly ScimResource[],
  projection: ListQuery['projection'],
  context: ScimContext,
): Promise<readonly ScimObject[]> {
  let length = 0;
  return atOnce(GROUPS_IN_FLIGHT, page, async (resource) => {
    const { document } = await show(resource, projection, context, { among: page.length });
    length += JSON.stringify(document).length;
    if (length > MAX_PAGE_LENGTH) throw badRequest('tooMany', TOO_LONG);
    return document;
  });
}

async function idsOf(type: TypeName, context: ScimContext): Promise<readonly string[]> {
  const { ports, connection } = context;
  const { ids, ending } = await ports.scim.order(connection, type, ports.clock());
  for (const resource of await ports.scim.read(connection, type, ending)) await mend(resource, context);
  for (const id of ending) await ports.scim.noteOrder(connection, { type, id, state: 'gone' });
  return ids;
}

/**
 * A cursor is the list it goes on with, and the id that its page begins with; opaque to clients.
 * @throws ScimError invalidCursor, or expiredCursor where nothing tells any more where the page begins
 */
function beginAt(
  { cursor, scope }: { readonly cursor: string; readonly scope: string },
  ids: readonly string[],
  isOrdered: boolean,
): number {
  if (cursor === '') return 0;
  const [, of, id] = /^(\S+) (.+)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (of !== scope || id === undefined)
    throw badRequest('invalidCursor', 'cursor: expected one that a page of this list gave');
  const at = ids.indexOf(id);
  if (at !== -1) return at;
  if (!isOrdered) throw badRequest('expiredCursor', 'cursor: expected one whose resource is still listed');
  const after = ids.findIndex((one) => one > id);
  return after === -1 ? ids.length : after;
}

/** Only the resources of the page, which are neighbours, in one query. */
async function readAll(ids: readonly string[], type: TypeName, context: ScimContext) {
  const [first, last] = [ids[0], ids.at(-1)];
  if (first === undefined || last === undefined) return [];
  const wanted = new Set(ids);
  const read: ScimResource[] = [];
  for (const one of await gather(context.ports.scim.list(context.connection, type, [first, last]))) {
    const mended = wanted.has(one.id) ? await mend(one, context) : undefined;
    if (mended !== undefined) read.push(mended);
  }
  return read;
}

async function findAll(type: ResourceType, { filter, sortBy, descending }: ListQuery, context: ScimContext) {
  const found: Found[] = [];
  for (const resource of await candidates(type, filter, context)) {
    const mended = await mend(resource, context);
    if (mended === undefined) continue;
    const one = { resource: mended, document: documentOf(mended, type, context.baseUrl) };
    const isWanted = filter === undefined || matchesFilter(filter, await seenBy(filter, one, context), type);
    if (isWanted) found.push(one);
  }
  if (sortBy === undefined) return found;
  const byDocument = new Map(found.map((one) => [one.document, one]));
  return sorted([...byDocument.keys()], { sortBy, descending }, type).flatMap(
    (one) => byDocument.get(one) ?? [],
  );
}

/** What could satisfy the filter: by index where it names a value, else everything. */
async function candidates(type: ResourceType, filter: Filter | undefined, context: ScimContext) {
  const { ports, connection } = context;
  const lookup = filter && lookupOf(filter, type);
  if (lookup !== undefined) {
    const ids = await idsBy(lookup, type, context);
    const read = await ports.scim.read(connection, type.name, ids);
    return read.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }
  return gather(ports.scim.list(connection, type.name));
}

async function idsBy({ by, value }: Lookup, type: ResourceType, { ports, connection }: ScimContext) {
  switch (by) {
    case 'id':
      return [value];
    case 'externalId':
      return ports.scim.pointedAt(connection, { type: type.name, attribute: by, value });
    case 'unique': {
      const holder = await ports.scim.holder(connection, claimOf(value, type.name));
      return holder === undefined ? [] : [holder];
    }
    case 'member':
      return gather(ports.users.groupsOf(connection, memberId(value)));
  }
}

/** The document with as many of its members as the filter asks about. */
async function seenBy(filter: Filter, { resource, document }: Found, context: ScimContext) {
  if (resource.type !== 'Group') return document;
  const asked = membersAskedBy(filter, context.types.Group);
  if (asked !== 'all' && asked.length === 0) return document;
  const group = groupId(resource.id);
  const members =
    asked === 'all'
      ? await listedMembers(group, context)
      : [...(await listedAmong(group, asked.map(memberId), context))];
  return { ...document, members: members.map((value) => ({ value, type: 'User' })) };
}

/** A resource in the form of an answer. */
export interface Shown {
  readonly document: ScimObject;
  readonly etag: string;
}

/** Data that was read before. */
interface Given {
  /** The group's floor, if it was read together with the resource. */
  readonly floor?: Stamp | undefined;
  /** All members of this version. */
  readonly members?: readonly string[] | undefined;
  /** How many resources share the answer. */
  readonly among?: number;
}

/**
 * A resource as the request asks to see it; a group's members are read only where they are shown.
 */
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
    return { document: project(documentOf(resource, type, baseUrl, etag), projection, type), etag };
  }
  const view =
    given.members === undefined
      ? await viewGroup(resource, context, given.floor)
      : { resource, members: given.members, etag: etagOf(resource.version) };
  const members = memberValues(view.members, baseUrl, given.among ?? 1);
  const document = { ...documentOf(view.resource, type, baseUrl, view.etag), members };
  return { document: project(document, projection, type), etag: view.etag };
}

export const showsMembers = (type: ResourceType, projection: Projection): boolean =>
  type.name === 'Group' && shows(projection, 'members', type);
