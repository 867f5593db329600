import { ArnFormat, Duration, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { type ScheduleKey, scheduleName } from '../shared/contract/names.ts';
import { ConnectorFunction, type ConnectorFunctionProps } from './connector-function.ts';

/** One thing that a function does again and again. */
export interface Task {
  readonly name: ScheduleKey;
  readonly everyMinutes: number;
  readonly payload: Readonly<Record<string, string>>;
  readonly description: string;
}

interface ScheduledWorkerProps extends ConnectorFunctionProps {
  readonly tasks: readonly Task[];
  /** Where the scheduler puts what it could not deliver. */
  readonly undelivered: IQueue;
}

/** A function and the schedules that call it. */
export class ScheduledWorker extends Construct {
  readonly worker: ConnectorFunction;

  constructor(scope: Construct, id: string, { tasks, undelivered, ...props }: ScheduledWorkerProps) {
    super(scope, id);
    this.worker = new ConnectorFunction(this, 'Worker', props);
    // A run that failed is not repeated: the next one does all that it left. Its error alarms by itself.
    this.worker.function.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(5) });
    const role = this.#schedulerRole(undelivered, props.key);
    for (const task of tasks) {
      new CfnSchedule(this, `Schedule-${task.name}`, {
        name: scheduleName(props.settings.prefix, task.name),
        description: task.description,
        scheduleExpression: rate(task.everyMinutes),
        flexibleTimeWindow: { mode: 'OFF' },
        target: {
          arn: this.worker.function.functionArn,
          roleArn: role.roleArn,
          input: JSON.stringify(task.payload),
          deadLetterConfig: { arn: undelivered.queueArn },
          // Trying longer than until the next turn would only pile runs up.
          retryPolicy: { maximumRetryAttempts: 3, maximumEventAgeInSeconds: task.everyMinutes * 60 },
        },
      }).node.addDependency(role);
    }
  }

  #schedulerRole(undelivered: IQueue, key: IKey): Role {
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
    const allow = (sid: string, actions: string[], resource: string) =>
      role.addToPolicy(new PolicyStatement({ sid, actions, resources: [resource] }));
    allow('Call', ['lambda:InvokeFunction'], this.worker.function.functionArn);
    allow('SetAside', ['sqs:SendMessage'], undelivered.queueArn);
    allow('SetAsideEncrypted', ['kms:Decrypt', 'kms:GenerateDataKey'], key.keyArn);
    return role;
  }
}

/** EventBridge wants `1 minute` but `5 minutes`. */
const rate = (minutes: number) => `rate(${minutes} ${minutes === 1 ? 'minute' : 'minutes'})`;
