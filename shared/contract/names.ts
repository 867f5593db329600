import type { ConnectionName } from '../domain/ids.ts';

export const DEFAULT_PREFIX = 'groupsync';
export const DEFAULT_CONNECTION = 'default' as ConnectionName;
export const METRIC_NAMESPACE = 'groupsync';

export const QUEUE_KEYS = ['events', 'eventsDlq', 'apply', 'applyDlq'] as const;
export type QueueKey = (typeof QUEUE_KEYS)[number];
export const FUNCTION_KEYS = ['ingest', 'apply', 'reconcile', 'people'] as const;
export type FunctionKey = (typeof FUNCTION_KEYS)[number];
export const OPTIONAL_FUNCTION_KEYS = ['scim', 'directory', 'console'] as const;
export type OptionalFunctionKey = (typeof OPTIONAL_FUNCTION_KEYS)[number];
/** The scheduled runs: tasks of the function `reconcile`, and the function `people`. */
export const SCHEDULE_KEYS = ['pump', 'feed', 'sweep', 'health', 'people'] as const;
export type ScheduleKey = (typeof SCHEDULE_KEYS)[number];
/** Schedules that a stage has only if its settings contain them. */
const OPTIONAL_SCHEDULE_KEYS = ['directory'] as const;
export type OptionalScheduleKey = (typeof OPTIONAL_SCHEDULE_KEYS)[number];

export const queueName = (prefix: string, queue: QueueKey) => `${prefix}-${queue.replace('Dlq', '-dlq')}`;
export const sourceQueueName = (prefix: string, source: string) => `${prefix}-events-${source}`;
/** The source name of the directory reader, which has its own queue. No other source may have this name. */
export const READER_SOURCE_NAME = 'directory';
export const readerQueueName = (prefix: string) => sourceQueueName(prefix, READER_SOURCE_NAME);
export const tableName = (prefix: string) => `${prefix}-state`;
export const functionName = (prefix: string, name: FunctionKey | OptionalFunctionKey | 'audit') =>
  `${prefix}-${name}`;
export const connectionAlias = (connection: string) => `for-${connection}`;
export const scheduleName = (prefix: string, schedule: ScheduleKey | OptionalScheduleKey) =>
  `${prefix}-${schedule}`;
export const alarmTopicName = (prefix: string) => `${prefix}-alarms`;
export const secretName = (prefix: string, connection: ConnectionName) =>
  `${prefix}/connections/${connection}`;

/** The secret with the credential for reads of the connection's directory, in the vendor's key file format. */
export const directorySecretName = (prefix: string, connection: ConnectionName) =>
  `${secretName(prefix, connection)}/directory`;
/** The secret with the address of a Slack or Teams webhook: `{"url": "https://…"}`. */
export const notifySecretName = (prefix: string) => `${prefix}/notify`;
/** The secret with the client secret for the provider that signs people in to the console: `{"clientSecret": "…"}`. */
export const consoleSecretName = (prefix: string) => `${prefix}/console`;
/** The only notification target that is not the ARN of a topic. */
export const WEBHOOK = 'webhook';

export const STACK_OUTPUTS: Readonly<Record<QueueKey, string>> & { readonly table: string } = {
  events: 'EventsQueueUrl',
  eventsDlq: 'EventsDlqUrl',
  apply: 'ApplyQueueUrl',
  applyDlq: 'ApplyDlqUrl',
  table: 'TableName',
};
export const SCIM_URL_OUTPUT = 'ScimUrl';

export const CONSOLE_URL_OUTPUT = 'ConsoleUrl';

export const ENVIRONMENT = {
  prefix: 'GROUPSYNC_PREFIX',
  table: 'GROUPSYNC_TABLE',
  eventsQueueUrl: 'GROUPSYNC_EVENTS_QUEUE_URL',
  applyQueueUrl: 'GROUPSYNC_APPLY_QUEUE_URL',
  eventsDlqUrl: 'GROUPSYNC_EVENTS_DLQ_URL',
  applyDlqUrl: 'GROUPSYNC_APPLY_DLQ_URL',
  coalesceSeconds: 'GROUPSYNC_COALESCE_SECONDS',
  createSettleSeconds: 'GROUPSYNC_CREATE_SETTLE_SECONDS',
  logLevel: 'GROUPSYNC_LOG_LEVEL',
  /** Pairs `queue=connection`, separated by commas. */
  boundQueues: 'GROUPSYNC_BOUND_QUEUES',
  /** The interval of the reader, in minutes. */
  directoryMinutes: 'GROUPSYNC_DIRECTORY_MINUTES',
  /** `webhook` and ARNs of topics, separated by commas. */
  notify: 'GROUPSYNC_NOTIFY',
  secretsKey: 'GROUPSYNC_SECRETS_KEY',
  /** JSON with patterns of AWS identities, each with its person. */
  persons: 'GROUPSYNC_PERSONS',
  /** JSON of the type `ConsoleSignIn`: how people sign in to the console. */
  console: 'GROUPSYNC_CONSOLE',
  consoleUrl: 'GROUPSYNC_CONSOLE_URL',
  consoleRole: 'GROUPSYNC_CONSOLE_ROLE',
  scimUrl: 'GROUPSYNC_SCIM_URL',
  /** IP addresses and ranges, separated by commas. */
  scimAllowedIps: 'GROUPSYNC_SCIM_ALLOWED_IPS',
} as const;

/** Attributes of SQS messages that groupsync reads or writes. */
export const MESSAGE_ATTRIBUTES = {
  connection: 'connection',
  stamp: 'stamp',
  errorCode: 'errorCode',
  errorMessage: 'errorMessage',
  failedAt: 'failedAt',
  originalMessageId: 'originalMessageId',
  source: 'source',
  queue: 'queue',
  sentBy: 'sentBy',
  /** The number of failures of a replayed message and the time of its first failure: `2 2026-11-20T10:00:00.000Z`. */
  failedBefore: 'failedBefore',
} as const;

export const DEAD_LETTER_CODES = [
  'invalid_json',
  'invalid_event',
  'unknown_type',
  'unknown_connection',
  'wrong_connection',
  'time_in_future',
  'too_old',
  'too_large',
  'unstorable',
  'platform_rejected',
  'retries_exhausted',
] as const;
export type DeadLetterCode = (typeof DEAD_LETTER_CODES)[number];

export const GROUP_STATES = [
  'in_sync',
  'dirty',
  'held',
  'failed',
  'paused',
  'deleted',
  'unknown',
  'unnamed',
  'name_clash',
  'unrestated',
  'excluded',
] as const;
