import { Duration, Validations } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { type AlarmDesk, addAlarm } from './alarm.ts';

interface UndeliveredProps {
  readonly key: IKey;
  readonly desk: AlarmDesk;
}

/** Where EventBridge, its scheduler and SNS put what they could not hand over; nothing reads it but people. */
export class Undelivered extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string, { key, desk }: UndeliveredProps) {
    super(scope, id);
    this.queue = new Queue(this, 'Queue', {
      queueName: `${desk.prefix}-undelivered`,
      retentionPeriod: Duration.days(14),
      encryption: QueueEncryption.KMS,
      encryptionMasterKey: key,
      enforceSSL: true,
    });
    Validations.of(this.queue).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason:
        'This queue is itself the dead-letter queue of the schedules, the EventBridge rule and the SNS subscription.',
    });
    addAlarm(this, desk, {
      heading: 'Undelivered calls',
      meaning: 'A schedule could not call its function, or an event could not be put into the events queue.',
      metric: this.queue.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum' }),
      threshold: 1,
    });
  }
}
