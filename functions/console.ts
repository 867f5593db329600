import '../shared/runtime/cold-start.ts';
import { gzipSync } from 'node:zlib';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { createHandle } from '../console/server/handle.ts';
import { HEADERS, type Page } from '../console/server/page-files.ts';
import { createProvider } from '../console/sign-in/provider.ts';
import { CALLBACK_PATH, createConsoleServer } from '../console/sign-in/server.ts';
import { HttpEvent } from '../shared/contract/invocation.ts';
import { errorFields } from '../shared/runtime/logger.ts';
import { ANSWER_MS, wireConsole } from '../shared/runtime/wire-console.ts';
import { once } from './frame/once.ts';

/** The files of the page. The bundler inserts them. */
declare const CONSOLE_PAGE: Page;

const POLL_MS = 10_000;
/** Longer answers (in bytes) are compressed if the client accepts gzip. */
const COMPRESSED_FROM = 100_000;
/** Lambda returns at most 6 MB, with the headers and as JSON. */
const MAX_REPLY_BYTES = 5_000_000;

/**
 * Errors whose messages are written for operators. The messages of other errors are not shown, because they may
 * describe the deployment.
 */
const SHOWN = /^(?:NotFound|Changed|Refused|InvalidSettingError|FunctionFailed|PlatformFailure|Error)$/;

const wired = once(async () => {
  const { tool, settings, origin, sessions, clientSecret, clock, randomHex, logger, config } =
    await wireConsole();
  const handle = createHandle({
    prefix: config.prefix,
    ports: tool.ports,
    portsOf: ({ id }) => tool.actingAs(id),
    pollMs: POLL_MS,
    formatCommands: (text) => text,
    describe(error) {
      if (error instanceof Error && SHOWN.test(error.name)) return error.message;
      logger.error('a request of the console failed', errorFields(error));
      return 'the request failed; the log of the function has the reason';
    },
  });
  return createConsoleServer({
    origin,
    settings,
    provider: createProvider({ settings, redirectUri: `${origin}${CALLBACK_PATH}`, clientSecret, clock }),
    sessions,
    page: CONSOLE_PAGE,
    handle,
    clock,
    randomHex,
    log: (event, fields) => logger.info(event, fields),
  });
});

const refusal = (status: number, message: string) => Response.json({ message }, { status, headers: HEADERS });
const NOT_A_REQUEST = 'expected a request of the HTTP API (payload format 2.0)';

/** Handles the requests of the console's HTTP API (payload format 2.0). */
export async function handler(
  event: APIGatewayProxyEventV2,
  _context: Pick<Context, 'awsRequestId'>,
): Promise<APIGatewayProxyStructuredResultV2> {
  const server = await wired();
  const parsed = HttpEvent.safeParse(event);
  if (!parsed.success) return replyOf(refusal(400, NOT_A_REQUEST));
  const { method } = parsed.data.requestContext.http;
  if (method !== 'GET' && method !== 'POST') return replyOf(refusal(405, 'only GET and POST'));
  const response = await server(requestOf(parsed.data));
  return replyOf(response, parsed.data.headers['accept-encoding']);
}

/** The headers that the console reads, besides cookies. A `Request` may refuse the values of other headers. */
const HEADERS_READ = ['origin', 'sec-fetch-site', 'x-groupsync-token'] as const;
const NO_ASCII = /[^\x20-\x7e]/;

/** The console does not use the host of a request, so the URL gets an invented host. */
function requestOf({ body, isBase64Encoded, requestContext, headers, cookies, ...event }: HttpEvent) {
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
    signal: AbortSignal.timeout(ANSWER_MS),
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

async function replyOf(response: Response, accepted = ''): Promise<APIGatewayProxyStructuredResultV2> {
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
