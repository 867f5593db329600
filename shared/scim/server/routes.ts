import { groupId } from '../../domain/ids.ts';
import type { ScimResource } from '../ports.ts';
import { answerBytes, checkAnswer } from '../protocol/answer.ts';
import { resourceTypeDocument, schemaDocuments, serviceProviderConfig } from '../protocol/discovery.ts';
import { etagOf, locationOf, namesVersion } from '../protocol/document.ts';
import { listBody, ScimError } from '../protocol/errors.ts';
import { MAX_ANSWER_BYTES } from '../protocol/limits.ts';
import { hasProjection, projectionOf, readListQuery } from '../protocol/list-query.ts';
import { decoded } from '../protocol/meaning.ts';
import type { Projection } from '../protocol/projection.ts';
import type { TypeName } from '../protocol/resource-type.ts';
import { fieldOf, type ScimObject } from '../protocol/value.ts';
import { noContent, objectBody, ok, type ScimContext, type ScimReply, type ScimRequest } from './context.ts';
import { etagWithoutMembers, isOpen } from './group-view.ts';
import { listResources } from './list.ts';
import { readFloor } from './membership.ts';
import { findResource, finishDeletion, rewriteResource } from './resources.ts';
import { show, showsMembers } from './show.ts';
import { WRITERS, type Written } from './writers.ts';

type Endpoint = (request: ScimRequest, context: ScimContext) => Promise<ScimReply>;
type Methods = Readonly<Partial<Record<string, Endpoint>>>;

/**
 * Routes a request of an authorised client (RFC 7644 section 3.2, table 2).
 * @throws ScimError for an invalid request
 */
export async function route(request: ScimRequest, context: ScimContext): Promise<ScimReply> {
  const segments = request.path.split('/').filter((segment) => segment !== '');
  const methods = methodsOf(segments);
  if (methods === undefined) throw new ScimError(404, 'expected an endpoint of SCIM 2.0, got another path');
  const endpoint = methods[request.method.toUpperCase()];
  if (endpoint === undefined) {
    const allow = Object.keys(methods).join(', ');
    throw new ScimError(405, `expected one of the methods ${allow}`, { headers: { allow } });
  }
  return endpoint(request, context);
}

function methodsOf([first, second, ...more]: readonly string[]): Methods | undefined {
  if (more.length > 0) return undefined;
  switch (first) {
    case undefined:
      return undefined;
    case 'Users':
      return methodsOfType('User', second);
    case 'Groups':
      return methodsOfType('Group', second);
    case 'Me':
      return second === undefined ? ME : undefined;
    default:
      return discovery(first, second);
  }
}

function methodsOfType(type: TypeName, segment: string | undefined): Methods {
  if (segment === undefined) return { GET: list(type), POST: create(type) };
  const id = decoded(segment);
  return {
    GET: read(type, id),
    PUT: rewrite('replace', type, id),
    PATCH: rewrite('patch', type, id),
    DELETE: remove(type, id),
  };
}

const notImplemented: Endpoint = () => {
  throw new ScimError(501, 'the token belongs to a connection, not to a user: /Me is not supported');
};
const ME: Methods = Object.fromEntries(
  ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => [method, notImplemented]),
);

/** Discovery ignores query parameters, except a filter, which it rejects (RFC 7644 section 4). */
function discovery(first: string, second: string | undefined): Methods | undefined {
  const one = (find: (context: ScimContext) => ScimObject | undefined): Methods => ({
    GET: async ({ query }, context) => {
      if (fieldOf(query, 'filter') !== undefined)
        throw new ScimError(403, `${first}: expected no filter, because discovery does not support filters`);
      const found = find(context);
      if (found === undefined) throw new ScimError(404, `expected an id from ${first}, got an unknown id`);
      return ok(found);
    },
  });
  const several = (find: (context: ScimContext) => readonly ScimObject[]): Methods => {
    if (second !== undefined) {
      const id = decoded(second).toLowerCase();
      return one((context) => find(context).find((document) => String(document['id']).toLowerCase() === id));
    }
    return one((context) => {
      const documents = find(context);
      return listBody(documents, { totalResults: documents.length, startIndex: 1 });
    });
  };
  switch (first) {
    case 'ServiceProviderConfig':
    case 'ServiceProviderConfigs':
      return second === undefined ? one(({ baseUrl }) => serviceProviderConfig(baseUrl)) : undefined;
    case 'ResourceTypes':
      return several(({ types, baseUrl }) =>
        Object.values(types).map((type) => resourceTypeDocument(type, baseUrl)),
      );
    case 'Schemas':
      return several(({ types, baseUrl }) => schemaDocuments(types, baseUrl));
    default:
      return undefined;
  }
}

