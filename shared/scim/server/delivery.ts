import { type Delivery, type DeliveryOf, firstIds, type NamedIds, summaryOf } from '../../domain/delivery.ts';
import type { ScimToken } from '../ports.ts';
import { readQueryString } from '../protocol/list-query.ts';
import { type Meaning, requestMeaning } from '../protocol/meaning.ts';
import type { ScimObject, ScimValue } from '../protocol/value.ts';
import { hashOf, stateOf } from '../tokens/tokens.ts';
import type { ScimReply } from './context.ts';
import type { HttpRequest } from './http.ts';

interface Answered {
  readonly request: HttpRequest;
  readonly body: ScimValue | undefined;
  readonly reply: ScimReply;
  /** The token, even if it has expired or was revoked. */
  readonly sender: ScimToken;
  readonly startedMs: number;
}

const HASH_LENGTH = 16;

/** Returns the hash of a value that a client has searched for. Case is ignored, as in most comparisons of SCIM. */
export const hashOfValue = (value: unknown): string =>
  hashOf(String(value).toLowerCase()).slice(0, HASH_LENGTH);

/** Returns the record of a request. A read that found something has none, and a request above the rate limit has none. */
export function deliveriesOf(answered: Answered, nowMs: number): readonly DeliveryOf[] {
  const { request, body, reply, sender, startedMs } = answered;
  const path = request.path.replace(/^\/scim\/v2/, '');
  const method = request.method.toUpperCase() === 'HEAD' ? 'GET' : request.method.toUpperCase();
  const isRead = method === 'GET' || path.endsWith('/.search');
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
