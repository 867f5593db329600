import { ArnFormat, Duration, Stack } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Queue, QueueEncryption, type QueueProps, RedrivePermission } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { type QueueKey, queueName, sourceQueueName } from '../shared/contract/names.ts';
import { QUEUES } from '../shared/contract/topology.ts';
import { type AlarmDesk, addAlarm } from './alarm.ts';

interface LaneProps {
  readonly prefix: string;
  readonly queue: 'events' | 'apply';
  readonly delaySeconds?: number;
  /** Sources that have a queue of their own beside it, with the same dead letters. */
  readonly sources: readonly string[];
  readonly key: IKey;
  readonly desk: AlarmDesk;
}

/** How old a message may grow. Both functions acknowledge within a minute or two, whatever befalls the platform. */
const OLDEST_MESSAGE_SECONDS = 900;

const HEADINGS = {
  events: { dead: 'Events dead letters', oldest: 'Events wait too long' },
  apply: { dead: 'Apply dead letters', oldest: 'Apply messages wait too long' },
} as const;

/** A queue with its dead-letter queue, and the alarms on both. */
export class Lane extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly ofSources: ReadonlyMap<string, Queue>;

  constructor(scope: Construct, id: string, props: LaneProps) {
    super(scope, id);
    const { prefix, queue, desk, sources } = props;
    const redrive = QUEUES[queue].redrive;
    if (redrive === undefined)
      throw new Error(`expected the queue ${queue} to have a redrive in topology.ts`);
    this.deadLetters = new Queue(this, 'DeadLetters', {
      ...queueProps(redrive.to, props),
      redriveAllowPolicy: {
        redrivePermission: RedrivePermission.BY_QUEUE,
        sourceQueues: [
          this.#byName('Source', queueName(prefix, queue)),
          ...sources.map((source) => this.#byName(`Source-${source}`, sourceQueueName(prefix, source))),
        ],
      },
    });
    const common = {
      ...queueProps(queue, props),
      deliveryDelay: Duration.seconds(props.delaySeconds ?? 0),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: redrive.maxReceiveCount },
    };
    this.queue = new Queue(this, 'Queue', common);
    this.ofSources = new Map(
      sources.map((source) => {
        const own = { ...common, queueName: sourceQueueName(prefix, source) };
        return [source, new Queue(this, `Queue-${source}`, own)];
      }),
    );
    this.#alarms(queue, desk);
  }

  /** The queue by its name alone: each of the two names the other, and a reference both ways would be a cycle. */
  #byName(id: string, name: string) {
    const arn = Stack.of(this).formatArn({
      service: 'sqs',
      resource: name,
      arnFormat: ArnFormat.NO_RESOURCE_NAME,
    });
    return Queue.fromQueueAttributes(this, id, { queueArn: arn, fifo: name.endsWith('.fifo') });
  }

  #alarms(queue: 'events' | 'apply', desk: AlarmDesk): void {
    addAlarm(this, desk, {
      heading: HEADINGS[queue].dead,
      meaning: `Messages lie in the ${queue} dead-letter queue.`,
      metric: this.deadLetters.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum' }),
      threshold: 1,
    });
    for (const [source, one] of [[queue, this.queue] as const, ...this.ofSources])
      addAlarm(this, desk, {
        heading: HEADINGS[queue].oldest,
        ...(one === this.queue ? {} : { of: source }),
        meaning: `The oldest message of the ${source} queue has waited over ${OLDEST_MESSAGE_SECONDS / 60} minutes.`,
        metric: one.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum' }),
        threshold: OLDEST_MESSAGE_SECONDS,
        evaluationPeriods: 2,
      });
  }
}

function queueProps(queue: QueueKey, { prefix, key }: LaneProps): QueueProps {
  const { fifo, retentionSeconds, visibilityTimeoutSeconds } = QUEUES[queue];
  return {
    queueName: queueName(prefix, queue),
    ...(fifo ? { fifo, contentBasedDeduplication: false } : {}),
    retentionPeriod: Duration.seconds(retentionSeconds),
    visibilityTimeout: Duration.seconds(visibilityTimeoutSeconds),
    encryption: QueueEncryption.KMS,
    encryptionMasterKey: key,
    enforceSSL: true,
  };
}
