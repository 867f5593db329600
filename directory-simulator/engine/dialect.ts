import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { ChangeRules } from './apply-change.ts';
import type { View } from './directory.ts';
import type { LagKind } from './settings.ts';
import type { Simulation } from './simulation.ts';

/** Headers of an answer. A list of values is sent as one header line for each value. */
export type AnswerHeaders = Readonly<Record<string, string | string[]>>;

/** A successful answer with headers. For an answer without headers, the handler returns only the JSON. */
export class Answer {
  readonly body: unknown;
  readonly headers: AnswerHeaders;

  constructor(body: unknown, headers: AnswerHeaders) {
    this.body = body;
    this.headers = headers;
  }
}

/** An error answer in the form of the dialect. If the body is a string, it is sent as HTML. */
export class DirectoryError extends Error {
  override readonly name = 'DirectoryError';
  readonly status: number;
  readonly body: unknown;
  readonly headers: AnswerHeaders;

  constructor(status: number, body: unknown, headers: AnswerHeaders = {}) {
    super(`answers ${status}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** One request with validated parameters. */
export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly headers: IncomingHttpHeaders;
  /**
   * The address of the request, with the host that the client named. It is empty if the caller of `answerOf` gave no
   * address.
   */
  readonly url: string;
  /** The state of the directory at the time of the request minus the lag of the request. */
  readonly view: View;
  /** The number of the request, in the order of arrival. */
  readonly requestNumber: number;
}

export interface Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
> {
  readonly method: 'GET' | 'POST';
  /** The path, with parameters in Fastify's form `:name`. */
  readonly path: string;
  /** The name of the method in the documentation of the vendor. */
  readonly operation: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** The setting for the lag of the answers; undefined means no lag. */
  readonly lag?: LagKind;
  /**
   * The OAuth scopes of the method. A token needs one of these scopes. undefined means that the endpoint needs no
   * access token.
   */
  readonly scopes?: readonly string[];
  /** Returns the JSON of the answer, or an {@link Answer}. @throws {DirectoryError} for an error answer */
  handle(call: Call<z.infer<Params>, z.infer<Query>, z.infer<Body>>): unknown;
}

/** Returns the description unchanged. The handler's types follow from the schemas in the description. */
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

/** One vendor's API for the directory. */
export interface Dialect {
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
  readonly controls: readonly DialectControl[];
  /** The errors that a fault can name. */
  readonly errors: Readonly<Record<string, () => DirectoryError>>;
  /** The names of the errors that the setting `failures` causes. */
  readonly randomFailures: readonly string[];
  /** The vendor's rules for changes. By default, a group cannot contain itself, and a deletion ends memberships. */
  readonly changeRules?: ChangeRules;
  /** Checks sign-in, scopes and quota. `url` is the address of the request. @throws {DirectoryError} */
  admit(endpoint: Endpoint, headers: IncomingHttpHeaders, url: string): void;
  /** Returns the headers that every answer of an endpoint has, including errors and faults. */
  answerHeaders?(endpoint: Endpoint, status: number): AnswerHeaders;
  invalidInput(message: string): DirectoryError;
  noSuchEndpoint(): DirectoryError;
  /** Returns the credentials that a client needs, one line for each value. */
  describeCredentials(url: string): readonly string[];
  /** Deletes the issued tokens and restores the configuration. The keys stay, so that clients can sign in again. */
  reset(): void;
}

export type OpenDialect = (simulation: Simulation) => Dialect;
