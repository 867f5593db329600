import type { QueueKey } from './names.ts';

/*
 * The queues, schedules and names of the deployed system. The folder `infra` creates them, and the local stack imitates
 * them. Durations are in seconds, except in `SCHEDULES`.
 */

interface QueueTopology {
  /** For `events` and `apply`, six times the function's timeout, as the Lambda developer guide advises. */
  readonly visibilityTimeoutSeconds: number;
  readonly retentionSeconds: number;
  /** The dead-letter queue for messages that were received `maxReceiveCount` times without being deleted. */
  readonly redrive?: { readonly to: QueueKey; readonly maxReceiveCount: number };
}

/** The settings with which a Lambda event source reads its queue. */
export interface EventSourceTopology {
  readonly queue: QueueKey;
  readonly batchSize: number;
  readonly maximumBatchingWindowSeconds: number;
  readonly maximumConcurrency: number;
  readonly functionTimeoutSeconds: number;
}

const DAY = 86_400;

const INGEST_TIMEOUT_SECONDS = 60;
const APPLY_TIMEOUT_SECONDS = 120;

export const QUEUES: Readonly<Record<QueueKey, QueueTopology>> = {
  events: {
    visibilityTimeoutSeconds: 6 * INGEST_TIMEOUT_SECONDS,
    // SQS deletes a message by the time at which it was first sent, even after a move to the dead-letter queue. So the
    // message must have some days left after the move.
    retentionSeconds: 10 * DAY,
    // Twice as many receives as for apply. If a batch has more members than one run can store, the remaining messages
    // are received again.
    redrive: { to: 'eventsDlq', maxReceiveCount: 10 },
  },
  eventsDlq: { visibilityTimeoutSeconds: 300, retentionSeconds: 14 * DAY },
  apply: {
    visibilityTimeoutSeconds: 6 * APPLY_TIMEOUT_SECONDS,
    retentionSeconds: 4 * DAY,
    redrive: { to: 'applyDlq', maxReceiveCount: 5 },
  },
  applyDlq: { visibilityTimeoutSeconds: 300, retentionSeconds: 14 * DAY },
};

export const EVENT_SOURCES = {
  ingest: {
    queue: 'events',
    batchSize: 100,
    maximumBatchingWindowSeconds: 1,
    maximumConcurrency: 10,
    functionTimeoutSeconds: INGEST_TIMEOUT_SECONDS,
  },
  apply: {
    queue: 'apply',
    batchSize: 10,
    maximumBatchingWindowSeconds: 0,
    maximumConcurrency: 5,
    functionTimeoutSeconds: APPLY_TIMEOUT_SECONDS,
  },
} as const satisfies Readonly<Record<string, EventSourceTopology>>;

export const DEFAULT_COALESCE_SECONDS = 5;
/** The maximum delay of an SQS message. */
export const LONGEST_DELAY_SECONDS = 900;

/**
 * The key names of the table and of its index, and the attributes in the index. The index contains only attributes that
 * its readers need, because DynamoDB charges a write to the index like a second write.
 */
export const TABLE = {
  partitionKey: 'pk',
  sortKey: 'sk',
  timeToLive: 'expiresAt',
  index: {
    name: 'due',
    partitionKey: 'gpk',
    sortKey: 'gsk',
    projected: [
      'name',
      'group',
      'member',
      'role',
      'settled',
      'counts',
      'dirtySince',
      'failedAt',
      'pausedAt',
      'removals',
      'restate',
      'source',
      'openMove',
      'pendingCause',
      'pendingSince',
      'pendingRevision',
    ],
  },
} as const;

/**
 * The kinds of partition keys of one connection, in the table and in its index. A key is `<kind>#<connection>`,
 * optionally with `#` and further parts. IAM policies for one connection contain these partition keys. The name of a
 * connection contains no `#`.
 */
export const CONNECTION_PARTITIONS = [
  'C',
  'D',
  'G',
  'N',
  'P',
  'PU',
  'R',
  'S',
  'SL',
  'SX',
  'U',
  'bound',
  'drift',
  'fanOuts',
  'groups',
  'log',
  'pending',
] as const;

/** The attributes with held removals and decisions. The IAM policy of operators denies writes of these. */
export const DECISION_ATTRIBUTES = ['removals'] as const;

export const CONNECTIONS_PARTITION = 'connections';

/** The partition of the console's sessions. The IAM policies of people deny writes of sessions. */
export const SESSIONS_PARTITION = 'SESSIONS';

/**
 * The lifetime of the token with which a function signs in to another cloud. The function uses the token immediately.
 */
export const WEB_IDENTITY_SECONDS = 300;

export const SCHEDULES = {
  pumpMinutes: 1,
  feedMinutes: 5,
  sweepMinutes: 60,
  healthMinutes: 24 * 60,
  peopleMinutes: 60,
  directoryMinutes: 5,
  /** The refresh of people and the sweep are started this often, for the connections that are due. */
  longTaskMinutes: 10,
} as const;
