import type { ClaimStore } from './claims.ts';
import type {
  ConnectionStore,
  Connections,
  CurrentConnections,
  GateStore,
  HealthStore,
} from './connections.ts';
import type { Deployment, Functions } from './deployment.ts';
import type { DesiredStore, UserStore } from './desired.ts';
import type { GroupIndex } from './group-index.ts';
import type { GroupStore } from './groups.ts';
import type { GuardStore } from './guard.ts';
import type { AuditLog, Caller, DriftLog } from './logs.ts';
import type { PeopleStore } from './people.ts';
import type { Applicants, Platforms } from './platform.ts';
import type { ApplyQueue, DeadLetterQueue, EventSender, Mailbox } from './queues.ts';
import type { FeedStore, Leases } from './reconcile.ts';
import type { ScimStore, ScimTokenStore } from './scim.ts';
import type { CredentialVault } from './secrets.ts';

/* What more than one room takes of the ports together; what a single use case takes stands beside it. */

export interface WakePorts {
  readonly desired: Pick<DesiredStore, 'markDirty'>;
  readonly applyQueue: ApplyQueue;
  readonly clock: () => number;
  readonly coalesceMs: number;
}

export interface PeoplePorts extends WakePorts {
  readonly people: PeopleStore;
  readonly users: UserStore;
  readonly groups: GroupStore;
  readonly index: GroupIndex;
  readonly platforms: Platforms;
  readonly gates: GateStore;
  readonly audit: AuditLog;
  readonly newId: () => string;
  readonly random: () => number;
}

export interface ReconcilePorts extends PeoplePorts {
  readonly claims: ClaimStore;
  readonly connections: Connections;
  readonly drift: DriftLog;
  readonly feed: FeedStore;
  readonly leases: Leases;
  readonly createSettleMs: number;
}

export interface ApplyPorts {
  readonly groups: GroupStore;
  readonly users: UserStore;
  readonly people: PeopleStore;
  readonly claims: ClaimStore;
  readonly guard: GuardStore;
  readonly gates: GateStore;
  readonly index: Pick<GroupIndex, 'all'>;
  readonly audit: AuditLog;
  readonly drift: DriftLog;
  readonly connections: Connections & CurrentConnections;
  readonly platforms: Platforms;
  readonly applyQueue: ApplyQueue;
  readonly deadLetters: DeadLetterQueue;
  readonly clock: () => number;
  /** Ids of intents; they sort by time, so that audit entries of one instant keep their order. */
  readonly newId: () => string;
  /** A number from 0 up to 1, for jitter. */
  readonly random: () => number;
  /** How long the platform may take to show a group that it has created. */
  readonly createSettleMs: number;
}

export interface ToolPorts extends ApplyPorts, WakePorts {
  readonly desired: DesiredStore;
  readonly connections: ConnectionStore;
  readonly index: GroupIndex;
  readonly mailboxes: Readonly<Record<'events' | 'apply', Mailbox>>;
  readonly events: EventSender;
  readonly vault: CredentialVault;
  readonly functions: Functions;
  readonly deployment: Deployment;
  readonly caller: Caller;
  readonly applicants: Applicants;
  readonly feed: Pick<FeedStore, 'read'>;
  readonly health: HealthStore;
  readonly scim: ScimStore;
  readonly tokens: ScimTokenStore;
  /** That many random bytes, as hex. */
  readonly randomHex: (bytes: number) => string;
  /** @throws AbortError where the signal fires */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}
