import '../shared/runtime/cold-start.ts';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { createHandle } from '../console/server/handle.ts';
import type { Page } from '../console/server/page-files.ts';
import { refusal, replyOf, requestOf } from '../console/sign-in/http-api.ts';
import { createProvider } from '../console/sign-in/provider.ts';
import { CALLBACK_PATH, createConsoleServer } from '../console/sign-in/server.ts';
import { ANSWER_MS, wireConsole } from '../console/sign-in/wire.ts';
import { HttpEvent } from '../shared/contract/invocation.ts';
import { errorFields } from '../shared/runtime/logger.ts';
import { once } from './frame/once.ts';

/** The files of the page. The bundler inserts them. */
declare const CONSOLE_PAGE: Page;

const POLL_MS = 10_000;

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
  const response = await server(requestOf(parsed.data, ANSWER_MS));
  return replyOf(response, parsed.data.headers['accept-encoding']);
}
