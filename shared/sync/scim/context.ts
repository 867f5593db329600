import type { EventActor } from '../../domain/event.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import type { ResourceTypes } from '../../scim/resource-type.ts';
import type { StorePorts } from '../ingest/store-fold.ts';
import type { GroupStore } from '../ports/groups.ts';
import type { ScimStore } from '../ports/scim.ts';
import type { ScimReply } from './exchange.ts';

/** What the server needs of the world beside what ingest needs. */
export interface DirectoryPorts extends StorePorts {
  readonly scim: ScimStore;
  readonly groups: Pick<GroupStore, 'read' | 'members'>;
  /** Unique; later ones sort after earlier ones, so that lists keep their order while they grow. */
  readonly newId: () => string;
}

/** One request's surroundings. Nothing of a connection is kept between requests. */
export interface ScimContext {
  readonly ports: DirectoryPorts;
  readonly connection: ConnectionName;
  /** The token of the request, as the record names it. */
  readonly actor: EventActor;
  readonly types: ResourceTypes;
  /** Of the endpoint, without a slash at its end: `https://…/scim/v2`. */
  readonly baseUrl: string;
  /** What went wrong, as the client is told; what was ours is noted for the log. */
  readonly answerError: (error: unknown) => ScimReply;
}
