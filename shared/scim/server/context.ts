import type { ConnectionSettings } from '../../contract/settings.ts';
import type { EventActor } from '../../domain/event.ts';
import type { ConnectionName, GroupId } from '../../domain/ids.ts';
import type { StorePorts } from '../../sync/ingest/store-fold.ts';
import type { Ports } from '../../sync/ports/bundles.ts';
import { badRequest, errorBody, type ScimError } from '../protocol/errors.ts';
import type { ResourceTypes } from '../protocol/resource-type.ts';
import { isObject, type ScimObject, type ScimValue } from '../protocol/value.ts';

/** The ports of the SCIM server. They include the ports of ingest. */
export type DirectoryPorts = StorePorts & Pick<Ports, 'scim' | 'groups' | 'reader' | 'newId'>;

/** The ids in a member list that belong to no user or group. A provider sends them if its references are outdated. */
export interface StaleMembers {
  readonly group: GroupId;
  /** The ids of deleted users and deleted nested groups. The SCIM server ignores them. */
  readonly deleted: readonly string[];
  /** The ids that no user ever had. The group lists each of them without an address, as a pending member. */
  readonly unknown: readonly string[];
}

/** The context of one request. No data of a connection is cached between requests. */
export interface ScimContext {
  readonly ports: DirectoryPorts;
  readonly connection: ConnectionName;
  readonly settings: ConnectionSettings;
  /** Rejects if the token is no longer valid. Each write waits for this promise first. */
  readonly admitted: Promise<unknown>;
  /** The token of the request. It is the author of the request's events. */
  readonly actor: EventActor;
  readonly types: ResourceTypes;
  /** The base URL of the endpoint, without a trailing slash: `https://…/scim/v2`. */
  readonly baseUrl: string;
  readonly noteStale: (stale: StaleMembers) => void;
}

/** One SCIM request, from API Gateway or a local listener. */
export interface ScimRequest {
  readonly method: string;
  /** The path below the base URL, not decoded: `/Users/2819c223`. */
  readonly path: string;
  readonly query: ScimObject;
  /** The headers, with names in lower case. */
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
