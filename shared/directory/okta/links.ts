import { DirectoryError } from '../../sync/ports/directory.ts';

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
 * @throws DirectoryError `odd`
 */
export function nextPage(
  operation: string,
  headers: readonly string[],
  requested: string,
): string | undefined {
  const links = headers.flatMap(linksIn);
  if (!links.some(({ rel }) => rel === 'self')) {
    throw new DirectoryError('odd', `${operation}: expected the header Link with rel="self", got none`);
  }
  const next = links.filter(({ rel }) => rel === 'next');
  const [first] = next;
  if (first === undefined) return undefined;
  const { origin, pathname } = new URL(requested);
  const url = URL.canParse(first.url) ? new URL(first.url) : undefined;
  const isExpected = url?.origin === origin && url.pathname === pathname;
  if (next.length > 1 || !isExpected) {
    const expected = 'expected one link to the next page of the same list on the configured host';
    throw new DirectoryError('odd', `${operation}: ${expected}`);
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
