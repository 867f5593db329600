import { setTimeout } from 'node:timers/promises';
import type { Limits } from '../shared/platform/call.ts';
import { createPlatformClient } from '../shared/platform/client.ts';
import { staticBearer } from '../shared/platform/credential.ts';

/* The client of all 25 endpoints of the Workforce Platform. The package exports this file as `groupsync/platform`. */

export type { CallOptions } from '../shared/platform/call.ts';
export {
  AbortedError,
  BadRequestError,
  ConflictError,
  ForbiddenError,
  InvalidRequestError,
  mayHaveTakenEffect,
  NetworkError,
  NotFoundError,
  PlatformError,
  RateLimitedError,
  ReportedError,
  ServerError,
  TimeoutError,
  UnauthorizedError,
  UnexpectedBodyError,
  UnexpectedStatusError,
} from '../shared/platform/errors.ts';

export interface ClientOptions extends Partial<Limits> {
  /** The platform's https URL, or an http URL of this machine. */
  readonly baseUrl: string;
  /** A customer API key or an access token. Errors and logs never contain it. */
  readonly token: string;
}

export type Client = ReturnType<typeof createClient>;

/**
 * Creates a client for one company. Every method checks what it sends, repeats a call that certainly had no effect, and
 * fails with a subclass of PlatformError. `close` ends the connections.
 * @throws TypeError if an option is not valid
 */
export const createClient = ({ token, ...options }: ClientOptions) =>
  createPlatformClient({
    ...options,
    credential: staticBearer(token),
    clock: Date.now,
    random: Math.random,
    sleep: (ms, signal) => setTimeout(ms, undefined, { signal }),
  });
