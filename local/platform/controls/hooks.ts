import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import type { Fault, Faults } from './faults.ts';
import type { RequestLog } from './request-log.ts';

declare module 'fastify' {
  interface FastifyRequest {
    fault: Fault | null;
    rawBody: Buffer | null;
  }
}

export const JSON_TYPE = 'application/json; charset=utf-8';

export const pathOf = (request: FastifyRequest) => request.url.split('?', 1)[0] ?? '';

interface Traffic {
  readonly faults: Faults;
  readonly log: RequestLog;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Returns whether a path belongs to the API. Requests for other paths have no faults and are not logged. */
  readonly isApi: (path: string) => boolean;
  readonly errorBody: (request: FastifyRequest, error: ApiError) => unknown;
}

/** Adds the request fields that {@link injectFaults} and {@link logRequests} use. */
export function decorateRequests(app: FastifyInstance): void {
  app.decorateRequest('fault', null);
  app.decorateRequest('rawBody', null);
}

/**
 * Injects faults before authentication and validation, as in a real outage. With `status`, `retryAfter` or `drop:
 * "before"`, the request has no effect. With any other fault it takes effect, and a hook then changes or drops the
 * response.
 */
export function injectFaults(app: FastifyInstance, { faults, isApi, errorBody }: Traffic): void {
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  // This hook runs after parsing, so that the log also contains the bodies of failed requests.
  app.addHook('preValidation', async (request, reply) => {
    const path = pathOf(request);
    if (!isApi(path)) return;
    const fault = faults.take(request.method, path);
    if (fault === undefined) return;
    request.fault = fault;
    const isClosed = fault.delayMs !== undefined && !(await waitsFully(fault.delayMs, closing.signal));
    // The server stopped during the delay, so it closes the connection.
    if (isClosed) request.fault = { ...fault, drop: 'before' };
    if (fault.retryAfter !== undefined) reply.header('retry-after', String(fault.retryAfter));
    const status = fault.status ?? (fault.retryAfter === undefined ? undefined : 429);
    if (request.fault.drop !== 'before' && status === undefined) return;
    const message = 'this response is a fault set through /_simulator/faults';
    const body = fault.body ?? errorBody(request, new ApiError(status ?? 0, 'fault', message));
    return sendFault(reply.status(status ?? 500), body);
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const { fault } = request;
    if (fault === null) return payload;
    const isBodyReplaced =
      fault.status === undefined && fault.retryAfter === undefined && fault.body !== undefined;
    if (!isBodyReplaced || fault.drop === 'before') return payload;
    reply.removeHeader('content-length');
    reply.type(faultType(fault.body));
    return faultText(fault.body);
  });
}

/** Waits for `delayMs`. Returns false if the signal ended the wait. */
const waitsFully = (delayMs: number, signal: AbortSignal) =>
  delay(delayMs, true, { signal }).catch(() => false);

const sendFault = (reply: FastifyReply, body: unknown) => reply.type(faultType(body)).send(faultText(body));
/** Returns the content type of a fault's body. A string imitates the HTML page of a proxy. */
const faultType = (body: unknown) => (typeof body === 'string' ? 'text/html; charset=utf-8' : JSON_TYPE);
const faultText = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body));

/** Records a request before its response is sent, so that the client always finds it in the log. */
export function logRequests(app: FastifyInstance, { log, clock, isApi }: Traffic): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const path = pathOf(request);
    if (!isApi(path)) return payload;
    const drop = request.fault?.drop;
    const { method, url } = request;
    const at = new Date(clock()).toISOString();
    const status = drop === 'before' ? 0 : reply.statusCode;
    const query = url.slice(path.length + 1);
    const dropped = drop === undefined ? {} : { dropped: drop };
    log.record({ method, path, query, status, at, ...dropped }, request.rawBody ?? undefined);
    if (drop !== undefined) request.raw.socket.destroy();
    return payload;
  });
}
