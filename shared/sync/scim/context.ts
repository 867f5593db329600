import type { ConnectionSettings } from '../../contract/settings.ts';
import type { EventActor } from '../../domain/event.ts';
import type { ConnectionName, GroupId } from '../../domain/ids.ts';
import { badRequest, errorBody, type ScimError } from '../../scim/errors.ts';
import type { ResourceTypes } from '../../scim/resource-type.ts';
import { isObject, type ScimObject, type ScimValue } from '../../scim/value.ts';
import type { StorePorts } from '../ingest/store-fold.ts';
import type { Ports } from '../ports/bundles.ts';

/** The ports of the SCIM server: the ports of ingest, and a few others. */
export type DirectoryPorts = StorePorts & Pick<Ports, 'scim' | 'groups' | 'reader' | 'newId'>;

/** Members in a request that are not users, because the provider's references are outdated. */
export interface StaleMembers {
  readonly group: GroupId;
  /** Users that were deleted. They are ignored. */
  readonly deleted: readonly string[];
  /** Ids that no user ever had. The group lists them without an address, and they are pending members. */
  readonly unknown: readonly string[];
}

/** Context of one request. Nothing about a connection is cached between requests. */
export interface ScimContext {
  readonly ports: DirectoryPorts;
  readonly connection: ConnectionName;
  readonly settings: ConnectionSettings;
  /** Rejects if the token is not valid any more. It is awaited before any write. */
  readonly admitted: Promise<unknown>;
  /** The token of the request, which is the author of its events. */
  readonly actor: EventActor;
  readonly types: ResourceTypes;
  /** Base URL of the endpoint, without a trailing slash: `https://…/scim/v2`. */
  readonly baseUrl: string;
  /** Records members of the request that are not users, for log and metrics. */
  readonly noteStale: (stale: StaleMembers) => void;
  /** Converts an error to a reply. An internal error is also kept for the log. */
  readonly answerError: (error: unknown) => ScimReply;
}

/** One SCIM request: from API Gateway, a local listener, or an operation of a bulk request. */
export interface ScimRequest {
  readonly method: string;
  /** Path below the base URL, not decoded: `/Users/2819c223`. */
  readonly path: string;
  readonly query: ScimObject;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: ScimValue | undefined;
}

export interface ScimReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
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

/** @throws ScimError invalidSyntax if the body is not an object */
export function objectBody({ body }: ScimRequest): ScimObject {
  if (!isObject(body)) throw badRequest('invalidSyntax', 'expected a JSON object as the body');
  return body;
}

export const errorReply = (error: ScimError): ScimReply => ({
  status: error.status,
  headers: error.headers,
  body: errorBody(error),
});
