import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { View } from './directory.ts';
import type { LagKind } from './settings.ts';
import type { Simulation } from './simulation.ts';

/** An answer that is not a success, already in the dialect's form. A body that is a string is sent as HTML. */
export class DirectoryError extends Error {
  override readonly name = 'DirectoryError';
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    super(`answers ${status}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** One request whose parameters have the endpoint's shape. */
export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly headers: IncomingHttpHeaders;
  /** The directory as this endpoint shows it: as of now, minus the lag of this request. */
  readonly view: View;
  /** Differs for each request, in the order of their arrival. */
  readonly requestNumber: number;
}

/** One row of a dialect's table. */
export interface Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
> {
  readonly method: 'GET' | 'POST';
  /** With Fastify's `:name` for parameters. */
  readonly path: string;
  /** The vendor's name of the method. */
  readonly operation: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** Which lag of the settings its answers have; left out: none. */
  readonly lag?: LagKind;
  /** OAuth scopes of which one is enough; left out: the endpoint takes no access token. */
  readonly scopes?: readonly string[];
  /** Returns the JSON of the answer. @throws {DirectoryError} for every other answer */
  handle(call: Call<z.infer<Params>, z.infer<Query>, z.infer<Body>>): unknown;
}

/** Types the handler's call after the schemas next to it. */
export function endpoint<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  description: Endpoint<P, Q, B>,
): Endpoint {
  return description as unknown as Endpoint;
}

/** A control that only one dialect has: `POST /_simulator/{name}`. */
export interface DialectControl {
  readonly name: string;
  readonly body: z.ZodType;
  handle(body: unknown): unknown;
}

/** One vendor's API over the directory. */
export interface Dialect {
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
  readonly controls: readonly DialectControl[];
  /** Errors that a fault may ask for by name. */
  readonly errors: Readonly<Record<string, () => DirectoryError>>;
  /** Names of the errors that the setting `failures` draws from. */
  readonly randomFailures: readonly string[];
  /** Checks sign-in, scopes and quota. @throws {DirectoryError} */
  admit(endpoint: Endpoint, headers: IncomingHttpHeaders): void;
  invalidInput(message: string): DirectoryError;
  noSuchEndpoint(): DirectoryError;
  /** What a person needs to sign in, one line each. */
  describeCredentials(url: string): readonly string[];
  /** Forgets what was issued; keys stay, so that clients can sign in again. */
  reset(): void;
}

export type OpenDialect = (simulation: Simulation) => Dialect;
