import type { CredentialChecks } from '../../contract/platform-reply.ts';
import type { DirectoryApplicants } from '../../directory/ports.ts';
import type { createReaderStore } from '../../directory/store/reader-store.ts';
import type { createScimStore } from '../../scim/store/scim-store.ts';
import type { createScimTokenStore } from '../../scim/store/scim-token-store.ts';
import type { createClaimStore } from '../../store/claim-store.ts';
import type {
  createFeedStore,
  createGateStore,
  createHealthStore,
  createLeases,
  createNoticeStore,
  createTrendStore,
} from '../../store/connection-states.ts';
import type { createConnectionStore } from '../../store/connection-store.ts';
import type { createConsoleSessionStore } from '../../store/console-session-store.ts';
import type { createDeliveryStore } from '../../store/delivery-store.ts';
import type { createDesiredStore } from '../../store/desired-store.ts';
import type { createEraser } from '../../store/eraser.ts';
import type { createGroupIndex } from '../../store/group-index.ts';
import type { createGroupStore } from '../../store/group-store.ts';
import type { createGuardStore } from '../../store/guard-store.ts';
import type { createAuditLog, createDriftLog } from '../../store/logs.ts';
import type { createPeopleStore } from '../../store/people-store.ts';
import type { createSourceStore } from '../../store/source-store.ts';
import type { createUserStore } from '../../store/user-store.ts';
import type { Connection } from './connections.ts';
import type { Decisions } from './decisions.ts';
import type { Deployment, Functions } from './deployment.ts';
import type { CallerIdentity } from './logs.ts';
import type { Applicants, Platforms } from './platform.ts';
import type { ApplyQueue, DeadLetterQueue, EventSender, Mailbox } from './queues.ts';
import type { CredentialVault } from './secrets.ts';

/* A port with one implementation has the type of its implementation, where its comments are. */
export type ConsoleSessions = ReturnType<typeof createConsoleSessionStore>;
type DesiredStore = ReturnType<typeof createDesiredStore>;
export type UserStore = ReturnType<typeof createUserStore>;
export type ReaderStore = ReturnType<typeof createReaderStore>;
export type GroupIndex = ReturnType<typeof createGroupIndex>;
export type AuditLog = ReturnType<typeof createAuditLog>;
export type DriftLog = ReturnType<typeof createDriftLog>;
export type NoticeStore = ReturnType<typeof createNoticeStore>;
export type HealthStore = ReturnType<typeof createHealthStore>;
export type Leases = ReturnType<typeof createLeases>;
type FeedStore = ReturnType<typeof createFeedStore>;
export type ScimTokenStore = ReturnType<typeof createScimTokenStore>;
export type ScimStore = ReturnType<typeof createScimStore>;

export type GateStore = ReturnType<typeof createGateStore>;

export type ConnectionStore = ReturnType<typeof createConnectionStore>;

export type GroupStore = ReturnType<typeof createGroupStore>;

export type PeopleStore = ReturnType<typeof createPeopleStore>;

/** All ports of the use cases. Each use case takes a part of these ports. */
export interface Ports {
  readonly groups: GroupStore;
  readonly users: UserStore;
  readonly people: PeopleStore;
  readonly desired: DesiredStore;
  readonly claims: ReturnType<typeof createClaimStore>;
  readonly guard: ReturnType<typeof createGuardStore>;
  readonly gates: GateStore;
  readonly index: GroupIndex;
  readonly audit: AuditLog;
  readonly drift: DriftLog;
  readonly deliveries: ReturnType<typeof createDeliveryStore>;
  readonly feed: FeedStore;
  readonly leases: Leases;
  readonly health: HealthStore;
  readonly notices: NoticeStore;
  readonly trends: ReturnType<typeof createTrendStore>;
  readonly sources: ReturnType<typeof createSourceStore>;
  readonly connections: ConnectionStore;
  readonly scim: ScimStore;
  readonly eraser: ReturnType<typeof createEraser>;
  readonly reader: ReaderStore;
  readonly tokens: ScimTokenStore;
  readonly platforms: Platforms;
  readonly applicants: Applicants;
  /** @throws PlatformFailure if the function `credential` cannot be called */
  readonly checkCredential: (connection: Connection) => Promise<CredentialChecks>;
  readonly directoryApplicants: DirectoryApplicants;
  readonly applyQueue: ApplyQueue;
  readonly deadLetters: DeadLetterQueue;
  readonly mailboxes: Readonly<Record<'events' | 'apply', Mailbox>>;
  readonly events: EventSender;
  readonly vault: CredentialVault;
  readonly functions: Functions;
  readonly decisions: Decisions;
  readonly deployment: Deployment;
  readonly caller: CallerIdentity;
  readonly clock: () => number;
  /** Returns a unique id. A later id sorts after each earlier id, so that a list by id is in the order of creation. */
  readonly newId: () => string;
  /** A number from 0 up to 1, for jitter. */
  readonly random: () => number;
  readonly randomHex: (bytes: number) => string;
  /** @throws AbortError if the signal fires */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly coalesceMs: number;
  /** The time that the platform may take to show a new group. */
  readonly createSettleMs: number;
}

export type WakePorts = Pick<Ports, 'applyQueue' | 'clock' | 'coalesceMs'> & {
  readonly desired: Pick<DesiredStore, 'markDirty' | 'renew' | 'groupsAround'>;
};

export type PeoplePorts = WakePorts &
  Pick<Ports, 'people' | 'users' | 'groups' | 'index' | 'platforms' | 'gates' | 'audit' | 'newId' | 'random'>;

export type ReconcilePorts = PeoplePorts &
  Pick<Ports, 'claims' | 'drift' | 'feed' | 'leases' | 'createSettleMs'> & {
    readonly connections: Pick<ConnectionStore, 'find' | 'list' | 'current'>;
  };

export type ApplyPorts = Omit<PeoplePorts, keyof WakePorts | 'index'> &
  Pick<
    Ports,
    'applyQueue' | 'clock' | 'coalesceMs' | 'claims' | 'guard' | 'drift' | 'deadLetters' | 'createSettleMs'
  > & {
    readonly index: Pick<GroupIndex, 'all'>;
    readonly connections: Pick<ConnectionStore, 'find' | 'list' | 'current'>;
  };

export type ToolPorts = Omit<Ports, 'leases' | 'feed'> & {
  readonly feed: Pick<FeedStore, 'read'>;
  readonly sessions: ConsoleSessions;
};
