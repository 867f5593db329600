import { groupId } from '../../domain/ids.ts';
import { collectPages } from '../../sync/tuning.ts';
import type { ScimResource } from '../ports.ts';
import { answerBytes, checkAnswer } from '../protocol/answer.ts';
import { documentOf } from '../protocol/document.ts';
import { badRequest, listBody } from '../protocol/errors.ts';
import { checkFilter, type Filter, matchesFilter } from '../protocol/filter/evaluate.ts';
import { type Lookup, lookupOf, neededIds } from '../protocol/filter/lookup.ts';
import { MAX_ANSWER_BYTES } from '../protocol/limits.ts';
import type { ListQuery } from '../protocol/list-query.ts';
import type { ResourceType, TypeName } from '../protocol/resource-type.ts';
import type { ScimObject } from '../protocol/value.ts';
import { claimOf, pointerOf, type ScimContext } from './context.ts';
import { viewGroup } from './group-view.ts';
import { listedAmong } from './membership.ts';
import { listedIdsOf, listedMember } from './nesting.ts';
import { finishWrite } from './resources.ts';
import { show } from './show.ts';

const GROUPS_IN_FLIGHT = 8;
/** The maximum number of resources that are read for an unindexed filter. The read takes about 2 s. */
const MAX_SCANNED = 20_000;

/**
 * Lists the resources of a type (RFC 7644 section 3.4.2). They are in the order of their ids, and a new resource has the
 * greatest id. So it appears only at the end, even while a client reads the list page by page.
 */
export async function listResources(name: TypeName, query: ListQuery, context: ScimContext) {
  const { filter, startIndex, count, projection } = query;
  const from = startIndex - 1;
  if (filter === undefined) {
    const ids = await idsOf(name, context);
    const page = await readAll(ids.slice(from, from + count), name, context);
    return pageOf(await showAll(page, projection, context), ids.length, query);
  }
  const type = context.types[name];
  checkFilter(filter, type);
  const found = await findAll(type, filter, context);
  const page = found.slice(from, from + count);
  return pageOf(await showAll(page, projection, context), found.length, query);
}

/** A page that is too large for a response is shortened (section 3.4.2.4). */
const pageOf = (resources: readonly ScimObject[], totalResults: number, { startIndex }: ListQuery) =>
  listBody(resources, { totalResults, startIndex });

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

async function findAll(type: ResourceType, filter: Filter, context: ScimContext) {
  const found: ScimResource[] = [];
  for (const resource of await candidates(type, filter, context)) {
    const finished = await finishWrite(resource, context);
    if (finished === undefined) continue;
    if (matchesFilter(filter, await documentFor(filter, finished, context), type)) found.push(finished);
  }
  return found;
}

/**
 * Returns the resources that can match the filter. If the filter selects a value of an index, these are the resources
 * from the index; otherwise all resources of the type.
 */
async function candidates(type: ResourceType, filter: Filter, context: ScimContext) {
  const { ports, connection } = context;
  const lookup = lookupOf(filter, type);
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
  }
}

async function documentFor(filter: Filter, resource: ScimResource, context: ScimContext) {
  const type = context.types[resource.type];
  const document = documentOf(resource, type, context.baseUrl);
  const needed = neededIds(filter, type);
  if (needed !== 'all' && needed.length === 0) return document;
  // During a replacement of the whole list, the registers differ from the list that readers see.
  const isWhole = needed === 'all' || resource.replacements.size > 0;
  const members = isWhole
    ? (await viewGroup(resource, context)).members
    : [...(await listedAmong(groupId(resource.id), needed.flatMap(listedIdsOf), context))];
  return { ...document, members: members.map((id) => ({ ...listedMember(id) })) };
}
