import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Fastify from 'fastify';
import type { Controls } from './controls/endpoints.ts';
import { CONTROLS_PREFIX, registerControls } from './controls/endpoints.ts';
import type { Fault } from './controls/faults.ts';
import { refuseForeignHost } from './controls/loopback.ts';
import type { Call, Endpoint } from './endpoint.ts';
import { ApiError, badRequest, describeIssues, forbidden } from './errors.ts';
import { createRateLimit } from './rate-limit.ts';
import type { Credential } from './state/state.ts';

/** Room for a group of 100,000 users with long ids. */
const BODY_LIMIT_BYTES = 20 * 1024 * 1024;
const API_PREFIX = '/platform/api';
export const JSON_TYPE = 'application/json; charset=utf-8';

declare module 'fastify' {
  interface FastifyRequest {
    fault: Fault | null;
    rawBody: Buffer | null;
    isBodyBroken: boolean;
  }
}

/** The HTTP server over a list of endpoints: faults, authentication, validation, errors, request log. */
export function createServer(endpoints: readonly Endpoint[], controls: Controls): FastifyInstance {
  const app = Fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    genReqId: () => controls.simulation.newId(),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 2_000 },
    frameworkErrors: (error, request, reply) =>
      sendError(request, reply.header('x-request-id', request.id), error),
  });
  app.decorateRequest('fault', null);
  app.decorateRequest('rawBody', null);
  app.decorateRequest('isBodyBroken', false);
  parseJsonBodies(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    refuseForeignHost(request);
  });
  injectFaults(app, controls);
  logRequests(app, controls);
  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof ApiError) && statusOf(error) >= 500) controls.onDefect(error);
    return sendError(request, reply, error);
  });
  app.setNotFoundHandler((request, reply) => sendError(request, reply, noSuchEndpoint(endpoints, request)));
  const admit = admission(controls);
  for (const endpoint of endpoints) registerEndpoint({ app, endpoint, admit, controls });
  registerControls(app, controls);
  return app;
}

/**
 * An empty body under a JSON content type is no body: many clients send the header always. A broken one is remembered
 * and refused after authentication, so that a stranger learns nothing but 401.
 */
function parseJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    /^application\/([\w.-]+\+)?json\b/,
    { parseAs: 'buffer' },
    (request, body: Buffer, done) => {
      request.rawBody = body;
      if (body.length === 0) return done(null, undefined);
      try {
        done(null, JSON.parse(body.toString('utf8')));
      } catch {
        request.isBodyBroken = true;
        done(null, undefined);
      }
    },
  );
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body: Buffer, done) => {
    if (body.length === 0) return done(null, undefined);
    done(new ApiError(415, 'unsupported_media_type', 'expected a body of the type application/json'));
  });
}

function registerEndpoint({
  app,
  endpoint,
  admit,
  controls,
}: {
  app: FastifyInstance;
  endpoint: Endpoint;
  admit: (request: FastifyRequest) => Credential;
  controls: Controls;
}): void {
  const { simulation } = controls;
  app.route({
    method: endpoint.method,
    url: endpoint.path,
    preValidation: async (request) => {
      const credential = admit(request);
      if (endpoint.oauthOnly && credential.kind !== 'oauth_app') {
        throw forbidden('this endpoint needs an OAuth application; customer API keys are not accepted');
      }
    },
    handler: async (request, reply) => {
      const credential = credentialOf(request, controls);
      const company = simulation.store.state.companies.get(credential.company);
      if (company === undefined) throw new Error('a credential always belongs to a company');
      const call: Call = {
        credential,
        company,
        params: parse(endpoint.params, request.params, 'path'),
        query: parse(endpoint.query, request.query, 'query'),
        body: parse(endpoint.body, jsonBody(request), 'body'),
        simulation,
      };
      return reply.type(JSON_TYPE).send(JSON.stringify(endpoint.handle(call)));
    },
  });
}

function parse(schema: Endpoint['body'], value: unknown, root: string): unknown {
  if (schema === undefined) return undefined;
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw badRequest(describeIssues(parsed.error, root));
  return parsed.data;
}

function jsonBody(request: FastifyRequest): unknown {
  if (request.isBodyBroken) throw badRequest('the body is not valid JSON');
  return request.body;
}

/** Who calls; every call that gets this far marks its application as installed (specification, "Installation"). */
function admission(controls: Controls) {
  const { simulation } = controls;
  const limit = createRateLimit();
  return (request: FastifyRequest): Credential => {
    const credential = credentialOf(request, controls);
    limit(credential.token, simulation.settings().requestsPerSecond, simulation.clock());
    if (!credential.installed) {
      simulation.store.commit([{ kind: 'installed', company: credential.company, app: credential.app }]);
    }
    return credential;
  };
}

