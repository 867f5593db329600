import { excludedBy } from '../../contract/exclusion.ts';
import { parseJson } from '../../contract/json.ts';
import {
  type Delivery,
  type DeliveryOf,
  firstIds,
  MAX_IDS,
  type NamedIds,
  summaryOf,
} from '../../domain/delivery.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import { UnstorableError } from '../../sync/ports/store-errors.ts';
import { noteReceipt, type SourcePorts } from '../../sync/sources.ts';
import type { ScimToken } from '../ports.ts';
import { badRequest, SCIM_MEDIA_TYPE, ScimError } from '../protocol/errors.ts';
import { MAX_BODY_BYTES } from '../protocol/limits.ts';
import { readQueryString } from '../protocol/list-query.ts';
import { type Meaning, requestMeaning } from '../protocol/meaning.ts';
import { resourceTypes } from '../protocol/resource-type.ts';
import type { ScimObject, ScimValue } from '../protocol/value.ts';
import { answerTokenRequest, TOKEN_PATH, type TokenEndpointPorts } from '../tokens/token-endpoint.ts';
import { hashOf, knownToken, prefixOf, recordUse, stateOf } from '../tokens/tokens.ts';
import { type DirectoryPorts, errorReply, type ScimReply, type StaleMembers } from './context.ts';
import type { HttpReply, HttpRequest } from './http.ts';
import { UNKNOWN_TOKEN_RATE, waitFor } from './limiter.ts';
import { route } from './routes.ts';

export const SCIM_PATH = '/scim/v2';

export type ScimPorts = DirectoryPorts & TokenEndpointPorts & SourcePorts;

export interface ScimReport {
  readonly reply: HttpReply;
  /** The connection of the token; undefined if the request was not authorised. */
  readonly connection: ConnectionName | undefined;
  readonly staleMembers: readonly StaleMembers[];
  /** The record of the request, if its token is known and the request is recorded. */
  readonly deliveries: readonly DeliveryOf[];
  /** The internal error that caused the response, if there was one. */
  readonly cause: unknown;
}

/**
 * The SCIM 2.0 server (RFC 7643, RFC 7644). Each request gets one response, even after an error. The token alone
 * decides the connection, so a client cannot see the data of another connection.
 */
export async function handleScim(request: HttpRequest, ports: ScimPorts): Promise<ScimReport> {
  let connection: ConnectionName | undefined;
  let cause: unknown;
  let sender: ScimToken | undefined;
  let body: ScimValue | undefined;
  const startedMs = ports.clock();
  const staleMembers: StaleMembers[] = [];
  const events = new Set<string>();
  const isHead = request.method.toUpperCase() === 'HEAD';
  const answerError = (error: unknown): ScimReply => {
    if (error instanceof ScimError) return errorReply(error);
    cause = error;
    // The response is not a 5xx, because a retry of the request would fail again.
    if (isUnstorable(error))
      return errorReply(badRequest('invalidValue', 'expected values that can be stored'));
    // The error itself goes only to the log, because it may contain internal details.
    return errorReply(new ScimError(500, 'internal error: the request can be sent again'));
  };
  let reply: ScimReply;
  try {
    const path = pathBelow(request.path);
    if (path === TOKEN_PATH) {
      const answered = await answerTokenRequest(request, ports);
      return { ...answered, reply: toHttp(answered.reply), deliveries: [], staleMembers, cause };
    }
    const method = isHead ? 'GET' : request.method;
    const { token, cachedConnection } = recognise(request, ports);
    const cached = cachedConnection && (await ports.connections.find(cachedConnection));
    // If this process already knows the token, one table request reads the token together with the first items.
    const note = (known: ScimToken) => {
      sender = known;
    };
    const admitted = admit(token, cachedConnection !== undefined, note, ports);
    const owner = cached ?? (await admitted).connection;
    const answer = async () => {
      body = readBody(request);
      const { headers, origin } = request;
      const query = readQueryString(request.query);
      const actor = { kind: 'scim', id: prefixOf(token) ?? '' } as const;
      const { settings } = owner;
      const isNesting = settings.nested === 'flatten';
      const types = resourceTypes(settings.scim.storeProfile, isNesting, excludedBy(settings));
      const baseUrl = `${origin}${SCIM_PATH}`;
      return route(
        { method, path, query, headers, body },
        {
          ports,
          connection: owner.name,
          settings,
          admitted,
          actor,
          types,
          baseUrl,
          noteStale: (stale) => staleMembers.push(stale),
          noteEvent: (id) => events.add(id),
        },
      );
    };
    const [answered, caller] = await Promise.all([answer().catch(answerError), admitted]);
    connection = caller.connection.name;
    await noteReceipt(connection, { source: 'scim' }, ports);
    reply = answered;
  } catch (error) {
    reply = answerError(error);
  }
  const http = toHttp(reply);
  // HEAD gets the headers of GET without a body (RFC 9110 section 9.3.2).
  const deliveries =
    sender === undefined
      ? []
      : deliveriesOf({ request, body, reply, sender, startedMs, events }, ports.clock());
  return { reply: isHead ? { ...http, body: '' } : http, connection, deliveries, staleMembers, cause };
}

