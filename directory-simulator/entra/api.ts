import type * as z from 'zod';
import { type Call, type Endpoint, endpoint } from '../engine/dialect.ts';
import { listPage, PageTokenError } from '../engine/page.ts';
import type { LagKind } from '../engine/settings.ts';
import type { Simulation } from '../engine/simulation.ts';
import { withUnknownFields } from '../engine/unknown-fields.ts';
import { expiredPageToken } from './errors.ts';
import { RawQuery } from './query.ts';

/** The prefix of context URLs. It is the real address of Graph, because clients must not call these URLs. */
const METADATA = 'https://graph.microsoft.com/v1.0/$metadata#';

export type GraphCall = Call<Readonly<Record<string, string>>, z.infer<typeof RawQuery>>;

interface Method {
  readonly path: string;
  readonly operation: string;
  readonly lag?: LagKind;
  /** The rights of the method. A token needs one of these rights. */
  readonly rights: readonly string[];
  handle(call: GraphCall): unknown;
}

/** Returns the endpoint of a read method of Graph. Its answers can have undocumented fields. */
export function graphMethod(simulation: Simulation, { rights, handle, ...method }: Method): Endpoint {
  return endpoint({
    method: 'GET',
    ...method,
    scopes: rights,
    query: RawQuery,
    handle(call) {
      const answer = handle(call as GraphCall);
      if (!simulation.settings().unknownFields) return answer;
      return withUnknownFields(answer, simulation.random(`unknown/${call.requestNumber}`));
    },
  });
}

/** Returns the absolute address of a path on the host that the client called, because Graph's links are absolute. */
export const addressOf = ({ headers }: Pick<GraphCall, 'headers'>, path: string) =>
  `http://${headers.host ?? '127.0.0.1'}${path}`;

interface Collection<T> {
  readonly path: string;
  /** The collection in the form of a context URL: `users(id)`. */
  readonly context: string;
  readonly items: readonly T[];
  readonly idOf: (item: T) => string;
  readonly bodyOf: (item: T) => unknown;
  readonly top: number;
  readonly skipToken: string | undefined;
  /** The count for the first page. undefined means no count. */
  readonly count?: number | undefined;
}

/** Returns one page. The link to the next page has the query of this request. */
export function collectionAnswer<T>(simulation: Simulation, call: GraphCall, list: Collection<T>) {
  const query = queryWithoutToken(call.query);
  try {
    const page = listPage(simulation, {
      key: JSON.stringify([list.path, query]),
      items: list.items,
      idOf: list.idOf,
      pageToken: list.skipToken,
      most: list.top,
    });
    const next = page.nextPageToken;
    const link = addressOf(call, `${list.path}?${[query, `$skiptoken=${next}`].filter(Boolean).join('&')}`);
    return {
      '@odata.context': `${METADATA}${list.context}`,
      ...(list.count === undefined || list.skipToken !== undefined ? {} : { '@odata.count': list.count }),
      ...(next === undefined ? {} : { '@odata.nextLink': link }),
      value: page.items.map(list.bodyOf),
    };
  } catch (error) {
    if (error instanceof PageTokenError) throw expiredPageToken();
    throw error;
  }
}

function queryWithoutToken(query: GraphCall['query']): string {
  return Object.entries(query)
    .filter(([name]) => name.toLowerCase() !== '$skiptoken')
    .flatMap(([name, value]) => [value].flat().map((one) => `${name}=${encodeURIComponent(one)}`))
    .join('&');
}

/** Returns the answer with one object and its context URL. */
export const entityAnswer = (context: string, properties: Readonly<Record<string, unknown>>) => ({
  '@odata.context': `${METADATA}${context}/$entity`,
  ...properties,
});

export const contextOf = (collection: string) => `${METADATA}${collection}`;
