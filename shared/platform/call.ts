import type * as z from 'zod';
import type { Decoding } from './decode.ts';
import { InvalidRequestError } from './errors.ts';
import type { RetryMethod } from './retry.ts';

/** A method and a path as the specification writes it; `{names}` stand for identifiers. */
export interface Endpoint {
  readonly method: RetryMethod;
  readonly path: string;
}

export type QueryValue = string | number | boolean | undefined;

/**
 * Fills the path's `{names}` and adds the query. Every identifier is percent-encoded as one segment, so that no id can
 * point at another resource.
 * @throws TypeError if an id is missing, empty, `.`, `..`, or no well-formed Unicode.
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
  if (typeof id !== 'string' || id === '') throw new TypeError(`${name}: expected an id that is not empty`);
  // A dot segment survives percent-encoding, and the next component that handles the URL resolves it (RFC 3986 5.2.4).
  if (id === '.' || id === '..') throw new TypeError(`${name}: "." and ".." cannot be an id in a path`);
  try {
    return encodeURIComponent(id);
  } catch {
    throw new TypeError(`${name}: expected well-formed Unicode`);
  }
}

/** What every method of the client accepts besides its own arguments. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Instant (milliseconds since 1970) by which the call ends, retries and waits included. */
  readonly deadlineMs?: number | undefined;
  /** Limit of one try, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Tries at most; default: the client's. */
  readonly maxAttempts?: number | undefined;
  /** Told of each try. */
  readonly onTry?: (() => void) | undefined;
}

interface RequestBody {
  readonly schema: z.ZodType;
  readonly value: unknown;
  /** Rewrites the JSON before it is sent. */
  readonly finish?: (json: string) => string;
}

/** One call of one endpoint. */
export interface Call<T> {
  readonly endpoint: Endpoint;
  readonly ids?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, QueryValue>>;
  /** What is sent, and the schema that it must pass first: nothing is sent that the specification does not allow. */
  readonly body?: RequestBody;
  readonly decoding: Decoding<T>;
  /** True if a slow answer is asked for again in smaller pieces by the caller, not as it is by us. */
  readonly canShrink?: boolean;
}

export type Caller = <T>(call: Call<T>, options?: CallOptions) => Promise<T>;

/** Told after each try; for logs and metrics. Never holds an id, a body or a token. */
export interface AttemptFacts {
  readonly method: string;
  readonly pathTemplate: string;
  /** From 1. */
  readonly attempt: number;
  readonly durationMs: number;
  readonly status?: number | undefined;
  /** The error's class where it failed. */
  readonly error?: string | undefined;
  /** Set where another try follows after this wait. */
  readonly waitMs?: number | undefined;
  /** Optional fields that were left out because their form is not the specified one. */
  readonly ignoredFields?: readonly string[] | undefined;
}

/** Path and query of a call. @throws InvalidRequestError if an id cannot stand in a path. */
export function checkedTarget<T>({ endpoint, ids, query }: Call<T>): string {
  try {
    return targetOf(endpoint, ids, query);
  } catch (thrown) {
    throw invalid(endpoint, thrown instanceof Error ? thrown.message : 'no valid path');
  }
}

/** The body as it is sent, or none. @throws InvalidRequestError naming the field. */
export function checkedBody<T>({ endpoint, body }: Call<T>): string | undefined {
  if (body === undefined) return undefined;
  const json = JSON.stringify(checked(body.schema, body.value, endpoint));
  return body.finish === undefined ? json : body.finish(json);
}

/** Checks what is about to be sent. @throws InvalidRequestError naming the field. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, endpoint: Endpoint): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw invalid(endpoint, `${issue?.path.join('.') || 'argument'}: ${issue?.message ?? 'not as specified'}`);
}

function invalid(endpoint: Endpoint, what: string): InvalidRequestError {
  return new InvalidRequestError(what, { method: endpoint.method, pathTemplate: endpoint.path, sent: 'no' });
}