/** Returns the response to an address that is not allowed. It does not show which addresses are allowed. */
export function refuseAddress(): ScimReport {
  const error = new ScimError(403, 'expected a request from an allowed address (setting scimAllowedIps)');
  const reply = toHttp(errorReply(error));
  return { reply, connection: undefined, deliveries: [], staleMembers: [], cause: undefined };
}

const isUnstorable = (error: unknown): boolean =>
  error instanceof UnstorableError || (error instanceof Error && error.cause instanceof UnstorableError);

function pathBelow(path: string): string {
  if (path !== SCIM_PATH && !path.startsWith(`${SCIM_PATH}/`)) {
    throw new ScimError(404, `expected a path below ${SCIM_PATH}`);
  }
  return path.slice(SCIM_PATH.length);
}

/**
 * Reads the token of a request, and limits the requests with this token. A token that was rejected in the last minute
 * is refused without a read of the table. All unknown tokens from one address share one limit, so that a client cannot
 * guess tokens quickly.
 */
function recognise({ headers, source = '' }: HttpRequest, { limiter }: ScimPorts) {
  const token = /^bearer +(\S+)$/i.exec(headers['authorization']?.trim() ?? '')?.[1];
  if (token === undefined) throw unauthorised('');
  const cachedConnection = prefixOf(token) === undefined ? null : limiter.cachedConnection(token);
  if (cachedConnection === null) throw unauthorised(', error="invalid_token"');
  if (cachedConnection === undefined) waitFor(limiter.take(`address ${source}`, UNKNOWN_TOKEN_RATE));
  else waitFor(limiter.take(`token ${prefixOf(token)}`));
  return { token, cachedConnection };
}

/**
 * @param note receives the stored token, even if it has expired or was revoked
 * @throws ScimError 401 if the token is not valid, or 429 if it has sent too many requests
 */
async function admit(token: string, isCounted: boolean, note: (known: ScimToken) => void, ports: ScimPorts) {
  const { limiter } = ports;
  const known = await knownToken(token, ports);
  if (known !== undefined) note(known);
  const valid = known && (await recordUse(known, ports));
  limiter.noteToken(token, valid?.connection ?? null);
  const connection = valid && (await ports.connections.find(valid.connection));
  if (connection === undefined) throw unauthorised(', error="invalid_token"');
  if (!isCounted) waitFor(limiter.take(`token ${valid?.prefix}`));
  return { connection };
}

const unauthorised = (error: string) =>
  new ScimError(401, 'expected a valid token in the header Authorization, as Bearer', {
    headers: { 'www-authenticate': `Bearer realm="groupsync"${error}` },
  });

const JSON_TYPES = /^(?:application\/(?:scim\+)?json|\*\/\*)\s*(?:;.*)?$/i;

/** The methods for which a request body has no meaning (RFC 9110 sections 9.3.1 and 9.3.5). */
const BODYLESS = new Set(['GET', 'HEAD', 'DELETE']);

