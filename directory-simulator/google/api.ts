import { createHash } from 'node:crypto';
import * as z from 'zod';
import { type Call, type Endpoint, endpoint } from '../engine/dialect.ts';
import { listPage, PageTokenError } from '../engine/page.ts';
import type { LagKind } from '../engine/settings.ts';
import type { Simulation } from '../engine/simulation.ts';
import { withUnknownFields } from '../engine/unknown-fields.ts';
import { invalidInput } from './errors.ts';
import { applyMask, type Mask, parseMask } from './field-mask.ts';

/** Parameters that every method accepts. Like Google, the simulator refuses unknown parameters. */
const STANDARD = {
  alt: z.literal('json').optional(),
  fields: z.string().optional(),
  prettyPrint: z.enum(['true', 'false']).optional(),
  quotaUser: z.string().optional(),
  key: z.string().optional(),
  '$.xgafv': z.string().optional(),
};

export const pageParameters = (most: number, usual: number) => ({
  maxResults: z.string().regex(/^\d+$/).transform(Number).pipe(z.int().min(1).max(most)).default(usual),
  pageToken: z.string().optional(),
});

interface ApiCall<Params, Query> extends Call<Params, Query> {
  readonly mask: Mask;
}

interface Method<Params extends z.ZodType, Query extends z.ZodRawShape> {
  readonly path: string;
  readonly operation: string;
  readonly lag?: LagKind;
  readonly scopes: readonly string[];
  readonly params?: Params;
  readonly query: Query;
  handle(call: ApiCall<z.infer<Params>, z.infer<z.ZodObject<Query>>>): unknown;
}

/** Returns the endpoint of a read method, with standard parameters, undocumented fields and partial answers. */
export function apiMethod<Params extends z.ZodType, Query extends z.ZodRawShape>(
  simulation: Simulation,
  { query, handle, ...method }: Method<Params, Query>,
): Endpoint {
  const parameters = z.strictObject({ ...query, ...STANDARD });
  return endpoint({
    method: 'GET',
    ...method,
    query: parameters,
    handle(call) {
      const { fields } = call.query as { fields?: string };
      const mask = fields === undefined ? {} : parseMask(fields);
      const answer = handle({ ...call, query: call.query as never, mask } as never);
      return applyMask(withUndocumentedFields(simulation, answer, call.requestNumber), mask);
    },
  });
}

function withUndocumentedFields(simulation: Simulation, answer: unknown, requestNumber: number): unknown {
  if (!simulation.settings().unknownFields) return answer;
  return withUnknownFields(answer, simulation.random(`unknown/${requestNumber}`));
}

interface ListAnswer<T> {
  /** The method, and the parameters that decide which items the list contains. */
  readonly key: readonly (string | undefined)[];
  readonly kind: string;
  /** The field that contains the items. */
  readonly field: string;
  readonly items: readonly T[];
  readonly idOf: (item: T) => string;
  readonly rankOf?: ((item: T) => string) | undefined;
  readonly bodyOf: (item: T) => unknown;
  readonly query: { readonly maxResults: number; readonly pageToken?: string | undefined };
}

/** Returns one page. A page without items has no list field, and the last page has no token. */
export function listAnswer<T>(simulation: Simulation, list: ListAnswer<T>) {
  const { pageToken, maxResults } = list.query;
  try {
    const page = listPage(simulation, {
      key: JSON.stringify(list.key),
      items: list.items,
      idOf: list.idOf,
      rankOf: list.rankOf,
      pageToken,
      most: maxResults,
    });
    const items = page.items.map(list.bodyOf);
    return {
      kind: list.kind,
      etag: etagOf(items),
      ...(items.length === 0 ? {} : { [list.field]: items }),
      ...(page.nextPageToken === undefined ? {} : { nextPageToken: page.nextPageToken }),
    };
  } catch (error) {
    if (error instanceof PageTokenError) throw invalidInput(pageToken ?? 'pageToken');
    throw error;
  }
}

const etagOf = (content: unknown): string =>
  `"${createHash('sha256').update(JSON.stringify(content)).digest('base64url')}"`;

export const withEtag = <T extends { readonly kind: string }>({ kind, ...rest }: T) => ({
  kind,
  etag: etagOf(rest),
  ...rest,
});
