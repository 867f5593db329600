import type { z } from 'zod';
import type { Settings } from './controls/settings.ts';
import type { NewId } from './state/from-world.ts';
import type { CompanyState, Credential } from './state/state.ts';
import type { Store } from './state/store.ts';

/** The state, settings and clock that all endpoints use. `clock` returns milliseconds since 1970. */
export interface Simulation {
  readonly store: Store;
  readonly settings: () => Settings;
  readonly clock: () => number;
  readonly newId: NewId;
}

export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly credential: Credential;
  readonly company: CompanyState;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly simulation: Simulation;
}

/** One endpoint of the specification, with its route, validation and documentation. */
export interface Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path, with parameters in Fastify's form `:name`. */
  readonly path: string;
  readonly operationId: string;
  readonly area: string;
  readonly summary: string;
  readonly description?: string;
  /** If true, customer API keys get 403. */
  readonly oauthOnly?: true;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly response: z.ZodType;
  /** Status of a successful response; the default is 200. */
  readonly status?: (settings: Settings) => number;
  /** Returns the JSON of a successful response. @throws {ApiError} for an error response */
  handle(call: Call<z.infer<Params>, z.infer<Query>, z.infer<Body>>): unknown;
}

/** Returns the endpoint unchanged. The types of `handle` follow from the endpoint's schemas. */
export function endpoint<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  description: Endpoint<P, Q, B>,
): Endpoint {
  return description as unknown as Endpoint;
}
