import type * as z from 'zod';
import { DirectoryError } from '../../sync/ports/directory.ts';
import type { AccessTokens } from '../access-tokens.ts';
import type { DirectoryWorld } from '../exchange.ts';
import { createPages, type ListAnswer } from '../pages.ts';
import { createSignedCalls, urlOf } from '../signed-calls.ts';
import { graphRefusal } from './refusal.ts';
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
    pages: createPages(world),
    /** Returns the URL of a path below `v1.0`. */
    url: (path: readonly string[], query?: Readonly<Record<string, string>>) => urlOf(base, path, query),
    /**
     * Returns the link of an answer after a check of its host.
     * @throws DirectoryError `odd` if the link leads to another host, which must not receive the token
     */
    ownLink(operation: string, link: string): string {
      const parsed = URL.parse(link);
      if (parsed?.origin === new URL(base).origin && parsed.username + parsed.password === '') return link;
      throw new DirectoryError('odd', `${operation}: expected a link to the configured host`);
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
