import { ArnFormat, Duration, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import {
  Queue,
  QueueEncryption,
  type QueueProps,
  type RedriveAllowPolicy,
  RedrivePermission,
} from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { OptionalScheduleKey, QueueKey, ScheduleKey } from '../shared/contract/names.ts';
import { queueName, READER_SOURCE_NAME, scheduleName, sourceQueueName } from '../shared/contract/names.ts';
import { EVENT_SOURCES, QUEUES } from '../shared/contract/topology.ts';
import { ConnectorFunction, type ConnectorFunctionProps } from './connector-function.ts';

interface QueueWithDeadLettersProps {
  readonly prefix: string;
  readonly queue: 'events' | 'apply';
  /** Sources with a separate queue. All these queues use the dead-letter queue of the events queue. */
  readonly sources: readonly string[];
  readonly key: IKey;
}

/**
 * No queue may use this queue as its dead-letter queue. SQS moves messages between queues of one account without
 * checking the queue policy, so another value would bypass `producers` and `sources`.
 */
export const NO_SOURCE_QUEUE: RedriveAllowPolicy = { redrivePermission: RedrivePermission.DENY_ALL };

class QueueWithDeadLetters extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly ofSources: ReadonlyMap<string, Queue>;

  constructor(scope: Construct, id: string, props: QueueWithDeadLettersProps) {
    super(scope, id);
    const { prefix, queue, sources } = props;
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
      redriveAllowPolicy: NO_SOURCE_QUEUE,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: redrive.maxReceiveCount },
    };
    this.queue = new Queue(this, 'Queue', common);
    this.ofSources = new Map(
      sources.map((source) => {
        const own = { ...common, queueName: sourceQueueName(prefix, source) };
        return [source, new Queue(this, `Queue-${source}`, own)];
      }),
    );
  }

  /**
   * Refers to a queue by its name instead of a CloudFormation reference. A queue and its dead-letter queue refer to
   * each other, and two references would be a cycle.
   */
  #byName(id: string, name: string) {
    const arn = Stack.of(this).formatArn({
      service: 'sqs',
      resource: name,
      arnFormat: ArnFormat.NO_RESOURCE_NAME,
    });
    return Queue.fromQueueArn(this, id, arn);
  }
}

function queueProps(queue: QueueKey, { prefix, key }: QueueWithDeadLettersProps): QueueProps {
  const { retentionSeconds, visibilityTimeoutSeconds } = QUEUES[queue];
  return {
    queueName: queueName(prefix, queue),
    retentionPeriod: Duration.seconds(retentionSeconds),
    visibilityTimeout: Duration.seconds(visibilityTimeoutSeconds),
    encryption: QueueEncryption.KMS,
    encryptionMasterKey: key,
    enforceSSL: true,
  };
}

const sourcesOf = ({ sources, directory }: WorkerProps['settings']): readonly string[] => [
  ...Object.keys(sources),
  ...(directory ? [READER_SOURCE_NAME] : []),
];

interface WorkerProps extends Omit<ConnectorFunctionProps, 'timeoutSeconds'> {
  readonly name: keyof typeof EVENT_SOURCES;
}

/** A queue, its dead-letter queue and the function that reads the queue. A failed message does not fail its batch. */
export class Worker extends Construct {
  readonly lane: QueueWithDeadLetters;
  readonly worker: ConnectorFunction;

  constructor(scope: Construct, id: string, props: WorkerProps) {
    super(scope, id);
    const source = EVENT_SOURCES[props.name];
    this.lane = new QueueWithDeadLetters(this, 'Lane', {
      prefix: props.settings.prefix,
      queue: source.queue,
      key: props.key,
      sources: props.name === 'ingest' ? sourcesOf(props.settings) : [],
    });
    this.worker = new ConnectorFunction(this, 'Worker', {
      ...props,
      timeoutSeconds: source.functionTimeoutSeconds,
    });
    for (const [name, queue] of [['Source', this.lane.queue] as const, ...this.lane.ofSources]) {
      const mapping = new EventSourceMapping(this, queue === this.lane.queue ? name : `Source-${name}`, {
        target: this.worker.function,
        eventSourceArn: queue.queueArn,
        batchSize: source.batchSize,
        ...(source.maximumBatchingWindowSeconds > 0
          ? { maxBatchingWindow: Duration.seconds(source.maximumBatchingWindowSeconds) }
          : {}),
        // This maximum limits the share of the account's executions that one stage uses, and the concurrent calls to
        // the platform.
        maxConcurrency: source.maximumConcurrency,
        reportBatchItemFailures: true,
      });
      // When the mapping is created, Lambda checks that the role may read the queue.
      mapping.node.addDependency(this.worker.role);
    }
  }
}

interface Task {
  readonly name: ScheduleKey | OptionalScheduleKey;
  readonly everyMinutes: number;
  readonly payload: Readonly<Record<string, string | number>>;
  readonly description: string;
}

interface ScheduledWorkerProps extends ConnectorFunctionProps {
  readonly tasks: readonly Task[];
}

export class ScheduledWorker extends Construct {
  readonly worker: ConnectorFunction;

  constructor(scope: Construct, id: string, { tasks, ...props }: ScheduledWorkerProps) {
    super(scope, id);
    this.worker = new ConnectorFunction(this, 'Worker', props);
    // A failed run is not repeated, because the next run does its work. An alarm reports the failure.
    this.worker.function.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(5) });
    const role = this.#newSchedulerRole();
    for (const task of tasks) {
      new CfnSchedule(this, `Schedule-${task.name}`, {
        name: scheduleName(props.settings.prefix, task.name),
        description: task.description,
        // EventBridge requires the singular in `1 minute` and the plural in `5 minutes`.
        scheduleExpression: `rate(${task.everyMinutes} minute${task.everyMinutes === 1 ? '' : 's'})`,
        flexibleTimeWindow: { mode: 'OFF' },
        target: {
          arn: this.worker.function.functionArn,
          roleArn: role.roleArn,
          input: JSON.stringify(task.payload),
          // Retries end before the next scheduled run. Otherwise runs would accumulate. The next run does the work of a
          // lost call.
          retryPolicy: { maximumRetryAttempts: 3, maximumEventAgeInSeconds: task.everyMinutes * 60 },
        },
      }).node.addDependency(role);
    }
  }

  #newSchedulerRole(): Role {
    const stack = Stack.of(this);
    const group = stack.formatArn({
      service: 'scheduler',
      resource: 'schedule-group',
      resourceName: 'default',
      arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
    });
    const role = new Role(this, 'SchedulerRole', {
      // Only schedules of this account may take the role (Scheduler user guide, "Confused deputy prevention").
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': stack.account, 'aws:SourceArn': group } },
      }),
    });
    const resources = [this.worker.function.functionArn];
    role.addToPolicy(new PolicyStatement({ sid: 'Call', actions: ['lambda:InvokeFunction'], resources }));
    return role;
  }
}
