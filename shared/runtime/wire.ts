import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { METRIC_DIMENSION, type MetricName } from '../contract/metrics.ts';
import { ENVIRONMENT, METRIC_NAMESPACE } from '../contract/names.ts';
import { createReaderStore } from '../directory/store/reader-store.ts';
import { createApplyQueue } from '../queues/apply-queue.ts';
import { createDeadLetterQueue } from '../queues/dead-letter-queue.ts';
import { hide, type Receipts } from '../queues/visibility.ts';
import { createConnectionStore } from '../store/connection-store.ts';
import { createDeliveryStore } from '../store/delivery-store.ts';
import { createDesiredStore } from '../store/desired-store.ts';
import { createDynamoTable } from '../store/dynamo-table.ts';
import { createPeopleStore } from '../store/people-store.ts';
import { createSourceStore } from '../store/source-store.ts';
import { createUserStore } from '../store/user-store.ts';
import { newId, sleep, systemClock, systemRandom } from './clock.ts';
import { type Config, readConfig, required } from './config.ts';
import { createLogger } from './logger.ts';

export type Base = ReturnType<typeof wireBase>;

/** How long a worker caches connections. A change of a connection reaches every worker within this time. */
const CONNECTIONS_REMEMBERED_MS = 30_000;

/*
 * The composition root: only the files `wire*.ts` connect ports with their implementations. Code that needs the
 * platform's client is in wire-platform.ts. This keeps the client out of the bundle of ingest.
 */

export function wireBase(config: Config = readConfig()) {
  const write = (line: string) => process.stdout.write(`${line}\n`);
  return {
    config,
    logger: createLogger({ level: config.logLevel, clock: systemClock, write }),
    metrics: createMetrics({ prefix: config.prefix, clock: systemClock, write }),
  };
}

/** Returns the stores that every function uses, and the queue that wakes groups. */
export function wireState({ config, logger }: Pick<Base, 'config' | 'logger'>) {
  const sqs = new SQSClient({});
  const dynamodb = new DynamoDBClient({ cacheMiddleware: true });
  // These middlewares copy each request for a log that groupsync does not use, and describe this machine to AWS.
  dynamodb.middlewareStack.remove('loggerMiddleware');
  dynamodb.middlewareStack.remove('getUserAgentMiddleware');
  const table = createDynamoTable(dynamodb, { tableName: config.tableName, sleep });
  const queueUrl = required(config.queueUrls.apply, ENVIRONMENT.applyQueueUrl);
  return {
    sqs,
    table,
    clock: systemClock,
    random: systemRandom,
    newId,
    coalesceMs: config.coalesceMs,
    sleep,
    deliveries: createDeliveryStore(table),
    desired: createDesiredStore(table),
    users: createUserStore(table, (connection, member, dropped) =>
      logger.warn('some attributes of a user are not stored', { connection, member, dropped }),
    ),
    people: createPeopleStore(table),
    reader: createReaderStore(table),
    sources: createSourceStore(table),
    connections: createConnectionStore(
      table,
      { clock: systemClock, rememberMs: CONNECTIONS_REMEMBERED_MS },
      (connection, settings) =>
        logger.warn('settings unknown to this version are kept in the table and ignored', {
          connection,
          settings,
        }),
    ),
    applyQueue: createApplyQueue(sqs, async () => queueUrl),
  };
}

export function wireIngest() {
  const base = wireBase();
  const state = wireState(base);
  const queueUrl = required(base.config.queueUrls.eventsDlq, ENVIRONMENT.eventsDlqUrl);
  const deadLetters = createDeadLetterQueue(state.sqs, { queueUrl, source: 'ingest', clock: systemClock });
  return {
    ...base,
    ports: { ...state, deadLetters },
    /** Makes messages of a queue visible again. In one region, queue URLs differ only in their last part. */
    showAgain: (queue: string, messages: Receipts, seconds: number) =>
      hide(state.sqs, queueUrl.replace(/[^/]*$/, queue), messages, seconds),
  };
}

interface MetricsOptions {
  readonly prefix: string;
  readonly clock: () => number;
  readonly write: (line: string) => void;
}

/**
 * Writes metrics in CloudWatch's embedded metric format. Each value is one log line, and CloudWatch makes a metric of
 * it. Source: Amazon CloudWatch user guide, "Specification: Embedded metric format".
 */
export const createMetrics = ({ prefix, clock, write }: MetricsOptions) => ({
  count(name: MetricName): void {
    const metric = {
      Namespace: METRIC_NAMESPACE,
      Dimensions: [[METRIC_DIMENSION]],
      Metrics: [{ Name: name, Unit: 'Count' }],
    };
    const directive = { Timestamp: clock(), CloudWatchMetrics: [metric] };
    write(JSON.stringify({ _aws: directive, [METRIC_DIMENSION]: prefix, [name]: 1 }));
  },
});
