import { Stack } from 'aws-cdk-lib';
import { EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import {
  AnyPrincipal,
  ArnPrincipal,
  Effect,
  PolicyStatement,
  type PolicyStatementProps,
} from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { SqsSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Settings } from './settings.ts';

interface SourcesProps {
  readonly settings: Settings;
  readonly events: Queue;
  readonly undelivered: Queue;
  readonly key: IKey;
}

/** Who may put directory events into the events queue: named roles and users, Okta's log stream, an SNS topic. */
export class Sources extends Construct {
  constructor(scope: Construct, id: string, props: SourcesProps) {
    super(scope, id);
    const { settings } = props;
    if (settings.producers.length > 0) this.#namedProducersOnly(props, settings.producers);
    if (settings.oktaEventSource !== undefined) this.#oktaLogStream(props, settings.oktaEventSource);
    if (settings.snsTopicArn !== undefined) this.#topic(props, settings.snsTopicArn);
  }

  /**
   * The Allow lets other accounts' principals in; the Deny keeps out those of this account whose own policies would
   * let them send. A message here grants access to groups, so "may use SQS" must not be enough.
   */
  #namedProducersOnly({ events, key }: SourcesProps, producers: readonly string[]): void {
    const principals = producers.map((arn) => new ArnPrincipal(arn));
    const ofQueue = (statement: PolicyStatementProps) =>
      events.addToResourcePolicy(new PolicyStatement({ ...statement, resources: [events.queueArn] }));
    ofQueue({ sid: 'NamedProducers', principals, actions: ['sqs:SendMessage', 'sqs:GetQueueUrl'] });
    ofQueue({
      sid: 'NobodyElse',
      effect: Effect.DENY,
      principals: [new AnyPrincipal()],
      actions: ['sqs:SendMessage'],
      conditions: {
        ArnNotEquals: { 'aws:PrincipalArn': producers },
        // EventBridge, SNS and SQS's own redrive have statements, or rights, of their own.
        Bool: { 'aws:PrincipalIsAWSService': 'false' },
      },
    });
    key.addToResourcePolicy(
      new PolicyStatement({
        sid: 'NamedProducers',
        principals,
        actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
        resources: ['*'],
        conditions: { StringEquals: { 'kms:ViaService': `sqs.${Stack.of(this).region}.amazonaws.com` } },
      }),
    );
  }

  /** Okta's log stream arrives on a partner bus of its own; only events about groups and users are passed on. */
  #oktaLogStream({ events, undelivered }: SourcesProps, eventSourceName: string): void {
    const bus = new EventBus(this, 'OktaBus', { eventSourceName });
    new Rule(this, 'OktaRule', {
      eventBus: bus,
      description: 'Okta events about groups and users, to the events queue',
      eventPattern: {
        source: [eventSourceName],
        detail: { eventType: [{ prefix: 'group.' }, { prefix: 'user.' }] },
      },
      targets: [new SqsQueue(events, { deadLetterQueue: undelivered })],
    });
  }

  #topic({ events, undelivered }: SourcesProps, topicArn: string): void {
    const topic = Topic.fromTopicArn(this, 'Topic', topicArn);
    topic.addSubscription(new SqsSubscription(events, { deadLetterQueue: undelivered }));
  }
}
