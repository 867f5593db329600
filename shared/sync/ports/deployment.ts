import type { FunctionKey, QueueKey, ScheduleKey } from '../../contract/names.ts';

/** A part of the deployment is missing. The message names the part and its expected place. */
export class MissingPart extends Error {
  override readonly name = 'MissingPart';
}

export interface Functions {
  /** @throws FunctionFailed if the function failed */
  run(name: FunctionKey | 'directory', event: object): Promise<unknown>;
}

export class FunctionFailed extends Error {
  override readonly name = 'FunctionFailed';
}

export interface QueueFacts {
  readonly url: string;
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
  /** The name of the queue to which SQS moves messages after too many receives. */
  readonly redrivesTo: string | undefined;
  /** ARN or id of the KMS key; undefined if the queue uses none. */
  readonly key?: string | undefined;
}

export interface TableFacts {
  readonly active: boolean;
  /** The TTL attribute; undefined if TTL is off; null on the local stack, or without the right to read it. */
  readonly timeToLive: string | undefined | null;
  readonly indexes: readonly string[];
  /** The write units per second that table and index serve at once (DynamoDB's warm throughput), if AWS says it. */
  readonly warmUnits?: number | undefined;
  /** Whether point-in-time recovery is on; null for the same reasons. */
  readonly recoverable: boolean | null;
  /** Whether the table is protected against deletion; undefined on the local stack. */
  readonly isProtected?: boolean | undefined;
  /** How the table is encrypted; undefined on the local stack. */
  readonly encryption?: { readonly keyArn: string | undefined; readonly isUnusable: boolean } | undefined;
}

export interface FunctionFacts {
  readonly state: string;
  /** The state of an event source, first of one that is not enabled; `missing` if none; undefined if not read. */
  readonly eventSource: string | undefined;
  /** The function's reserved concurrency; undefined if it has none, or if the number cannot be read. */
  readonly reserved?: number | undefined;
}

/** The concurrent executions that one account may use in one region. */
interface Executions {
  readonly limit: number;
  /** The part of the quota that no function has reserved. */
  readonly unreserved: number;
}

export interface ScheduleFacts {
  readonly enabled: boolean;
  readonly expression: string;
}

export interface ScimFacts {
  /** The function's state, as Lambda reports it; `Active` on the local stack; undefined in the console. */
  readonly state: string | undefined;
  /** The base URL for identity providers; undefined if the credentials do not permit reading it. */
  readonly url: string | undefined;
  /** The function's reserved concurrency; undefined if it has none, or if the number cannot be read. */
  readonly reserved?: number | undefined;
}

export interface AlarmClient {
  /** Returns the ARNs of the subscriptions. An unconfirmed subscription has a text such as `PendingConfirmation`. */
  subscriptionsOf(topicArn: string): Promise<readonly string[]>;
}

export interface DeployedStack {
  /** Whether CloudFormation refuses to delete the stack. */
  readonly isProtected: boolean;
  readonly resources: readonly DeployedResource[];
}

export interface DeployedResource {
  readonly id: string;
  readonly type: string;
  /** Whether the resource stays when the stack is deleted. */
  readonly isKept: boolean;
}

export interface StackClient {
  read(name: string): Promise<DeployedStack | undefined>;
  unprotect(name: string): Promise<void>;
}

/** Reads the deployed resources. Each method returns undefined if the resource does not exist. */
export interface Deployment {
  readonly region: string;
  /** Whether the functions run on this machine: as a local stack, or in an emulator. */
  readonly allowsLoopback: boolean;
  /** True in the deployed console, whose IAM role permits only some of these reads, such as `queue`. */
  readonly isConsole?: boolean | undefined;
  /** Returns the account of the credentials; undefined on the local stack. */
  account(): Promise<string | undefined>;
  queue(key: QueueKey): Promise<QueueFacts | undefined>;
  table(): Promise<TableFacts | undefined>;
  function(key: FunctionKey): Promise<FunctionFacts | undefined>;
  /** Returns undefined on the local stack, or if the credentials do not permit reading the quota. */
  executions(): Promise<Executions | undefined>;
  schedule(key: ScheduleKey): Promise<ScheduleFacts | undefined>;
  /** Absent on the local stack. */
  readonly alarms?: AlarmClient | undefined;
  /** Absent on the local stack. */
  readonly stacks?: StackClient | undefined;
  scim(): Promise<ScimFacts | undefined>;
  /**
   * Returns the HTTP status of a request without a credential.
   * @throws Error if no server answers
   */
  statusOf(url: string): Promise<number>;
}
