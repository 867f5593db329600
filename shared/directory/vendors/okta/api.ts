import type * as z from 'zod';
import { DirectoryError } from '../../ports.ts';
import { type DirectoryAnswer, type DirectoryWorld, exchange, headersOf } from '../exchange.ts';
import { createPages } from '../pages.ts';
import { type ApiAnswer, bodyOf, retrying } from '../signed-calls.ts';
import type { RateLimits } from './rate-limits.ts';
import { apiReasonOf, apiRefusal } from './refusal.ts';
import type { SignIn } from './sign-in.ts';

interface ApiCall<Body extends z.ZodType> {
  /** The name of the operation in Okta's reference, such as `listGroupUsers`. */
  readonly operation: string;
  /** Path and query below the host. */
  readonly path: string;
  readonly body: Body;
  /**
   * True if every organisation has this resource. A 404 then means that a right is missing: Okta answers 404 to a
   * request without the scope if the application is limited to a resource set.
   */
  readonly isFixed?: boolean;
}

interface ListAnswer<Body> extends ApiAnswer<Body> {
  /** Path and query of the next page; undefined only on the last page. */
  readonly next: string | undefined;
}

export type OktaApi = ReturnType<typeof createApi>;

export interface ApiOptions {
  /** The base URL of the organisation, without a slash at the end. Every request is sent to this host. */
  readonly orgUrl: string;
  readonly authorization: Authorization;
  readonly limits: RateLimits;
}

/** A call can need three requests: the first request, one with a new token, and one with a new nonce. */
const MAX_REQUESTS = 3;

export function createApi({ orgUrl, authorization, limits }: ApiOptions, world: DirectoryWorld) {
  const send = async (url: string, operation: string): Promise<DirectoryAnswer> => {
    for (let request = 1; ; request += 1) {
      const { headers, repeats } = await authorization.begin(url);
      const answer = await limits.run(operation, () =>
        exchange({ method: 'GET', url, operation, headers }, world),
      );
      const isRepeated = repeats(answer);
      if (!isRepeated || request === MAX_REQUESTS) return answer;
    }
  };
  const read = <Body extends z.ZodType>(call: ApiCall<Body>) =>
    retrying(world, async () => {
      const url = `${orgUrl}${call.path}`;
      const answer = await send(url, call.operation);
      if (answer.status !== 200) throw refusalOf(call, answer);
      return { url, answer, body: bodyOf(call, answer) };
    });
  return {
    pages: createPages(world),
    attributes: world.attributes ?? [],
    async one<Body extends z.ZodType>(call: ApiCall<Body>): Promise<ApiAnswer<z.infer<Body>>> {
      const { answer, body } = await read(call);
      return { body, asOfMs: answer.asOfMs };
    },
    async list<Body extends z.ZodType>(call: ApiCall<Body>): Promise<ListAnswer<z.infer<Body>>> {
      const { url, answer, body } = await read(call);
      const next = nextPage(call.operation, headersOf(answer, 'link'), url);
      return { body, asOfMs: answer.asOfMs, next };
    },
  };
}

/** Returns path and query. Each part of the path is encoded. */
export function pathOf(parts: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const path = `/api/v1/${parts.map(encodeURIComponent).join('/')}`;
  const search = new URLSearchParams(query);
  return search.size === 0 ? path : `${path}?${search}`;
}

function refusalOf({ operation, isFixed = false }: ApiCall<z.ZodType>, answer: DirectoryAnswer) {
  const error = apiRefusal(operation, answer);
  const isHidden = isFixed && error.kind === 'missing';
  return isHidden ? new DirectoryError('denied', error.message, { reason: error.reason }) : error;
}

/**
 * Returns the path and query of the next page; undefined on the last page. Okta sends both links in headers
 * ("Pagination"):
 *
 *     link: <https://acme.okta.com/api/v1/groups?limit=200>; rel="self"
 *     link: <https://acme.okta.com/api/v1/groups?after=00g…&limit=200>; rel="next"
 *
 * A page without the link `self` is refused, because a proxy may have removed the headers.
 * @param requested the address of the requested page. A link to another host or another list is refused. Another host
 * must not receive the token.
 * @throws DirectoryError `invalid`
 */
export function nextPage(operation: string, headers: readonly string[], requested: string) {
  const links = headers.flatMap(linksIn);
  if (!links.some(({ rel }) => rel === 'self')) {
    throw new DirectoryError('invalid', `${operation}: expected the header Link with rel="self", got none`);
  }
  const next = links.filter(({ rel }) => rel === 'next');
  const [first] = next;
  if (first === undefined) return undefined;
  const { origin, pathname } = new URL(requested);
  const url = URL.canParse(first.url) ? new URL(first.url) : undefined;
  const isExpected = url?.origin === origin && url.pathname === pathname;
  if (next.length > 1 || !isExpected) {
    const expected = 'expected one link to the next page of the same list on the configured host';
    throw new DirectoryError('invalid', `${operation}: ${expected}`);
  }
  return `${url.pathname}${url.search}`;
}

interface Link {
  readonly url: string;
  readonly rel: string;
}

/**
 * Returns the links of one header (RFC 8288, section 3). Okta sends each link in a separate header, but a proxy can
 * join them.
 */
const linksIn = (header: string): readonly Link[] =>
  [...header.matchAll(/<([^<>]*)>([^<]*)/g)].map(([, url = '', parameters = '']) => ({
    url,
    rel: /;\s*rel="?([^";,\s]+)/i.exec(parameters)?.[1]?.toLowerCase() ?? '',
  }));

interface Authorization {
  begin(url: string): Promise<AuthorizedRequest>;
}

interface AuthorizedRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** Reads the answer, and remembers a new nonce. Returns whether a retry with new headers can succeed. */
  repeats(answer: DirectoryAnswer): boolean;
}

export const apiTokenAuthorization = (apiToken: string): Authorization => ({
  begin: async () => ({
    headers: { authorization: `SSWS ${apiToken}` },
    repeats: () => false,
  }),
});

/**
 * Returns the authorization with access tokens. A request is repeated with a new token if Okta refuses the token before
 * it expires, and with a new nonce if Okta has renewed the nonce.
 */
export const accessTokenAuthorization = (signIn: SignIn): Authorization => ({
  async begin(url) {
    const token = await signIn.current();
    const headers = token.isBound
      ? { authorization: `DPoP ${token.text}`, dpop: await signIn.proofFor(url, token) }
      : { authorization: `Bearer ${token.text}` };
    return {
      headers,
      repeats(answer) {
        const hasNonce = signIn.keepNonce(answer);
        if (hasNonce && asksForNonce(answer)) return true;
        if (answer.status !== 401) return false;
        signIn.refused(token);
        return true;
      },
    };
  },
});

const NONCE_DEMAND = 'use_dpop_nonce';

/**
 * Returns whether the answer asks for a new nonce. RFC 9449, section 9, defines 401 with a challenge. Okta also answers
 * 400 with the error code in the body.
 */
const asksForNonce = (answer: DirectoryAnswer): boolean =>
  (answer.status === 400 || answer.status === 401) &&
  (apiReasonOf(answer) === NONCE_DEMAND ||
    headersOf(answer, 'www-authenticate').some((challenge) => challenge.includes(NONCE_DEMAND)));
