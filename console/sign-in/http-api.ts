import { gzipSync } from 'node:zlib';
import type { HttpEvent } from '../../shared/contract/invocation.ts';
import { HEADERS } from '../server/page-files.ts';

/* The requests and answers of an HTTP API with payload format 2.0 (API Gateway, Lambda integrations). */

/** Longer answers (in bytes) are compressed if the client accepts gzip. */
const COMPRESSED_FROM = 100_000;
/** Lambda returns at most 6 MB, with the headers and as JSON. */
const MAX_REPLY_BYTES = 5_000_000;

export const refusal = (status: number, message: string) =>
  Response.json({ message }, { status, headers: HEADERS });

/** The headers that the console reads, besides cookies. A `Request` may refuse the values of other headers. */
const HEADERS_READ = ['origin', 'sec-fetch-site', 'x-groupsync-token'] as const;
const NO_ASCII = /[^\x20-\x7e]/;

/** The console does not use the host of a request, so the URL gets an invented host. */
export function requestOf(
  { body, isBase64Encoded, requestContext, headers, cookies, ...event }: HttpEvent,
  answerMs: number,
): Request {
  const { method } = requestContext.http;
  const sent = new Headers();
  for (const name of HEADERS_READ) {
    const value = headers[name];
    if (value !== undefined) sent.set(name, value.replaceAll(new RegExp(NO_ASCII, 'g'), '?'));
  }
  // The console's cookies are ASCII. Other cookies are dropped, because a parser may remove some characters.
  sent.set('cookie', cookies.filter((one) => !NO_ASCII.test(one)).join('; '));
  const query = event.rawQueryString === '' ? '' : `?${event.rawQueryString}`;
  const content = isBase64Encoded ? Buffer.from(body ?? '', 'base64') : body;
  return new Request(`https://console.invalid${encodedPath(event.rawPath)}${query}`, {
    method,
    headers: sent,
    signal: AbortSignal.timeout(answerMs),
    ...(method === 'POST' && content !== undefined && { body: content }),
  });
}

/**
 * An HTTP API decodes the path. This function encodes the characters that would end a path or split it. Everything
 * after `/c/CONNECTION/PAGE/` is one id, which may contain slashes.
 */
function encodedPath(path: string): string {
  const [, page = path, id = ''] = /^(\/c\/[^/]*\/[^/]*\/)(.*)$/s.exec(path) ?? [];
  return `${page}${id.replaceAll('/', '%2F')}`
    .replaceAll(/%(?![\da-f]{2})/gi, '%25')
    .replaceAll(/[?#\\]/g, encodeURIComponent);
}

/** True if the header `Accept-Encoding` names gzip with a weight above 0 (RFC 9110 section 12.5.3). */
const acceptsGzip = (accepted: string): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accepted);

export async function replyOf(response: Response, accepted = '') {
  const cookies = response.headers.getSetCookie();
  response.headers.delete('set-cookie');
  const content = Buffer.from(await response.arrayBuffer());
  const isCompressed = content.length > COMPRESSED_FROM && acceptsGzip(accepted);
  if (isCompressed) response.headers.set('content-encoding', 'gzip');
  const body = isCompressed ? gzipSync(content).toString('base64') : content.toString();
  if (Buffer.byteLength(body) > MAX_REPLY_BYTES) return replyOf(refusal(413, 'the answer is too large'));
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    cookies,
    body,
    isBase64Encoded: isCompressed,
  };
}