function credentialOf(request: FastifyRequest, { simulation }: Controls): Credential {
  const [, token] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
  const credential = token === undefined ? undefined : simulation.store.state.credentials.get(token);
  if (credential !== undefined) return credential;
  const message =
    token === undefined
      ? 'expected the header Authorization: Bearer <ACCESS_TOKEN>'
      : 'the access token is unknown, expired or revoked';
  throw new ApiError(401, 'unauthorized', message, { 'www-authenticate': 'Bearer' });
}

/**
 * Faults come before authentication and validation, as an outage does. `drop: "after"` and a `body` without a status let the work
 * happen and spoil only the answer; their other half is in the onSend hook.
 */
function injectFaults(app: FastifyInstance, { faults }: Controls): void {
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  // After parsing, so that the log has the bodies of failed requests too.
  app.addHook('preValidation', async (request, reply) => {
    const path = pathOf(request);
    if (!path.startsWith('/platform/')) return;
    const fault = faults.take(request.method, path);
    if (fault === undefined) return;
    request.fault = fault;
    const isClosed = fault.delayMs !== undefined && !(await isWaitedOut(fault.delayMs, closing.signal));
    // A server that stops breaks its connections.
    if (isClosed) request.fault = { ...fault, drop: 'before' };
    if (fault.retryAfter !== undefined) reply.header('retry-after', String(fault.retryAfter));
    const status = fault.status ?? (fault.retryAfter === undefined ? undefined : 429);
    if (request.fault.drop !== 'before' && status === undefined) return;
    const asked = 'this answer was asked for through /_simulator/faults';
    const body = fault.body ?? errorBody(request, new ApiError(status ?? 0, 'fault', asked));
    return sendFault(reply.status(status ?? 500), body);
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const { fault } = request;
    if (fault === null) return payload;
    const isSpoiled =
      fault.status === undefined && fault.retryAfter === undefined && fault.body !== undefined;
    if (!isSpoiled || fault.drop === 'before') return payload;
    reply.removeHeader('content-length');
    reply.type(faultType(fault.body));
    return faultText(fault.body);
  });
}

/** False when the signal ended the wait. */
const isWaitedOut = (delayMs: number, signal: AbortSignal) =>
  delay(delayMs, true, { signal }).catch(() => false);

const sendFault = (reply: FastifyReply, body: unknown) => reply.type(faultType(body)).send(faultText(body));
/** A string stands for what a proxy sends. */
const faultType = (body: unknown) => (typeof body === 'string' ? 'text/html; charset=utf-8' : JSON_TYPE);
const faultText = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body));

/** Recorded before the answer leaves, so that a client that has its answer finds its request in the log. */
function logRequests(app: FastifyInstance, { log, simulation }: Controls): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const path = pathOf(request);
    if (!path.startsWith('/platform/')) return payload;
    const drop = request.fault?.drop;
    const { method, url } = request;
    const at = new Date(simulation.clock()).toISOString();
    const status = drop === 'before' ? 0 : reply.statusCode;
    const query = url.slice(path.length + 1);
    const dropped = drop === undefined ? {} : { dropped: drop };
    log.record({ method, path, query, status, at, ...dropped }, request.rawBody ?? undefined);
    if (drop !== undefined) request.raw.socket.destroy();
    return payload;
  });
}

const pathOf = (request: FastifyRequest) => request.url.split('?', 1)[0] ?? '';

function noSuchEndpoint(endpoints: readonly Endpoint[], request: FastifyRequest): ApiError {
  const path = pathOf(request);
  const allowed = endpoints
    .filter((one) => new RegExp(`^${one.path.replaceAll(/:\w+/g, '[^/]+')}/?$`).test(path))
    .map((one) => one.method);
  if (allowed.length === 0 || path.startsWith(CONTROLS_PREFIX)) {
    return new ApiError(404, 'not_found', `no endpoint ${request.method} ${path}`);
  }
  const methods = [...new Set(allowed)].join(', ');
  return new ApiError(405, 'method_not_allowed', `${path} takes ${methods}`, { allow: methods });
}

function sendError(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const answer = error instanceof ApiError ? error : fromFramework(error);
  return reply
    .status(answer.status)
    .headers(answer.headers)
    .type(JSON_TYPE)
    .send(JSON.stringify(errorBody(request, answer)));
}

/** The activity feed answers errors in its own envelope (specification, "Company activity"). */
function errorBody(request: FastifyRequest, { code, message }: ApiError) {
  const error = { code, message, requestId: request.id };
  return pathOf(request) === `${API_PREFIX}/company_activity` ? { data: null, error } : { error };
}

/** Fastify's own errors carry a status; anything without one is a defect. */
function statusOf(error: unknown): number {
  const status =
    typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : 500;
  return typeof status === 'number' ? status : 500;
}

function fromFramework(error: unknown): ApiError {
  const status = statusOf(error);
  if (status >= 500 || !(error instanceof Error)) {
    return new ApiError(500, 'internal_error', 'the simulator failed; this is a defect of the simulator');
  }
  const code = 'code' in error ? String(error.code) : 'bad_request';
  return new ApiError(status, code.toLowerCase(), error.message);
}
