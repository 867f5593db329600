import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Fastify from 'fastify';
import type { Faults } from '../../local/platform/controls/faults.ts';
import {
  decorateRequests,
  injectFaults,
  JSON_TYPE,
  logRequests,
  pathOf,
} from '../../local/platform/controls/hooks.ts';
import { refuseForeignHost } from '../../local/platform/controls/loopback.ts';
import type { RequestLog } from '../../local/platform/controls/request-log.ts';
import { ApiError } from '../../local/platform/errors.ts';
import { answerOf } from './answer.ts';
import { Answer, type Dialect, DirectoryError, type Endpoint } from './dialect.ts';
import type { Simulation } from './simulation.ts';

export const CONTROLS_PREFIX = '/_simulator';

/** The largest request body. Signed tokens and lists of changes can be long. */
const BODY_LIMIT_BYTES = 20 * 1024 * 1024;

export interface Served {
  readonly simulation: Simulation;
  readonly dialect: Dialect;
  readonly faults: Faults;
  readonly log: RequestLog;
  readonly onDefect: (error: unknown) => void;
}

/** Creates the HTTP server of one vendor's API, with faults, sign-in, validation, delayed changes, errors and a log. */
export function createServer(served: Served): FastifyInstance {
  const { dialect, simulation } = served;
  const app = Fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 2_000 },
  });
  decorateRequests(app);
  parseBodies(app);
  app.addHook('onRequest', async (request) => refuseForeignHost(request));
  const traffic = {
    faults: served.faults,
    log: served.log,
    clock: simulation.clock,
    isApi: (path: string) => path !== '/' && !path.startsWith(CONTROLS_PREFIX),
    errorBody: (_: FastifyRequest, error: ApiError) => ({
      error: { code: error.status, message: error.message },
    }),
  };
  injectFaults(app, traffic);
  logRequests(app, traffic);
  app.setErrorHandler((error, _, reply) => sendError(served, reply, error));
  app.setNotFoundHandler((_, reply) => sendError(served, reply, dialect.noSuchEndpoint()));
  const numberOf = countRequests();
  for (const endpoint of dialect.endpoints) serve(app, { endpoint, served, numberOf });
  return app;
}

function countRequests(): () => number {
  let requests = 0;
  return () => {
    requests += 1;
    return requests;
  };
}

/**
 * Parses JSON, and the forms of token endpoints. A form becomes an object with the fields of the form. An invalid body
 * becomes undefined.
 */
function parseBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    request.rawBody = body;
    const isForm = String(request.headers['content-type']).includes('form-urlencoded');
    try {
      const text = body.toString('utf8');
      done(null, isForm ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text));
    } catch {
      done(null, undefined);
    }
  });
}

interface Route {
  readonly endpoint: Endpoint;
  readonly served: Served;
  readonly numberOf: () => number;
}

function serve(app: FastifyInstance, { endpoint, served, numberOf }: Route): void {
  const { simulation, dialect } = served;
  app.route({
    method: endpoint.method,
    url: endpoint.path,
    onSend: async (_, reply, payload) => {
      reply.headers(dialect.answerHeaders?.(endpoint, reply.statusCode) ?? {});
      return payload;
    },
    handler: async (request, reply) => {
      const { params, query, body, headers } = request;
      const url = `http://${headers.host ?? ''}${request.url}`;
      const received = { params, query, body, headers, url, requestNumber: numberOf() };
      const answer = answerOf(served, endpoint, received);
      if (answer instanceof Answer) reply.headers(answer.headers);
      return reply
        .header('date', new Date(simulation.clock()).toUTCString())
        .type(JSON_TYPE)
        .send(JSON.stringify(answer instanceof Answer ? answer.body : answer));
    },
  });
}

function sendError({ onDefect }: Served, reply: FastifyReply, error: unknown): FastifyReply {
  const { status, body, headers } = answerTo(error, reply.request, onDefect);
  reply.status(status).headers(headers);
  if (typeof body === 'string') return reply.type('text/html; charset=utf-8').send(body);
  return reply.type(JSON_TYPE).send(JSON.stringify(body));
}

/**
 * Returns the error for the answer. An error of the dialect stays unchanged. Other errors get the form of the
 * simulator.
 */
function answerTo(error: unknown, request: FastifyRequest, onDefect: Served['onDefect']) {
  if (error instanceof DirectoryError) return error;
  if (error instanceof ApiError) {
    const { status, code, message, headers } = error;
    return { status, body: { error: { code, message } }, headers };
  }
  onDefect(error);
  const message = `the simulator failed at ${pathOf(request)}; this is a defect of the simulator`;
  return { status: 500, body: { error: { code: 500, message } }, headers: {} };
}
