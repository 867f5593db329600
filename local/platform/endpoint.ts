import type { z } from 'zod';
import type { Settings } from './controls/settings.ts';
import type { NewId } from './state/from-world.ts';
import type { CompanyState, Credential } from './state/state.ts';
import type { Store } from './state/store.ts';

/** What every endpoint works with. `clock` gives milliseconds since 1970. */
export interface Simulation {
  readonly store: Store;
  readonly settings: () => Settings;
  readonly clock: () => number;
  readonly newId: NewId;
}

/** One authenticated request whose parameters have the endpoint's shape. */
export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly credential: Credential;
  readonly company: CompanyState;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly simulation: Simulation;
}

/** One row of the specification's endpoint tables: what routes, validates and documents it. */
export interface Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With Fastify's `:name` for parameters. */
  readonly path: string;
  readonly operationId: string;
  readonly area: string;
  readonly summary: string;
  readonly description?: string;
  /** Refused with 403 to customer API keys. */
  readonly oauthOnly?: true;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly response: z.ZodType;
  /** The status of a successful answer; default: 200. */
  readonly status?: (settings: Settings) => number;
  /** Returns the JSON of the answer. @throws {ApiError} for every other answer */
  handle(call: Call<z.infer<Params>, z.infer<Query>, z.infer<Body>>): unknown;
}

/** Types the handler's call after the schemas beside it. */
export function endpoint<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  description: Endpoint<P, Q, B>,
): Endpoint {
  return description as unknown as Endpoint;
}
