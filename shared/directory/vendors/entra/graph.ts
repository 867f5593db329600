import * as z from 'zod';
import { DirectoryError } from '../../ports.ts';
import type { AccessTokens } from '../access-tokens.ts';
import { ErrorCode } from '../error-code.ts';
import type { DirectoryAnswer, DirectoryWorld } from '../exchange.ts';
import { createPages, type ListAnswer } from '../pages.ts';
import { kindOf, refused, signInKindOf } from '../refusal.ts';
import { createSignedCalls, urlOf } from '../signed-calls.ts';
import { listOf } from './schemas.ts';

/** Microsoft Graph v1.0 of one tenant. */
export type Graph = ReturnType<typeof createGraph>;

export function createGraph(graphUrl: string, tokens: AccessTokens, world: DirectoryWorld) {
  const base = `${graphUrl}/v1.0`;
  const call = createSignedCalls(
    tokens,
    (operation, answer, body) => graphRefusal(operation, answer, body, world.clock()),
    world,
  );
  return {
    call,
    tokens,
    clock: world.clock,
    attributes: world.attributes ?? [],
    pages: createPages(world),
    /** Returns the URL of a path below `v1.0`. */
    url: (path: readonly string[], query?: Readonly<Record<string, string>>) => urlOf(base, path, query),
    /**
     * Returns the link of an answer after a check of its host.
     * @throws DirectoryError `invalid` if the link leads to another host, which must not receive the token
     */
    ownLink(operation: string, link: string): string {
      const parsed = URL.parse(link);
      if (parsed?.origin === new URL(base).origin && parsed.username + parsed.password === '') return link;
      throw new DirectoryError('invalid', `${operation}: expected a link to the configured host`);
    },
  };
}

interface Listing<Item extends z.ZodType> {
  /** The name of the method in errors. */
  readonly operation: string;
  readonly url: string;
  readonly item: Item;
  readonly headers?: Readonly<Record<string, string>>;
}

interface GraphPage<Item> {
  readonly items: readonly Item[];
  readonly asOfMs: number;
  /** The number of items in the whole list. Only the first page can have this number. */
  readonly count: number | undefined;
  /** The link to the changes after this list. Only the last page of a list of changes has this link. */
  readonly deltaLink: string | undefined;
}

/** Reads a list to its end. Every page except the last page, even an empty one, has a link to the next page. */
export function listPages<Item extends z.ZodType>(
  graph: Graph,
  { operation, url, item, headers = {} }: Listing<Item>,
): AsyncGenerator<GraphPage<z.infer<Item>>> {
  const schema = listOf(item);
  const pages = graph.pages(operation, async (link): Promise<GraphAnswer<z.infer<Item>>> => {
    const request = { operation, url: link ?? url, headers, body: schema };
    const { body, asOfMs } = await graph.call(request);
    const next = body['@odata.nextLink'];
    const deltaLink = body['@odata.deltaLink'];
    return {
      items: body.value as readonly z.infer<Item>[],
      asOfMs,
      count: body['@odata.count'],
      deltaLink: deltaLink && graph.ownLink(operation, deltaLink),
      next: next && graph.ownLink(operation, next),
    };
  });
  return pages as AsyncGenerator<GraphPage<z.infer<Item>>>;
}

type GraphAnswer<Item> = ListAnswer<Item> & GraphPage<Item>;

/** The error of an answer of Graph ("Microsoft Graph error responses and resource types"). */
const GraphError = z.object({ error: z.object({ code: ErrorCode }) });
/** The error of the token endpoint (RFC 6749, section 5.2), with Microsoft's error numbers. */
const TokenError = z.object({
  error: ErrorCode.optional().catch(undefined),
  error_codes: z.array(z.number()).default([]),
});

/** Returns the error for an answer of Microsoft Graph other than 200. */
function graphRefusal(operation: string, answer: DirectoryAnswer, body: unknown, nowMs: number) {
  const code = GraphError.safeParse(body).data?.error.code;
  // An answer 410 without a code also means that a link to changes is no longer valid.
  const reason = code ?? (answer.status === 410 ? 'gone' : undefined);
  const kind = kindOf(answer.status, reason !== undefined);
  return refused(operation, answer.status, { kind, reason, retryAfterMs: waitOf(answer, nowMs) });
}

/** Returns the error for an answer of the token endpoint other than 200. */
export function tokenRefusal(operation: string, answer: DirectoryAnswer, body: unknown, nowMs: number) {
  const { error, error_codes: codes = [] } = TokenError.safeParse(body).data ?? {};
  const reason = codes[0] === undefined ? error : `AADSTS${codes[0]}`;
  const kind = signInKindOf(kindOf(answer.status, reason !== undefined));
  return refused(operation, answer.status, { kind, reason, retryAfterMs: waitOf(answer, nowMs) });
}

/**
 * Returns the wait in ms that `Retry-After` demands. The header contains seconds or a date (RFC 9110, section 10.2.3).
 */
function waitOf({ retryAfter: header }: DirectoryAnswer, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const untilMs = Date.parse(header);
  return Number.isNaN(untilMs) ? undefined : Math.max(0, untilMs - nowMs);
}
