import type { CredentialChecks } from '../../contract/platform-reply.ts';
import type { ClaimStore } from './claims.ts';
import type {
  Connection,
  ConnectionStore,
  Connections,
  CurrentConnections,
  GateStore,
  HealthStore,
} from './connections.ts';
import type { ConsoleSessions } from './console-sessions.ts';
import type { Decisions } from './decisions.ts';
import type { Deployment, Functions } from './deployment.ts';
import type { DesiredStore, UserStore } from './desired.ts';
import type { DirectoryApplicants, ReaderStore } from './directory.ts';
import type { Eraser } from './eraser.ts';
import type { GroupIndex } from './group-index.ts';
import type { GroupStore } from './groups.ts';
import type { GuardStore } from './guard.ts';
import type { AuditLog, Caller, DriftLog } from './logs.ts';
import type { NoticeStore } from './notices.ts';
import type { PeopleStore } from './people.ts';
import type { Applicants, Platforms } from './platform.ts';
import type { ApplyQueue, DeadLetterQueue, EventSender, Mailbox } from './queues.ts';
import type { FeedStore, Leases } from './reconcile.ts';
import type { ScimStore, ScimTokenStore } from './scim.ts';
import type { CredentialVault } from './secrets.ts';
import type { SourceStore } from './sources.ts';

/** All ports of the use cases. Each use case takes a part of these ports. */
export interface Ports {
  readonly groups: GroupStore;
  readonly users: UserStore;
  readonly people: PeopleStore;
  readonly desired: DesiredStore;
  readonly claims: ClaimStore;
  readonly guard: GuardStore;
  readonly gates: GateStore;
  readonly index: GroupIndex;
  readonly audit: AuditLog;
  readonly drift: DriftLog;
  readonly feed: FeedStore;
  readonly leases: Leases;
  readonly health: HealthStore;
  readonly notices: NoticeStore;
  readonly sources: SourceStore;
  readonly connections: ConnectionStore;
  readonly scim: ScimStore;
  readonly eraser: Eraser;
  /** The stored state of the directory reader and of its groups. */
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
  readonly caller: Caller;
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
    readonly connections: Connections & Pick<CurrentConnections, 'current'>;
  };

export type ApplyPorts = Omit<PeoplePorts, keyof WakePorts | 'index'> &
  Pick<
    Ports,
    'applyQueue' | 'clock' | 'coalesceMs' | 'claims' | 'guard' | 'drift' | 'deadLetters' | 'createSettleMs'
  > & {
    readonly index: Pick<GroupIndex, 'all'>;
    readonly connections: Connections & CurrentConnections;
  };

export type ToolPorts = Omit<Ports, 'leases' | 'feed'> & {
  readonly feed: Pick<FeedStore, 'read'>;
  readonly sessions: ConsoleSessions;
};
