import { groupId } from '../../domain/ids.ts';
import { collectPages } from '../../sync/async-collections.ts';
import type { ScimResource } from '../ports.ts';
import { answerBytes, checkAnswer } from '../protocol/answer.ts';
import { documentOf } from '../protocol/document.ts';
import { badRequest, listBody } from '../protocol/errors.ts';
import { checkFilter, type Filter, matchesFilter, sorted } from '../protocol/filter/evaluate.ts';
import { type Lookup, lookupOf, neededIds } from '../protocol/filter/lookup.ts';
import { MAX_ANSWER_BYTES } from '../protocol/limits.ts';
import type { ListQuery } from '../protocol/list-query.ts';
import type { ResourceType, TypeName } from '../protocol/resource-type.ts';
import type { ScimObject } from '../protocol/value.ts';
import { hashOf } from '../tokens/tokens.ts';
import type { ScimContext } from './context.ts';
import { viewGroup } from './group-view.ts';
import { claimOf, pointerOf } from './indexing.ts';
import { listedAmong } from './membership.ts';
import { listedIdsOf, listedMember } from './nesting.ts';
import { finishWrite } from './resources.ts';
import {
  createMembersReader,
  groupsAmong,
  groupsOfUser,
  type MembersReader,
  show,
  usersOfGroup,
} from './user-groups.ts';

const GROUPS_IN_FLIGHT = 8;
/** The maximum number of resources that are read for a sort or an unindexed filter. The read takes about 2 s. */
const MAX_SCANNED = 20_000;

/** A resource that matches the filter, with the document to which the filter was applied. */
interface Found {
  readonly resource: ScimResource;
  readonly document: ScimObject;
}

/**
 * Lists the resources of one type, or of several types in sequence (RFC 7644 sections 3.4.2 and 3.4.3). Without
 * `sortBy`, the resources of a type are sorted by their ids, and a new resource has the greatest id. So it appears only
 * at the end of its type, even while a client reads the list page by page.
 */
export async function listResources(names: readonly TypeName[], query: ListQuery, context: ScimContext) {
  const { filter, sortBy } = query;
  const types = names.map((name) => context.types[name]);
  if (filter !== undefined) for (const type of types) checkFilter(filter, type);
  const [only] = types.length === 1 && sortBy === undefined ? types : [];
  const ids = only && (await idsInOrder(only, filter, context));
  if (ids !== undefined) return listPage(ids, { names, query, found: undefined, context });
  const found: Found[] = [];
  for (const type of types) found.push(...(await findAll(type, query, context)));
  const foundIds = found.map(({ resource }) => resource.id);
  return listPage(foundIds, { names, query, found, context });
}

/**
 * Returns the ids of a list if it contains all resources of a type, or the users of a group. In these cases, the
 * resources need not be read to find the ids.
 */
async function idsInOrder(type: ResourceType, filter: ListQuery['filter'], context: ScimContext) {
  if (filter === undefined) return idsOf(type.name, context);
  const lookup = filter.kind === 'and' ? undefined : lookupOf(filter, type);
  if (lookup?.by !== 'group') return undefined;
  const members = new Set(await usersOfGroup(lookup.value, context));
  return (await idsOf('User', context)).filter((id) => members.has(id));
}

interface Listed {
  readonly names: readonly TypeName[];
  readonly query: ListQuery;
  /** The resources; undefined if they were not read yet. Such a list has one type and is sorted by id. */
  readonly found: readonly Found[] | undefined;
  readonly context: ScimContext;
}

/** Returns a page of these resources. A page that is too large for a response is shortened (section 3.4.2.4). */
async function listPage(ids: readonly string[], { names, query, found, context }: Listed) {
  const { filter, sortBy, descending, startIndex, count, cursor, projection } = query;
  const [only] = names;
  const isOrdered = names.length === 1 && sortBy === undefined;
  // The client may use a cursor only with the same types, filter and order. The requested attributes may differ from
  // page to page.
  const scope = hashOf(JSON.stringify([names, filter, sortBy, descending])).slice(0, 8);
  const from = cursor === undefined ? startIndex - 1 : startOfPage({ cursor, scope }, ids, isOrdered);
  const page =
    found === undefined && only !== undefined
      ? await readAll(ids.slice(from, from + count), only, context)
      : (found ?? []).slice(from, from + count).map(({ resource }) => resource);
  const resources = await showAll(page, projection, context);
  const next = page[resources.length]?.id ?? ids[from + count];
  const nextCursor =
    next === undefined ? {} : { nextCursor: Buffer.from(`${scope} ${next}`).toString('base64url') };
  return listBody(resources, {
    totalResults: ids.length,
    ...(cursor === undefined ? { startIndex } : nextCursor),
  });
}

/**
 * Returns the first resources of a page, as many as fit into one response.
 * @throws ScimError tooMany if the first resource is too large for a response
 */
async function showAll(
  page: readonly ScimResource[],
  projection: ListQuery['projection'],
  context: ScimContext,
): Promise<readonly ScimObject[]> {
  const shown: ScimObject[] = [];
  let bytes = 0;
  for (let from = 0; from < page.length; from += GROUPS_IN_FLIGHT) {
    const some = page.slice(from, from + GROUPS_IN_FLIGHT);
    const documents = await Promise.all(
      some.map((resource) => show(resource, projection, context, { among: page.length })),
    );
    for (const { document } of documents) {
      bytes += answerBytes(document);
      if (bytes > MAX_ANSWER_BYTES && shown.length > 0) return shown;
      checkAnswer(bytes);
      shown.push(document);
    }
  }
  return shown;
}

