import type { FastifyReply, FastifyRequest } from 'fastify';
import { CONTROLS_PREFIX } from './controls/endpoints.ts';
import { JSON_TYPE, pathOf } from './controls/hooks.ts';
import type { Endpoint } from './endpoint.ts';
import { ApiError } from './errors.ts';

const FEED_PATH = '/platform/api/company_activity';

/** Returns 405 if the path exists with another method, and 404 otherwise. */
export function noSuchEndpoint(endpoints: readonly Endpoint[], request: FastifyRequest): ApiError {
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

/** Sends an error as JSON. An {@link ApiError} is sent unchanged. Any other error is converted. */
export function sendError(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const answer = error instanceof ApiError ? error : fromFrameworkError(error);
  return reply
    .status(answer.status)
    .headers(answer.headers)
    .type(JSON_TYPE)
    .send(JSON.stringify(errorBody(request, answer)));
}

/** The activity feed wraps errors in its own envelope (specification, "Company activity"). */
export function errorBody(request: FastifyRequest, { code, message }: ApiError) {
  const error = { code, message, requestId: request.id };
  return pathOf(request) === FEED_PATH ? { data: null, error } : { error };
}

/** Returns the status of an error of Fastify. Any other error is a defect and has the status 500. */
export function statusOf(error: unknown): number {
  const status =
    typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : 500;
  return typeof status === 'number' ? status : 500;
}

function fromFrameworkError(error: unknown): ApiError {
  const status = statusOf(error);
  if (status >= 500 || !(error instanceof Error)) {
    return new ApiError(500, 'internal_error', 'the simulator failed; this is a defect of the simulator');
  }
  const code = 'code' in error ? String(error.code) : 'bad_request';
  return new ApiError(status, code.toLowerCase(), error.message);
}
