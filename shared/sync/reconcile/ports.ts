import type { PeoplePorts } from '../people.ts';
import type { ClaimStore } from '../ports/claims.ts';
import type { Connections } from '../ports/connections.ts';
import type { DriftLog } from '../ports/drift.ts';
import type { GroupStore } from '../ports/groups.ts';
import type { GroupIndex } from '../ports/index.ts';
import type { Platforms } from '../ports/platform.ts';
import type { FeedStore, Leases } from '../ports/reconcile.ts';

export interface ReconcilePorts extends PeoplePorts {
  readonly groups: GroupStore;
  readonly index: GroupIndex;
  readonly claims: ClaimStore;
  readonly connections: Connections;
  readonly platforms: Platforms;
  readonly drift: DriftLog;
  readonly feed: FeedStore;
  readonly leases: Leases;
}
