import type { FastifyInstance, FastifyRequest } from 'fastify';
import Fastify from 'fastify';
import { holdVersions, releaseVersions } from '../../shared/platform/version-digits.ts';
import { type Controls, registerControls } from './controls/endpoints.ts';
import { decorateRequests, injectFaults, JSON_TYPE, logRequests } from './controls/hooks.ts';
import { refuseForeignHost } from './controls/loopback.ts';
import type { Call, Endpoint, Simulation } from './endpoint.ts';
import { errorBody, noSuchEndpoint, sendError, statusOf } from './error-answers.ts';
import { ApiError, badRequest, describeIssues, forbidden } from './errors.ts';
import { createRateLimit } from './rate-limit.ts';
import type { Credential } from './state/state.ts';

/** The largest request body: a group of 100,000 users with long ids. */
const BODY_LIMIT_BYTES = 20 * 1024 * 1024;

/** Path prefix of the platform's API. The page, the OpenAPI document and the controls have other paths. */
const API_PREFIX = '/platform/';

declare module 'fastify' {
  interface FastifyRequest {
    isBodyBroken: boolean;
  }
}

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
  decorateRequests(app);
  app.decorateRequest('isBodyBroken', false);
  parseJsonBodies(app, controls.simulation);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    refuseForeignHost(request);
  });
  const traffic = {
    faults: controls.faults,
    log: controls.log,
    clock: controls.simulation.clock,
    isApi: (path: string) => path.startsWith(API_PREFIX),
    errorBody,
  };
  injectFaults(app, traffic);
  logRequests(app, traffic);
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
 * An empty body with a JSON content type counts as no body, because many clients always send this content type. An
 * invalid body is rejected after authentication, so that a client without a valid token gets 401.
 */
function parseJsonBodies(app: FastifyInstance, { settings }: Simulation): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    /^application\/([\w.-]+\+)?json\b/,
    { parseAs: 'buffer' },
    (request, body: Buffer, done) => {
      request.rawBody = body;
      if (body.length === 0) return done(null, undefined);
      try {
        const text = body.toString('utf8');
        done(null, JSON.parse(settings().versionForm === 'text' ? text : holdVersions(text)));
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
      if (company === undefined) throw new Error('expected a company for the credential');
      const call: Call = {
        credential,
        company,
        params: parse(endpoint.params, request.params, 'path'),
        query: parse(endpoint.query, request.query, 'query'),
        body: parse(endpoint.body, jsonBody(request), 'body'),
        simulation,
      };
      const answer = JSON.stringify(endpoint.handle(call));
      const settings = simulation.settings();
      reply.status(endpoint.status?.(settings) ?? 200).type(JSON_TYPE);
      return reply.send(settings.versionForm === 'text' ? answer : releaseVersions(answer));
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

/**
 * Returns a function that returns the credential of a request and marks its application as installed (specification,
 * "Installation"). It throws 401 and 429.
 */
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
