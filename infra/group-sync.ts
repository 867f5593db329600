import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment } from 'aws-cdk-lib';
import type { IRole, IUser } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { ConsoleSignInProps } from '../shared/contract/console.ts';
import { ConnectorStack } from './connector-stack.ts';
import { DEPLOYABLE_KEYS, type FunctionCode } from './function-code.ts';
import { readSettings } from './settings.ts';

/** The settings of one stage, as typed props. docs/settings.md, explains each one. */
export interface GroupSyncProps {
  /** Account and region of the stack. Default: the account and region of the credentials of the CDK app. */
  readonly env?: Environment;
  /** Value of the tag `groupsync:stage`. Default: `production`. */
  readonly stage?: string;
  /**
   * Name of the stack, and first part of all other names. Never change the prefix of a deployed stage. Default:
   * `groupsync`.
   */
  readonly prefix?: string;
  /** ARN of the managed policy that every role gets as its permissions boundary. Default: none. */
  readonly permissionsBoundary?: string;
  /** Qualifier of the account's CDK bootstrap: 1 to 10 of a-z and 0-9. Default: the qualifier of the CDK app. */
  readonly bootstrapQualifier?: string;
  /** Tags of every resource, at most 40. Default: none. */
  readonly tags?: Readonly<Record<string, string>>;
  /**
   * Length of the coalescing window in seconds: changes of one group within a window become one write; 0 to 300.
   * Default: 5.
   */
  readonly coalesceSeconds?: number;
  /** Minutes between two runs of the job that retries waiting groups; 1 to 60. Default: 1. */
  readonly pumpMinutes?: number;
  /** Minutes between two reads of the platform's activity feed; 1 to 1,440. Default: 5. */
  readonly feedMinutes?: number;
  /** Minutes between two comparisons of all groups with the platform; 1 to 1,440. Default: 60. */
  readonly sweepMinutes?: number;
  /** Minutes between two reads of the employees; 1 to 1,440. Default: 60. */
  readonly peopleMinutes?: number;
  /** Address that receives alarms. Default: none. Without an address, subscribe a target to `alarmTopic`. */
  readonly alarmEmail?: string;
  /** Whether the stage has a dashboard. Default: false. */
  readonly dashboard?: boolean;
  /** Targets of notifications: `alarms`, `webhook`, or ARNs of SNS topics. Default: `alarms`. */
  readonly notify?: readonly string[];
  /** Connections with a viewer policy `<prefix>-viewer-<connection>-<region>`. Default: none. */
  readonly connectionViewers?: readonly string[];
  /** Connections with an operator policy `<prefix>-operator-<connection>-<region>`. Default: none. */
  readonly connectionOperators?: readonly string[];
  /** The person of each AWS identity or pattern of identities, so that four eyes compares people. Default: none. */
  readonly persons?: Readonly<Record<string, string>>;
  /**
   * ARNs of the roles and users that may send events. `grantPublish` adds more. All other principals are refused.
   * Default: IAM policies alone decide which principals may send.
   */
  readonly producers?: readonly string[];
  /** Sources with a separate queue. Each source has one connection and its own producers. Default: none. */
  readonly sources?: Readonly<
    Record<string, { readonly connection: string; readonly producers?: readonly string[] }>
  >;
  /** EventBridge event source of an Okta log stream. Default: none. */
  readonly oktaEventSource?: string;
  /** ARN of an SNS topic to subscribe to. Default: none. */
  readonly snsTopicArn?: string;
  /** Whether the stage has the function that reads directories. Default: false. */
  readonly directory?: boolean;
  /** Minutes between two runs of the function that reads directories; 1 to 60. Default: 5. */
  readonly directoryMinutes?: number;
  /** Audiences for which the directory function may request a token about its role. Default: none. */
  readonly directoryAudiences?: readonly string[];
  /** ARNs of KMS keys that the directory function may sign with, to read an Okta organisation. Default: none. */
  readonly directoryKeys?: readonly string[];
  /** How people sign in to the console of the stage, which the internet can reach. Default: no console. */
  readonly console?: ConsoleSignInProps;
  /** The address of the console, if it has a domain of its own. Default: the address of its HTTP API. */
  readonly consoleUrl?: string;
  /** Whether the stage has the SCIM endpoint, which the internet can reach. Default: false. */
  readonly scim?: boolean;
  /**
   * Executions that are reserved for the SCIM endpoint. The number is also the maximum. `none` means no reservation.
   * Default: 20.
   */
  readonly scimConcurrency?: number | 'none';
  /** The only IP addresses and ranges that may send SCIM requests. Default: all. */
  readonly scimAllowedIps?: readonly string[];
  /** Requests per second that the SCIM endpoint admits; 25 to 10,000. Default: 100. */
  readonly scimRequestsPerSecond?: number;
  /** Requests that the SCIM endpoint admits at once; 25 to 5,000. Default: 200. */
  readonly scimBurst?: number;
  /** Copies the audit into a bucket that locks each entry for this number of days. Default: no copy. */
  readonly auditExportDays?: number;
  /** Days for which logs are kept; a number that CloudWatch Logs accepts. Default: 30. */
  readonly logRetentionDays?: number;
  /** Default: `info`. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /** Whether the table and its key are kept when the stack is deleted. Default: true. */
  readonly retainData?: boolean;
  /** ARN of the encryption key of an earlier stack. Default: a new key. */
  readonly keyArn?: string;
  /**
   * Key for the secrets of new connections: `stage` (the key of this stack) or the ARN of a key. Default: the key of
   * Secrets Manager.
   */
  readonly secretsKey?: string;
  /** Where your team reads the runbook; each alarm contains it. Default: `docs/runbook.md`. */
  readonly runbookUrl?: string;
  /** The folder with the code of each function. Default: the code in the package. A checkout has no default. */
  readonly code?: FunctionCode;
}

/**
 * groupsync as a part of a CDK app. The stack equals the stack that `groupsync deploy` creates with the same settings.
 *
 * @throws SettingsError for invalid props, with one line per fault
 */
export class GroupSync extends ConnectorStack {
  constructor(scope: Construct, id: string, { env, code = builtCode(), ...given }: GroupSyncProps = {}) {
    const settings = readSettings((name) => given[name as keyof typeof given], Object.keys(given));
    super(scope, id, { ...(env && { env }), stackName: settings.prefix, settings, code });
  }

  /**
   * Lets a role or user send events to `eventsQueue`. After the first call, the queue admits only the principals of all
   * calls and the principals in `producers`, even if the policies of other principals allow sending. A principal of
   * another account also needs an IAM policy in that account (docs/deploy.md, "Send directory events").
   */
  grantPublish(producer: IRole | IUser): void {
    this.sources.admit(['roleArn' in producer ? producer.roleArn : producer.userArn]);
  }
}

/** The folder of the built handlers in the package. A checkout has no such folder. */
const BUILT = fileURLToPath(new URL('functions', import.meta.url));

/** True in the package, false in a checkout. */
export const isBuilt = (): boolean => existsSync(BUILT);

/** Returns the code in the package. @throws in a checkout */
export function builtCode(): FunctionCode {
  if (!isBuilt())
    throw new Error("expected the prop code in a checkout: code: await functionCode('cdk.out')");
  return Object.fromEntries(DEPLOYABLE_KEYS.map((key) => [key, join(BUILT, key)])) as FunctionCode;
}
