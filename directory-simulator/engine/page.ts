import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Simulation } from './simulation.ts';

/** The error for a page token that is unknown or expired, or belongs to another listing. */
export class PageTokenError extends Error {
  override readonly name = 'PageTokenError';
}

const Token = z.strictObject({
  /** A digest of the endpoint and the parameters of the listing. */
  key: z.string(),
  /**
   * The number of the listing among the listings with this key, from 1. The order of the items can depend on this
   * number.
   */
  listing: z.int(),
  page: z.int(),
  /** The rank of the last item of the previous page. */
  after: z.string(),
  issuedAtMs: z.number(),
  generation: z.int(),
});
type Token = z.infer<typeof Token>;

interface ListRequest<T> {
  /** The endpoint and the parameters. Tokens are valid only for listings with the same key. */
  readonly key: string;
  /** The present items. */
  readonly items: readonly T[];
  readonly idOf: (item: T) => string;
  /** Returns the rank of an item in the order that the caller wants. undefined means the order of the settings. */
  readonly rankOf?: ((item: T) => string) | undefined;
  readonly pageToken: string | undefined;
  /** The largest number of items on a page. */
  readonly most: number;
  /**
   * If true, the last page also has a token, which leads to later items. New items must have higher ranks than all
   * earlier items.
   */
  readonly isEndless?: boolean;
}

interface ListedPage<T> {
  readonly items: readonly T[];
  readonly nextPageToken: string | undefined;
}

/**
 * Returns one page of a listing. A page token contains a position in the order of the listing. Each page shows the
 * items that exist when the page is requested. So an item that exists during the whole listing is shown at least once.
 * The listing can show or omit an item that is added or removed during the listing. The seed decides the order, sizes,
 * repetitions and empty pages.
 * @throws {PageTokenError} for a token that is not valid for this listing
 */
export function listPage<T>(simulation: Simulation, request: ListRequest<T>): ListedPage<T> {
  const settings = simulation.settings();
  const token = positionOf(simulation, request);
  const ranked = rankItems(simulation, request, token);
  const random = simulation.random(`page/${token.key}/${token.listing}/${token.page}`);
  const firstNew = ranked.findIndex(({ rank }) => rank > token.after);
  const position = firstNew < 0 ? ranked.length : firstNew;
  const isRepeating = position > 0 && random.chance(settings.repeatedItems);
  const start = isRepeating ? position - 1 : position;
  const drawn =
    settings.pageSizes === 'full'
      ? request.most
      : 1 + random.below(Math.min(request.most, ranked.length + 1));
  const size = random.chance(settings.emptyPages) ? 0 : Math.min(drawn, request.most);
  const shown = ranked.slice(start, start + size);
  // A page that is empty at random is never the last page.
  const isLast = size > 0 && start + size >= ranked.length;
  const items = shown.map(({ item }) => item);
  if (isLast && request.isEndless !== true) return { items, nextPageToken: undefined };
  const after = shown.at(-1)?.rank ?? token.after;
  return { items, nextPageToken: encode({ ...token, page: token.page + 1, after }, simulation) };
}

function rankItems<T>(simulation: Simulation, request: ListRequest<T>, token: Token) {
  const isRandom = simulation.settings().pageOrder === 'random';
  const salt = isRandom ? simulation.random(`order/${token.key}/${token.listing}`).hex(16) : undefined;
  const rankOf = (item: T) => {
    const id = request.idOf(item);
    if (request.rankOf !== undefined) return `${request.rankOf(item)}\u0000${id}`;
    return salt === undefined ? id : digest(`${salt}${id}`);
  };
  const ranked = request.items.map((item) => ({ item, rank: rankOf(item) }));
  return ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
}

function positionOf<T>(simulation: Simulation, request: ListRequest<T>): Token {
  const key = digest(request.key);
  const { pageTokens, clock, settings } = simulation;
  if (request.pageToken === undefined) {
    const listing = pageTokens.nextListing(key);
    return { key, listing, page: 1, after: '', issuedAtMs: clock(), generation: pageTokens.generation() };
  }
  const token = decode(request.pageToken);
  if (token === undefined || token.key !== key) throw new PageTokenError('expected a token of this listing');
  const ageSeconds = (clock() - token.issuedAtMs) / 1_000;
  if (token.generation !== pageTokens.generation() || ageSeconds > settings().pageTokenLifetimeSeconds) {
    throw new PageTokenError('the token has expired');
  }
  return token;
}

const encode = (token: Token, { clock, pageTokens }: Simulation) =>
  Buffer.from(
    JSON.stringify({ ...token, issuedAtMs: clock(), generation: pageTokens.generation() }),
  ).toString('base64url');

function decode(text: string): Token | undefined {
  try {
    return Token.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 16);
