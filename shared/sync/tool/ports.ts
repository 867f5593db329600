import type { FunctionKey, QueueKey, ScheduleKey } from '../../contract/names.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import type { PlanPorts } from '../apply/plan-group.ts';
import type { ApplyPorts } from '../apply/ports.ts';
import type { ConnectionStore } from '../ports/connections.ts';
import type { DesiredStore } from '../ports/desired.ts';
import type { HealthStore } from '../ports/health.ts';
import type { GroupIndex } from '../ports/index.ts';
import type { FeedStore } from '../ports/reconcile.ts';
import type { ScimStore, ScimTokenStore } from '../ports/scim.ts';
import type { WakePorts } from '../wake.ts';
import type { Mailbox } from './dead-letters/mailbox.ts';

/*
 * What people at a command line need of the world beyond what the functions do: to look at queues and at the
 * deployment, to store a credential, to run a function now.
 */

/** Puts messages on the events queue. */
export interface EventSender {
  /** In the order of the messages: the id that SQS gave to each, or why it was not accepted. */
  send(messages: readonly OutgoingEvent[]): Promise<readonly SendOutcome[]>;
}

export interface SendOutcome {
  readonly messageId?: string;
  readonly refused?: string;
}

export interface OutgoingEvent {
  readonly body: string;
  readonly connection?: string | undefined;
  readonly stamp?: string | undefined;
}

/** Where credentials are kept. Nothing here reads one back. */
export interface CredentialVault {
  /** @returns the version that was made; the same token again makes none */
  store(connection: ConnectionName, token: string): Promise<string>;
  /** Gone at once where the store allows it. False where there was none. */
  remove(connection: ConnectionName): Promise<boolean>;
}

/** Runs a deployed function and waits for its answer. */
export interface Functions {
  /** @throws FunctionFailed where the function itself failed */
  run(name: FunctionKey, event: object): Promise<unknown>;
}

export class FunctionFailed extends Error {
  override readonly name = 'FunctionFailed';
}

export interface QueueFacts {
  readonly url: string;
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
  readonly delaySeconds: number;
  /** Name of the queue that dead messages go to by themselves. */
  readonly redrivesTo: string | undefined;
}

export interface TableFacts {
  readonly active: boolean;
  /** Attribute by which items end; undefined where that is off, null where the account does not let us ask. */
  readonly timeToLive: string | undefined | null;
  readonly indexes: readonly string[];
  /** Point-in-time recovery; null where it cannot be asked. */
  readonly recoverable: boolean | null;
}

export interface FunctionFacts {
  readonly state: string;
  readonly environment: Readonly<Record<string, string>>;
  /** State of its event source, where it has one that can be asked for. */
  readonly eventSource: string | undefined;
}

export interface ScheduleFacts {
  readonly enabled: boolean;
  readonly expression: string;
}

export interface ScimFacts {
  /** As Lambda says it; `Active` on the local stack. */
  readonly state: string;
  /** What an identity provider asks for; undefined where the credentials do not let us find out. */
  readonly url: string | undefined;
}

/** Looks at the deployed parts; each is undefined where it does not exist. */
export interface Deployment {
  readonly region: string;
  readonly isLocal: boolean;
  /** The account that the credentials belong to; undefined on the local stack. */
  account(): Promise<string | undefined>;
  queue(key: QueueKey): Promise<QueueFacts | undefined>;
  table(): Promise<TableFacts | undefined>;
  function(key: FunctionKey): Promise<FunctionFacts | undefined>;
  schedule(key: ScheduleKey): Promise<ScheduleFacts | undefined>;
  scim(): Promise<ScimFacts | undefined>;
  /** HTTP status that an address answers with, without any credential. @throws where nothing answers */
  statusOf(url: string): Promise<number>;
}

/** The platform as a credential that is not stored yet sees it. */
export interface Applicant {
  me(): Promise<{ readonly company: string; readonly id: string }>;
  markInstalled(): Promise<void>;
  groups(): Promise<
    readonly { readonly id: string; readonly name: string; readonly spokeId: string | null }[]
  >;
  /** Employees with the fields asked for, by the names that match rules use; a field that did not come is absent. */
  employees(
    fields: readonly string[],
    states: readonly string[],
  ): AsyncIterable<readonly ReadonlyMap<string, string | null>[]>;
  /** How far this machine's clock is ahead of the platform's, in milliseconds; undefined where it does not say. */
  clockSkewMs(): Promise<number | undefined>;
}

export interface Applicants {
  /** @throws TypeError where base URL or token cannot be used; the message does not show the token */
  present(baseUrl: string, token: string): Applicant;
  /** With the credential that is stored. @throws PlatformFailure */
  stored(connection: ConnectionName, baseUrl: string): Promise<Applicant>;
}

export interface ToolPorts extends ApplyPorts, WakePorts {
  readonly rehearse: PlanPorts['rehearse'];
  readonly desired: DesiredStore;
  readonly connections: ConnectionStore;
  readonly index: GroupIndex;
  readonly mailboxes: Readonly<Record<'events' | 'apply', Mailbox>>;
  readonly events: EventSender;
  readonly vault: CredentialVault;
  readonly functions: Functions;
  readonly deployment: Deployment;
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
