import type * as z from 'zod';
import type { Decoding } from './decode.ts';
import type { Endpoint, QueryValue } from './endpoint.ts';

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

/** One call of one endpoint. */
export interface Call<T> {
  readonly endpoint: Endpoint;
  readonly ids?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, QueryValue>>;
  /** What is sent, and the schema that it must pass first: nothing is sent that the specification does not allow. */
  readonly body?: { readonly schema: z.ZodType; readonly value: unknown };
  readonly decoding: Decoding<T>;
  /** True where a slow answer is asked for again in smaller pieces by the caller, not as it is by us. */
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