async function idsOf(type: TypeName, context: ScimContext): Promise<readonly string[]> {
  const { ports, connection } = context;
  const { ids, deleting } = await ports.scim.order(connection, type, ports.clock());
  const found = await ports.scim.read(connection, type, deleting);
  for (const resource of found) await finishWrite(resource, context);
  // These resources were removed by a process that died before it updated the order.
  const gone = deleting.filter((one) => !found.some(({ id }) => id === one));
  for (const id of gone) await ports.scim.noteOrder(connection, { type, id });
  return ids;
}

/**
 * Returns the index in `ids` at which a cursor's page starts. A cursor contains a hash of its query and the id of the
 * page's first resource. Clients treat it as opaque.
 * @throws ScimError `invalidCursor` if the cursor belongs to another list; `expiredCursor` if its resource is gone and
 * the list is not sorted by id
 */
function startOfPage(
  { cursor, scope }: { readonly cursor: string; readonly scope: string },
  ids: readonly string[],
  isOrdered: boolean,
): number {
  if (cursor === '') return 0;
  const [, of, id] = /^(\S+) (.+)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (of !== scope || id === undefined)
    throw badRequest('invalidCursor', 'cursor: expected a cursor from a page of this list');
  const at = ids.indexOf(id);
  if (at !== -1) return at;
  if (!isOrdered)
    throw badRequest('expiredCursor', 'cursor: expected a cursor whose resource is still in the list');
  const after = ids.findIndex((one) => one > id);
  return after === -1 ? ids.length : after;
}

/** Reads the resources of a page. One query reads from the first to the last id, and the result has only the page. */
async function readAll(ids: readonly string[], type: TypeName, context: ScimContext) {
  const [first, last] = [ids[0], ids.at(-1)];
  if (first === undefined || last === undefined) return [];
  const wanted = new Set(ids);
  const read: ScimResource[] = [];
  for (const one of await collectPages(context.ports.scim.list(context.connection, type, [first, last]))) {
    const finished = wanted.has(one.id) ? await finishWrite(one, context) : undefined;
    if (finished !== undefined) read.push(finished);
  }
  return read;
}

async function findAll(type: ResourceType, { filter, sortBy, descending }: ListQuery, context: ScimContext) {
  const found: Found[] = [];
  const readMembers = createMembersReader(context);
  for (const resource of await candidates(type, filter, context)) {
    const finished = await finishWrite(resource, context);
    if (finished === undefined) continue;
    const one = { resource: finished, document: documentOf(finished, type, context.baseUrl) };
    const isWanted =
      filter === undefined ||
      matchesFilter(filter, await documentFor(filter, one, context, readMembers), type);
    if (isWanted) found.push(one);
  }
  return sortBy === undefined ? found : sorted(found, { sortBy, descending }, type);
}

/**
 * Returns the resources that can match the filter. If the filter selects a value of an index, these are the resources
 * from the index; otherwise all resources of the type.
 */
async function candidates(type: ResourceType, filter: Filter | undefined, context: ScimContext) {
  const { ports, connection } = context;
  const lookup = filter && lookupOf(filter, type);
  if (lookup !== undefined) {
    const ids = await idsBy(lookup, type, context);
    const read = await ports.scim.read(connection, type.name, ids);
    return read.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }
  const { ids } = await ports.scim.order(connection, type.name, ports.clock());
  if (ids.length > MAX_SCANNED) {
    throw badRequest(
      'tooMany',
      `expected a filter by an indexed attribute, because there are over ${MAX_SCANNED} resources of type ${type.name}`,
    );
  }
  return collectPages(ports.scim.list(connection, type.name));
}

async function idsBy({ by, value }: Lookup, type: ResourceType, context: ScimContext) {
  const { ports, connection } = context;
  switch (by) {
    case 'id':
      return [value];
    case 'externalId':
    case 'emails':
    case 'employeeNumber':
      return ports.scim.pointedAt(connection, pointerOf(by, value, type.name));
    case 'unique': {
      const holder = await ports.scim.holder(connection, claimOf(value, type.name));
      return holder === undefined ? [] : [holder];
    }
    case 'member': {
      const lists = listedIdsOf(value).map((id) => collectPages(ports.users.groupsOf(connection, id)));
      return (await Promise.all(lists)).flat();
    }
    case 'group':
      return usersOfGroup(value, context);
  }
}

async function documentFor(
  filter: Filter,
  { resource, document }: Found,
  context: ScimContext,
  readMembers: MembersReader,
) {
  const isGroup = resource.type === 'Group';
  const needed = neededIds(filter, isGroup ? 'members' : 'groups', context.types[resource.type]);
  if (needed !== 'all' && needed.length === 0) return document;
  if (!isGroup) {
    const groups =
      needed === 'all'
        ? await groupsOfUser(resource.id, context)
        : await groupsAmong(resource.id, needed, readMembers);
    return { ...document, groups };
  }
  // During a replacement of the whole list, the registers differ from the list that readers see.
  const isWhole = needed === 'all' || resource.replacements.size > 0;
  const members = isWhole
    ? (await viewGroup(resource, context)).members
    : [...(await listedAmong(groupId(resource.id), needed.flatMap(listedIdsOf), context))];
  return { ...document, members: members.map((id) => ({ ...listedMember(id) })) };
}
