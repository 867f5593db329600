import { describe, expect, it } from 'vitest';
import { listed, resourcesOf, type Statement, synthesise } from './synthesised.ts';

const ROLE = 'arn:aws:iam::111122223333:role/directory';
const TOPIC = 'arn:aws:sns:eu-west-1:111122223333:directory';
const NINE_SOURCES = Array.from({ length: 9 }, (_, at) => `source-${at + 1}`);

const { template } = synthesise({
  producers: ROLE,
  sources: Object.fromEntries(NINE_SOURCES.map((source) => [source, { connection: 'acme' }])),
  oktaEventSource: 'aws.partner/okta.com/acme/stream',
  snsTopicArn: TOPIC,
  scim: true,
  auditExportDays: 400,
});

interface RedriveAllowPolicy {
  readonly redrivePermission: string;
  readonly sourceQueueArns?: readonly unknown[];
}

/** The redrive allow policy of each queue of the stack, by the queue's name. */
const allowPolicies = new Map<string, RedriveAllowPolicy>(
  Object.values(resourcesOf(template, 'AWS::SQS::Queue')).map(({ Properties }) => [
    Properties.QueueName,
    Properties.RedriveAllowPolicy,
  ]),
);

/** Returns the names at the end of ARNs that contain pseudo parameters. */
const namesIn = (arns: readonly unknown[] = []) =>
  arns.map((arn) => /:([\w-]+)"\]\]\}$/.exec(JSON.stringify(arn))?.[1]).sort();

describe('redrive between queues', () => {
  it('every queue of the stack has a redrive allow policy', () => {
    const names = ['apply', 'apply-dlq', 'events', 'events-dlq', 'undelivered'];
    const ofSources = NINE_SOURCES.map((source) => `events-${source}`);
    const expected = [...names, ...ofSources].map((name) => `groupsync-${name}`).sort();
    expect([...allowPolicies.keys()].sort()).toEqual(expected);
    for (const policy of allowPolicies.values()) expect(policy).toBeDefined();
  });

  it('no queue can use the events, source, apply or undelivered queue as its dead-letter queue', () => {
    for (const [name, policy] of allowPolicies) {
      if (!name.endsWith('-dlq')) expect([name, policy]).toEqual([name, { redrivePermission: 'denyAll' }]);
    }
  });

  it.each([
    ['groupsync-apply-dlq', ['groupsync-apply']],
    [
      'groupsync-events-dlq',
      ['groupsync-events', ...NINE_SOURCES.map((source) => `groupsync-events-${source}`)],
    ],
  ])(
    'at most ten source queues, and no other queues, can use %s as their dead-letter queue',
    (name, sources) => {
      const policy = allowPolicies.get(name);
      expect(policy?.redrivePermission).toBe('byQueue');
      expect(namesIn(policy?.sourceQueueArns)).toEqual([...sources].sort());
      expect(policy?.sourceQueueArns?.length).toBeLessThanOrEqual(10);
    },
  );
});

describe('queue of undelivered calls', () => {
  const statementsIn = (of: typeof template): Statement[] => {
    const policies = Object.entries(resourcesOf(of, 'AWS::SQS::QueuePolicy'));
    const [, policy] = policies.find(([id]) => id.startsWith('Undelivered')) ?? [];
    return policy?.Properties.PolicyDocument.Statement ?? [];
  };
  const sendersIn = (of: typeof template) => {
    const denial = statementsIn(of).find(({ Sid }) => Sid === 'DenyOtherSenders');
    expect(denial).toMatchObject({
      Effect: 'Deny',
      Principal: { AWS: '*' },
      Action: 'sqs:SendMessage',
      Condition: { Bool: { 'aws:PrincipalIsAWSService': 'false' } },
    });
    const arns = listed(denial?.Condition?.['ArnNotEquals']?.['aws:PrincipalArn']);
    return arns.map((arn) => (arn as { 'Fn::GetAtt': [string] })['Fn::GetAtt'][0].slice(0, -8)).sort();
  };
  const schedulers = ['PeopleSchedulerRole', 'ReconcileSchedulerRole'];

  it('the queue of undelivered calls accepts messages of roles only from the schedules and the audit export', () => {
    expect(sendersIn(template)).toEqual(['AuditWorkerRole', ...schedulers]);
    expect(sendersIn(synthesise().template)).toEqual(schedulers);
  });

  it('the queue of undelivered calls accepts messages of AWS services only for an Okta rule or a topic of the settings', () => {
    const allowed = statementsIn(template).filter(({ Effect }) => Effect === 'Allow');
    const sourceOf = ({ Condition }: Statement) => Condition?.['ArnEquals']?.['aws:SourceArn'];
    const bySender = Object.fromEntries(
      allowed.map((one) => [(one.Principal as { Service: string }).Service, sourceOf(one)]),
    );
    expect(Object.keys(bySender).sort()).toEqual(['events.amazonaws.com', 'sns.amazonaws.com']);
    expect(bySender['sns.amazonaws.com']).toBe(TOPIC);
    expect(JSON.stringify(bySender['events.amazonaws.com'])).toContain('OktaRule');
    expect(allowed).toHaveLength(2);
    const plain = statementsIn(synthesise().template);
    expect(plain.filter(({ Effect }) => Effect === 'Allow')).toEqual([]);
  });
});