const list =
  (type: TypeName): Endpoint =>
  async ({ query }, context) =>
    ok(await listResources(type, readListQuery(query), context));

const read =
  (type: TypeName, id: string): Endpoint =>
  async ({ query, headers }, context) => {
    const projection = projectionOf(query);
    const { ports, connection, types } = context;
    const hasMembers = showsMembers(types[type], projection);
    const [found, floor] = await Promise.all([
      findResource(id, type, context),
      hasMembers ? readFloor({ connection, group: groupId(id) }, ports) : undefined,
    ]);
    const known = headers['if-none-match'];
    const version = isOpen(found, context) ? undefined : found.version;
    if (known !== undefined && namesVersion(known, version)) {
      return { status: 304, headers: { etag: etagWithoutMembers(found, context) }, body: undefined };
    }
    const { document, etag } = await show(found, projection, context, { floor });
    checkAnswer(answerBytes(document));
    return ok(document, { etag });
  };

const create =
  (type: TypeName): Endpoint =>
  async (request, context) => {
    const projection = projectionOf(request.query);
    const made = await WRITERS[type].create(objectBody(request), context);
    return { ...(await answerWritten(made, projection, context)), status: 201 };
  };

const conditionsOf = ({ headers }: ScimRequest) => ({
  ifMatch: headers['if-match'],
  ifNoneMatch: headers['if-none-match'],
});

/** A PATCH of a group gets a body only if the client requests attributes, because a group may have many members. */
const rewrite =
  (how: 'replace' | 'patch', type: TypeName, id: string): Endpoint =>
  async (request, context) => {
    const projection = projectionOf(request.query);
    const change = { context, ...conditionsOf(request) };
    const written = await WRITERS[type][how](id, objectBody(request), change);
    const isBrief = how === 'patch' && type === 'Group' && !hasProjection(request.query);
    return isBrief
      ? noContent(writtenHeaders(written.resource, context))
      : answerWritten(written, projection, context);
  };

const remove =
  (type: TypeName, id: string): Endpoint =>
  async (request, context) => {
    const edit = (attributes: ScimObject) => attributes;
    const deleting = { context, ...conditionsOf(request), edit, state: 'deleting' } as const;
    const { after } = await rewriteResource(id, type, deleting);
    await finishDeletion(after, context);
    return noContent();
  };

/**
 * Returns the response to a write. It shows the resource as this request wrote it, with one exception. If the response
 * must show members, and the request did not contain all members, the function reads the group again.
 */
async function answerWritten({ resource, members }: Written, projection: Projection, context: ScimContext) {
  const { ports, connection, types } = context;
  const headers = writtenHeaders(resource, context);
  if (members !== undefined || !showsMembers(types[resource.type], projection)) {
    const left = { ...resource, writes: NO_WRITES };
    const { document } = await show(left, projection, context, { members });
    return ok(document, headers);
  }
  const [[now = resource], floor] = await Promise.all([
    ports.scim.read(connection, 'Group', [resource.id]),
    readFloor({ connection, group: groupId(resource.id) }, ports),
  ]);
  const { document, etag } = await show(now, projection, context, { floor });
  // The write has succeeded. So a response that is too large must not become an error. It omits the members instead.
  const { members: _members, ...others } = document;
  return ok(answerBytes(document) > MAX_ANSWER_BYTES ? others : document, { ...headers, etag });
}

const NO_WRITES: ScimResource['writes'] = new Map();

const writtenHeaders = ({ type, id, version }: ScimResource, { types, baseUrl }: ScimContext) => ({
  etag: etagOf(version),
  location: locationOf(types[type], id, baseUrl),
});
