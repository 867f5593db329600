import type { CredentialChecks } from '../../contract/platform-reply.ts';
import type { DirectoryApplicants } from '../../directory/ports.ts';
import type { createReaderStore } from '../../directory/store/reader-store.ts';
import type { createScimStore } from '../../scim/store/scim-store.ts';
import type { createScimTokenStore } from '../../scim/store/scim-token-store.ts';
import type { createConnectionStore } from '../../store/connection-store.ts';
import type { createConsoleSessionStore } from '../../store/console-session-store.ts';
import type { createEraser } from '../../store/eraser.ts';
import type { storesOver } from '../../store/stores.ts';
import type { Connection } from './connections.ts';
import type { Decisions } from './decisions.ts';
import type { Deployment, Functions } from './deployment.ts';
import type { CallerIdentity } from './logs.ts';
import type { Applicants, Platforms } from './platform.ts';
import type { ApplyQueue, DeadLetterQueue, EventSender, Mailbox } from './queues.ts';
import type { CredentialVault } from './secrets.ts';

/* A port with one implementation has the type of its implementation, where its comments are. */
type Stores = ReturnType<typeof storesOver>;
export type UserStore = Stores['users'];
export type GroupIndex = Stores['index'];
export type AuditLog = Stores['audit'];
export type DriftLog = Stores['drift'];
export type NoticeStore = Stores['notices'];
export type HealthStore = Stores['health'];
export type Leases = Stores['leases'];
export type GateStore = Stores['gates'];
export type GroupStore = Stores['groups'];
export type PeopleStore = Stores['people'];
export type ReaderStore = ReturnType<typeof createReaderStore>;
export type ScimTokenStore = ReturnType<typeof createScimTokenStore>;
export type ScimStore = ReturnType<typeof createScimStore>;
export type ConnectionStore = ReturnType<typeof createConnectionStore>;
export type ConsoleSessions = ReturnType<typeof createConsoleSessionStore>;

/** All ports of the use cases. Each use case takes a part of these ports. */
export interface Ports extends Stores {
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
  readonly desired: Pick<Ports['desired'], 'markDirty' | 'renew' | 'groupsAround'>;
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
  readonly leases: Pick<Leases, 'readAll'>;
  readonly sessions: ConsoleSessions;
};