function readBody({ body, headers, method }: HttpRequest): ScimValue | undefined {
  if (body === undefined || body.length === 0 || BODYLESS.has(method.toUpperCase())) return undefined;
  if (Buffer.byteLength(body) > MAX_BODY_BYTES) {
    throw new ScimError(413, `expected a body of at most ${MAX_BODY_BYTES} bytes`);
  }
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity') {
    throw new ScimError(415, 'expected a body without a Content-Encoding', {
      headers: { 'accept-encoding': 'identity' },
    });
  }
  if (!JSON_TYPES.test(headers['content-type']?.trim() ?? SCIM_MEDIA_TYPE)) {
    throw new ScimError(415, `expected a body of type ${SCIM_MEDIA_TYPE}`);
  }
  const parsed = parseJson(typeof body === 'string' ? body : textOf(body));
  if (!parsed.ok) throw badRequest('invalidSyntax', parsed.message);
  return parsed.value as ScimValue;
}

/** Rejects invalid UTF-8. Otherwise the stored name would differ from the sent name. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badRequest('invalidSyntax', 'expected a body in UTF-8');
  }
}

/** Adds the SCIM media type, without parameters, to a response with a body. */
function toHttp({ status, headers, body }: ScimReply): HttpReply {
  if (body === undefined) return { status, headers, body: '' };
  return { status, headers: { 'content-type': SCIM_MEDIA_TYPE, ...headers }, body: JSON.stringify(body) };
}

interface Answered {
  readonly request: HttpRequest;
  readonly body: ScimValue | undefined;
  readonly reply: ScimReply;
  /** The token, even if it has expired or was revoked. */
  readonly sender: ScimToken;
  readonly startedMs: number;
  readonly events: ReadonlySet<string>;
}

const HASH_LENGTH = 16;

/** Returns the hash of a value that a client has searched for. Case is ignored, as in most comparisons of SCIM. */
export const hashOfValue = (value: unknown): string =>
  hashOf(String(value).toLowerCase()).slice(0, HASH_LENGTH);

/** Returns the record of a request. A read that found something has none, and a request above the rate limit has none. */
function deliveriesOf(answered: Answered, nowMs: number): readonly DeliveryOf[] {
  const { request, body, reply, sender, startedMs, events } = answered;
  const path = request.path.replace(/^\/scim\/v2/, '');
  const method = request.method.toUpperCase() === 'HEAD' ? 'GET' : request.method.toUpperCase();
  const isRead = method === 'GET';
  const error = reply.status < 400 ? {} : (reply.body ?? {});
  const outcome = outcomeOf(isRead, Number(error['status'] ?? reply.status), reply.body);
  if (outcome === undefined || reply.status === 429) return [];
  const meaning = requestMeaning({ method, path, query: readQueryString(request.query), body });
  // The client does not get the reason why its token was refused.
  const refusal = reply.status === 401 ? `token_${stateOf(sender, nowMs)}` : undefined;
  const delivery = {
    atMs: startedMs,
    client: { kind: 'scim', id: sender.prefix } as const,
    request: `${method} ${meaning.endpoint}`,
    summary: summaryOf(meaning.parts),
    outcome,
    status: reply.status,
    code: refusal ?? shortText(error['scimType']),
    detail: shortText(error['detail']),
    ...firstIds(withNew(meaning, reply)),
    events: [...events].slice(0, MAX_IDS),
    filter: filterIn(meaning),
    bytes: Buffer.byteLength(request.body ?? ''),
    elapsedMs: nowMs - startedMs,
  };
  return [{ connection: sender.connection, delivery }];
}

function withNew({ endpoint, groups, members }: Meaning, { headers }: ScimReply): NamedIds {
  const made = headers['location']?.split('/').slice(-1).map(decodeURIComponent) ?? [];
  if (endpoint === 'Groups') return { groups: [...groups, ...made], members };
  return { groups, members: endpoint === 'Users' ? [...members, ...made] : members };
}

function filterIn({ filter }: Meaning): Delivery['filter'] {
  if (filter === undefined) return null;
  return {
    attribute: filter.attribute.slice(0, MAX_TEXT),
    operator: filter.operator,
    hash: hashOfValue(filter.value),
  };
}

const MAX_TEXT = 200;

function outcomeOf(
  isRead: boolean,
  status: number,
  body: ScimObject | undefined,
): Delivery['outcome'] | undefined {
  if (status >= 500) return 'failed';
  if (isRead && (status === 404 || body?.['totalResults'] === 0)) return 'not_found';
  if (status >= 400) return 'refused';
  return isRead ? undefined : 'accepted';
}

const shortText = (value: ScimValue | undefined): string | null =>
  typeof value === 'string' ? value.slice(0, MAX_TEXT) : null;
