import '../shared/runtime/cold-start.ts';
import { gzipSync } from 'node:zlib';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { createHandle } from '../console/server/handle.ts';
import type { Page } from '../console/server/page-files.ts';
import { createProvider } from '../console/sign-in/provider.ts';
import { CALLBACK_PATH, createConsoleServer } from '../console/sign-in/server.ts';
import { errorFields } from '../shared/runtime/logger.ts';
import { ANSWER_MS, wireConsole } from '../shared/runtime/wire-console.ts';
import { once } from './frame/once.ts';

/** The files of the page. The bundler inserts them. */
declare const CONSOLE_PAGE: Page;

const POLL_MS = 10_000;
/** Larger answers are compressed, because Lambda returns at most 6 MB. */
const COMPRESSED_FROM = 100_000;

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

/** Answers requests of the HTTP API (payload format 2.0) by the console. */
export async function handler(
  event: APIGatewayProxyEventV2,
  _context: Pick<Context, 'awsRequestId'>,
): Promise<APIGatewayProxyStructuredResultV2> {
  const server = await wired();
  return replyOf(await server(requestOf(event)), event.headers['accept-encoding'] ?? '');
}

/** API Gateway sends header names in lower case, and cookies in a field of their own. */
function requestOf({
  body,
  isBase64Encoded,
  requestContext,
  rawPath,
  rawQueryString,
  headers,
  cookies,
}: APIGatewayProxyEventV2) {
  const { method } = requestContext.http;
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) sent.set(name, value);
  sent.set('cookie', (cookies ?? []).join('; '));
  const url = `https://${requestContext.domainName}${rawPath}${rawQueryString === '' ? '' : `?${rawQueryString}`}`;
  const hasBody = body !== undefined && method !== 'GET' && method !== 'HEAD';
  const content = isBase64Encoded ? Buffer.from(body ?? '', 'base64') : body;
  return new Request(url, {
    method,
    headers: sent,
    signal: AbortSignal.timeout(ANSWER_MS),
    ...(hasBody && content !== undefined && { body: content }),
  });
}

async function replyOf(response: Response, accepted: string): Promise<APIGatewayProxyStructuredResultV2> {
  const cookies = response.headers.getSetCookie();
  response.headers.delete('set-cookie');
  const body = Buffer.from(await response.arrayBuffer());
  const isCompressed = body.length > COMPRESSED_FROM && /\bgzip\b/.test(accepted);
  if (isCompressed) response.headers.set('content-encoding', 'gzip');
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    cookies,
    body: isCompressed ? gzipSync(body).toString('base64') : body.toString(),
    isBase64Encoded: isCompressed,
  };
}
