import { HELD_SETS } from '../domain/hold.ts';
import type { QueueKey } from './names.ts';

/*
 * The queues, schedules and names of the deployed system. infra creates them, the local stack imitates them, and the
 * code relies on them. All durations are in seconds, as in the interfaces of SQS and Lambda.
 */

export interface QueueTopology {
  readonly visibilityTimeoutSeconds: number;
  readonly retentionSeconds: number;
  /** The dead-letter queue of messages that were received `maxReceiveCount` times and not deleted. */
  readonly redrive?: { readonly to: QueueKey; readonly maxReceiveCount: number };
}

/** How one Lambda event source reads its queue. */
export interface EventSourceTopology {
  readonly queue: QueueKey;
  readonly batchSize: number;
  readonly maximumBatchingWindowSeconds: number;
  readonly maximumConcurrency: number;
  readonly functionTimeoutSeconds: number;
}

const DAY = 86_400;

/**
 * The visibility timeout is six times the function's timeout (Lambda developer guide, "Using Lambda with Amazon SQS").
 */
const INGEST_TIMEOUT_SECONDS = 60;
const APPLY_TIMEOUT_SECONDS = 120;

export const QUEUES: Readonly<Record<QueueKey, QueueTopology>> = {
  events: {
    visibilityTimeoutSeconds: 6 * INGEST_TIMEOUT_SECONDS,
    // A message keeps its time of sending when SQS moves it to the dead-letter queue. So it must have some days left
    // then.
    retentionSeconds: 10 * DAY,
    // Twice as many as for apply: if a batch has more members than one run can store, the remaining messages are
    // received again.
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

/** Default window within which the changes of one group become one write to the platform. */
export const DEFAULT_COALESCE_SECONDS = 5;
/** The maximum delay of an SQS message. */
export const LONGEST_DELAY_SECONDS = 900;

/**
 * Key names of the table and of its index, and the attributes that the index contains. The index contains only
 * attributes that its readers need, because each attribute in it is written and paid for twice.
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
      'dirtySince',
      'failedAt',
      'pausedAt',
      ...HELD_SETS,
      'pendingCause',
      'pendingSince',
      'pendingRevision',
    ],
  },
} as const;

/**
 * Kinds of partition keys of one connection, in the table and in its index: `<kind>#<connection>`, which may be
 * followed by `#` and more parts. IAM policies for one connection name these partition keys. A connection's name
 * contains no `#`.
 */
export const CONNECTION_PARTITIONS = [
  ...['C', 'G', 'P', 'PU', 'R', 'S', 'SL', 'SX', 'U'],
  ...['bound', 'drift', 'fanOuts', 'groups', 'log', 'pending'],
] as const;

/** Attributes of a group's item with held removals and their decisions. The policy of operators denies writing them. */
export const DECISION_ATTRIBUTES = HELD_SETS;

/** The index partition that lists the names of all connections. */
export const CONNECTIONS_PARTITION = 'connections';

/** The partition of the sessions of the console. The policies of people deny creating and changing sessions. */
export const SESSIONS_PARTITION = 'SESSIONS';

/** Lifetime of a token with which a role authenticates to another cloud. The token is exchanged immediately. */
export const WEB_IDENTITY_SECONDS = 300;

/** How often the scheduled parts run when deployed. */
export const SCHEDULES = {
  pumpMinutes: 1,
  feedMinutes: 5,
  sweepMinutes: 60,
  healthMinutes: 24 * 60,
  peopleMinutes: 60,
  directoryMinutes: 5,
} as const;
