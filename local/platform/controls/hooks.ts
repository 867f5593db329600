import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { errorBody, JSON_TYPE, pathOf } from '../error-answers.ts';
import { ApiError } from '../errors.ts';
import type { Controls } from './endpoints.ts';

/** Only what is under this is the platform: the page, the document and the controls have no faults and no log. */
const PLATFORM = '/platform/';

/**
 * Faults come before authentication and validation, as an outage does. `drop: "after"` and a `body` without a status
 * let the work happen and spoil only the answer; their other half is in the onSend hook.
 */
export function injectFaults(app: FastifyInstance, { faults }: Controls): void {
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  // After parsing, so that the log has the bodies of failed requests too.
  app.addHook('preValidation', async (request, reply) => {
    const path = pathOf(request);
    if (!path.startsWith(PLATFORM)) return;
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
export function logRequests(app: FastifyInstance, { log, simulation }: Controls): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const path = pathOf(request);
    if (!path.startsWith(PLATFORM)) return payload;
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
