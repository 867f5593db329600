import type { ConnectionSettings } from '../../contract/settings.ts';
import type { EventActor } from '../../domain/event.ts';
import type { ConnectionName, GroupId } from '../../domain/ids.ts';
import { badRequest, errorBody, type ScimError } from '../../scim/errors.ts';
import type { ResourceTypes } from '../../scim/resource-type.ts';
import { isObject, type ScimObject, type ScimValue } from '../../scim/value.ts';
import type { StorePorts } from '../ingest/store-fold.ts';
import type { Ports } from '../ports/bundles.ts';

/** The ports of the SCIM server in addition to those of ingest. */
export type DirectoryPorts = StorePorts & Pick<Ports, 'scim' | 'groups' | 'reader' | 'newId'>;

/** Members that a request named and that are no users: the provider's references to them are stale. */
export interface StaleMembers {
  readonly group: GroupId;
  /** They were deleted: the request ignores them. */
  readonly deleted: readonly string[];
  /** They never existed: they are listed without an address, and stay pending. */
  readonly unknown: readonly string[];
}

/** One request's surroundings. Nothing of a connection is kept between requests. */
export interface ScimContext {
  readonly ports: DirectoryPorts;
  readonly connection: ConnectionName;
  readonly settings: ConnectionSettings;
  /** Waited for before anything is written; rejects where the token is not good any more. */
  readonly admitted: Promise<unknown>;
  /** The token of the request, as the record names it. */
  readonly actor: EventActor;
  readonly types: ResourceTypes;
  /** Of the endpoint, without a slash at its end: `https://…/scim/v2`. */
  readonly baseUrl: string;
  /** Notes members that the request named and that are no users, for log and metrics. */
  readonly noteStale: (stale: StaleMembers) => void;
  /** What went wrong, as the client is told; what was ours is noted for the log. */
  readonly answerError: (error: unknown) => ScimReply;
}

/** One HTTP request, whatever brought it: API Gateway, a local listener, a line of a bulk request. */
export interface ScimRequest {
  readonly method: string;
  /** Below the base URL, decoded in no way: `/Users/2819c223`. */
  readonly path: string;
  readonly query: ScimObject;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: ScimValue | undefined;
}

export interface ScimReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** undefined: the answer has no body. */
  readonly body: ScimObject | undefined;
}

export const ok = (body: ScimObject, headers: Readonly<Record<string, string>> = {}): ScimReply => ({
  status: 200,
  headers,
  body,
});

export const noContent = (headers: Readonly<Record<string, string>> = {}): ScimReply => ({
  status: 204,
  headers,
  body: undefined,
});

/** @throws ScimError invalidSyntax where the request has no object as its body */
export function objectBody({ body }: ScimRequest): ScimObject {
  if (!isObject(body)) throw badRequest('invalidSyntax', 'expected a JSON object as the body');
  return body;
}

export const errorReply = (error: ScimError): ScimReply => ({
  status: error.status,
  headers: error.headers,
  body: errorBody(error),
});
