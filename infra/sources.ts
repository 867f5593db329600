import { Annotations, Lazy, Stack } from 'aws-cdk-lib';
import { EventBus, Rule } from 'aws-cdk-lib/aws-events';
import type { PolicyStatementProps } from 'aws-cdk-lib/aws-iam';
import { AnyPrincipal, ArnPrincipal, Effect, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { SqsSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Settings } from './settings.ts';

const EVENTBRIDGE = new ServicePrincipal('events.amazonaws.com');

interface SourcesProps {
  readonly settings: Settings;
  readonly events: Queue;
  readonly ofSources: ReadonlyMap<string, Queue>;
  readonly undelivered: Queue;
  readonly key: IKey;
  readonly reader: { readonly role: string; readonly queue: Queue } | undefined;
  /** The role of the console, which replays dead-lettered messages. */
  readonly console: string | undefined;
}

/** Permits the senders of directory events: the named roles and users, Okta's log stream, and an SNS topic. */
export class Sources extends Construct {
  readonly #common: NamedProducers;

  constructor(scope: Construct, id: string, props: SourcesProps) {
    super(scope, id);
    const { settings } = props;
    this.#common = this.#namedProducers(props, settings.producers);
    for (const [source, events] of props.ofSources) {
      this.#namedProducers({ ...props, events }, settings.sources[source]?.producers ?? []);
    }
    if (props.reader !== undefined) closeTo(props.reader.role, props.reader.queue);
    if (settings.oktaEventSource !== undefined) this.#oktaLogStream(props, settings.oktaEventSource);
    if (settings.snsTopicArn !== undefined) this.#topic(props, settings.snsTopicArn);
  }

  /** Lets these roles and users send to the common events queue, and refuses all unnamed principals. */
  admit(producers: readonly string[]): void {
    this.#common.admit(producers);
  }

  #namedProducers({ events, key, console }: SourcesProps, producers: readonly string[]): NamedProducers {
    const named = new NamedProducers(events, (statement) => this.#useKey(key, 'producers', statement));
    named.admit(producers.length === 0 || console === undefined ? producers : [...producers, console]);
    return named;
  }

  /** Okta's log stream arrives on a separate partner bus. Only events about groups and users are forwarded. */
  #oktaLogStream({ events, undelivered, key }: SourcesProps, eventSourceName: string): void {
    const bus = new EventBus(this, 'OktaBus', { eventSourceName });
    const rule = new Rule(this, 'OktaRule', {
      eventBus: bus,
      description: 'Okta events about groups and users, to the events queue',
      eventPattern: {
        source: [eventSourceName],
        detail: { eventType: [{ prefix: 'group.' }, { prefix: 'user.' }] },
      },
    });
    // For an encrypted queue, the target class of the CDK would let every rule of the account send. Then a principal
    // that may create rules could add people to groups.
    rule.addTarget({
      bind: () => ({ arn: events.queueArn, deadLetterConfig: { arn: undelivered.queueArn } }),
    });
    for (const queue of [events, undelivered]) {
      queue.addToResourcePolicy(
        new PolicyStatement({
          sid: 'OktaRule',
          principals: [EVENTBRIDGE],
          actions: ['sqs:SendMessage'],
          resources: [queue.queueArn],
          conditions: { ArnEquals: { 'aws:SourceArn': rule.ruleArn } },
        }),
      );
    }
    // The condition names the account. A reference to the rule would create a cycle: rule, queue, key, rule.
    const ofThisAccount = { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } };
    this.#useKey(key, 'okta', { principals: [EVENTBRIDGE], conditions: ofThisAccount });
  }

  #topic({ events, undelivered, key }: SourcesProps, topicArn: string): void {
    const topic = Topic.fromTopicArn(this, 'Topic', topicArn);
    topic.addSubscription(new SqsSubscription(events, { deadLetterQueue: undelivered }));
    // If the key belongs to this stack, the CDK has already added this statement. For an imported key, this call prints
    // the statement.
    const conditions = { ArnEquals: { 'aws:SourceArn': topicArn } };
    this.#useKey(key, 'topic', { principals: [new ServicePrincipal('sns.amazonaws.com')], conditions });
  }

  /** Lets the sender encrypt messages. For an imported key (`keyArn`), only prints the statement. */
  #useKey(key: IKey, who: string, statement: PolicyStatementProps): void {
    const use = new PolicyStatement({
      ...statement,
      actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
      resources: ['*'],
    });
    if (key.addToResourcePolicy(use).statementAdded) return;
    const missing = JSON.stringify(Stack.of(this).resolve(use.toStatementJson()));
    Annotations.of(this).addWarningV2(
      `groupsync:key-policy-${who}`,
      `the policy of ${key.keyArn} (keyArn) needs this statement; without it, no event can be sent: ${missing}`,
    );
  }
}

/**
 * The producers of one events queue. The Allow statement permits principals of other accounts. The Deny statement
 * refuses principals of this account whose own policies would let them send. A message in this queue can add people to
 * groups, so a general permission for SQS must not be enough to send a message.
 */
class NamedProducers {
  readonly #events: Queue;
  readonly #useKey: (statement: PolicyStatementProps) => void;
  readonly #arns: string[] = [];
  #allow: PolicyStatement | undefined;

  constructor(events: Queue, useKey: (statement: PolicyStatementProps) => void) {
    this.#events = events;
    this.#useKey = useKey;
  }

  admit(producers: readonly string[]): void {
    if (producers.length === 0) return;
    this.#arns.push(...producers);
    const principals = producers.map((arn) => new ArnPrincipal(arn));
    if (this.#allow === undefined) this.#allow = this.#closed();
    this.#allow.addPrincipals(...principals);
    const via = `sqs.${Stack.of(this.#events).region}.amazonaws.com`;
    this.#useKey({ principals, conditions: { StringEquals: { 'kms:ViaService': via } } });
  }

  /** Refuses all principals that are not named. Returns the statement that lets the named principals send. */
  #closed(): PolicyStatement {
    const { queueArn } = this.#events;
    const actions = ['sqs:SendMessage', 'sqs:GetQueueUrl'];
    const allow = new PolicyStatement({ sid: 'NamedProducers', actions, resources: [queueArn] });
    this.#events.addToResourcePolicy(allow);
    closeTo(Lazy.list({ produce: () => this.#arns }), this.#events);
    return allow;
  }
}

/**
 * Denies sending to all principals except the producers and AWS services, even if their IAM policies allow sending.
 * Without producers, only AWS services may send.
 */
export const closeTo = (producers: string | readonly string[], queue: Queue) =>
  queue.addToResourcePolicy(
    new PolicyStatement({
      sid: 'DenyOtherSenders',
      effect: Effect.DENY,
      principals: [new AnyPrincipal()],
      actions: ['sqs:SendMessage'],
      resources: [queue.queueArn],
      conditions: {
        ...(producers.length > 0 && { ArnNotEquals: { 'aws:PrincipalArn': producers } }),
        // EventBridge and SNS have separate statements. `redriveAllowPolicy` limits the redrive of SQS.
        Bool: { 'aws:PrincipalIsAWSService': 'false' },
      },
    }),
  );
