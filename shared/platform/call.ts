import type * as z from 'zod';
import type { CallOutcome } from '../sync/ports/platform.ts';
import type { Decoding } from './decode.ts';
import { InvalidRequestError } from './errors.ts';
import type { ListLimits } from './list-stream.ts';
import type { RetryMethod } from './retry.ts';

/** A method and a path template of the specification. `{name}` in the path stands for an identifier. */
export interface Endpoint {
  readonly method: RetryMethod;
  readonly path: string;
}

export type QueryValue = string | number | boolean | undefined;

/**
 * Replaces each `{name}` in the path by its identifier, and adds the query. Each identifier is percent-encoded as one
 * path segment, so it cannot change which resource the path names.
 * @throws TypeError if an identifier is missing, empty, `.`, `..`, or not well-formed Unicode
 */
export function targetOf(
  endpoint: Endpoint,
  ids: Readonly<Record<string, string>> = {},
  query: Readonly<Record<string, QueryValue>> = {},
): string {
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => segment(name, ids[name]));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.append(name, String(value));
  }
  return search.size === 0 ? path : `${path}?${search}`;
}

function segment(name: string, id: string | undefined): string {
  if (typeof id !== 'string' || id === '') throw new TypeError(`${name}: expected a non-empty id`);
  // Percent-encoding does not change "." and "..". A proxy or server would resolve them (RFC 3986, 5.2.4).
  if (id === '.' || id === '..') throw new TypeError(`${name}: "." and ".." cannot be an id in a path`);
  try {
    return encodeURIComponent(id);
  } catch {
    throw new TypeError(`${name}: expected well-formed Unicode`);
  }
}

export interface Limits {
  /** The time limit of one attempt, in milliseconds. Default 10,000. */
  readonly timeoutMs: number;
  /** The time limit of a call without a deadline, in milliseconds. It includes all waits. Default 60,000. */
  readonly patienceMs: number;
  /** The maximum number of attempts of one call. Default 4. */
  readonly maxAttempts: number;
  /** The maximum number of concurrent calls, and of connections. Default 8. */
  readonly concurrency: number;
  /** The maximum size of another response body after decompression, in bytes. Default 64 MiB. */
  readonly maxBodyBytes: number;
  readonly list: ListLimits;
}

/** The options that every method of the client accepts. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** The time (milliseconds since 1970) at which the call must end, including all its attempts and waits. */
  readonly deadlineMs?: number | undefined;
  /** The time limit of one attempt, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** The maximum number of attempts. Default: the client's setting. */
  readonly maxAttempts?: number | undefined;
  /** Called before each attempt. */
  readonly onTry?: (() => void) | undefined;
}

interface RequestBody {
  readonly schema: z.ZodType;
  readonly value: unknown;
  /** Rewrites the JSON before it is sent. */
  readonly finish?: (json: string) => string;
}

export interface Call<T> {
  readonly endpoint: Endpoint;
  readonly ids?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, QueryValue>>;
  /** The value to send, and its schema. A value that does not match the schema is not sent. */
  readonly body?: RequestBody;
  readonly decoding: Decoding<T>;
  /**
   * Takes each element of a list while it arrives. The list is complete only when the call succeeds. A list that began
   * to arrive is not read again in the same call.
   */
  readonly visit?: (element: unknown, at: number) => void;
  /**
   * True if the caller repeats a request that was too slow, with a smaller page. Then the client does not repeat it.
   */
  readonly canShrink?: boolean;
}

export type Caller = <T>(call: Call<T>, options?: CallOptions) => Promise<T>;

/** Facts about one attempt, for logs and metrics. They never contain an id, a body or a token. */
export interface AttemptFacts {
  readonly method: string;
  readonly pathTemplate: string;
  /** The first attempt is 1. */
  readonly attempt: number;
  readonly durationMs: number;
  readonly status?: number | undefined;
  readonly error?: string | undefined;
  /** The wait before the next attempt, in milliseconds; undefined if this attempt is the last one. */
  readonly waitMs?: number | undefined;
  /** The paths of malformed parts of the response that were dropped. */
  readonly ignoredFields?: readonly string[] | undefined;
}

/** Returns the path and query of a call. @throws InvalidRequestError if an id cannot be part of a path */
export function checkedTarget<T>({ endpoint, ids, query }: Call<T>): string {
  try {
    return targetOf(endpoint, ids, query);
  } catch (thrown) {
    throw invalid(endpoint, thrown instanceof Error ? thrown.message : 'no valid path');
  }
}

/** Returns the body as JSON; undefined if the call has no body. @throws InvalidRequestError that names the field */
export function checkedBody<T>({ endpoint, body }: Call<T>): string | undefined {
  if (body === undefined) return undefined;
  const json = JSON.stringify(checked(body.schema, body.value, endpoint));
  return body.finish === undefined ? json : body.finish(json);
}

/** Checks a value before it is sent. @throws InvalidRequestError with the name of the field */
export function checked<T>(schema: z.ZodType<T>, value: unknown, endpoint: Endpoint): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw invalid(endpoint, `${issue?.path.join('.') || 'argument'}: ${issue?.message ?? 'not as specified'}`);
}

function invalid(endpoint: Endpoint, what: string): InvalidRequestError {
  return new InvalidRequestError(what, { method: endpoint.method, pathTemplate: endpoint.path, sent: 'no' });
}

/** The statuses from 400 to 499 that count as failed calls. */
const FAILURES: ReadonlySet<number> = new Set([401, 402, 403, 408, 429]);

/**
 * Returns the outcome of a call after its last attempt. The other statuses from 400 to 499, such as 404 or 409, count
 * as a success, because they show that the platform works.
 * @returns undefined if another attempt follows, or if the caller ended the call
 */
export function outcomeOf(facts: AttemptFacts): CallOutcome | undefined {
  const { method, pathTemplate, status, error, waitMs } = facts;
  if (waitMs !== undefined || error === 'AbortedError') return undefined;
  const endpoint = `${method} ${pathTemplate}`;
  if (error === undefined) return { endpoint, failure: undefined };
  if (status === undefined) return { endpoint, failure: error };
  if (status < 300) return { endpoint, failure: error };
  const isFailed = status < 400 || status >= 500 || FAILURES.has(status);
  return { endpoint, failure: isFailed ? String(status) : undefined };
}
