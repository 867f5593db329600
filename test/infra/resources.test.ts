import { describe, expect, it } from 'vitest';
import { ENVIRONMENT, FUNCTION_KEYS, STACK_OUTPUTS } from '../../shared/contract/names.ts';
import { EVENT_SOURCES, QUEUES } from '../../shared/contract/topology.ts';
import { everyResourceOf, resourcesOf, synthesise } from './synthesised.ts';

const { template } = synthesise();
/**
 * Variables that not every function has: variables of the local stack, of the setting `secretsKey`, and of the
 * functions `reconcile`, `directory` and `scim`.
 */
const NOT_OF_EVERY_FUNCTION = new Set<string>([
  ENVIRONMENT.createSettleSeconds,
  ENVIRONMENT.notify,
  ENVIRONMENT.scimAllowedIps,
  ENVIRONMENT.secretsKey,
  ENVIRONMENT.eventsQueueUrl,
  ENVIRONMENT.directoryMinutes,
  ENVIRONMENT.persons,
  ENVIRONMENT.console,
  ENVIRONMENT.consoleUrl,
  ENVIRONMENT.scimUrl,
  ENVIRONMENT.consoleRole,
]);
const DEPLOYED_ENVIRONMENT = Object.values(ENVIRONMENT).filter((name) => !NOT_OF_EVERY_FUNCTION.has(name));
/** Names of resources that must be unique in an account and region. */
const NAMED = ' Table Queue Function LogGroup Topic Alarm Dashboard ManagedPolicy Role Bucket';
const NAME_FIELDS = NAMED.split(' ').map((of) => `${of}Name`);
const all = (type: string) => Object.values(resourcesOf(template, type));
const named = (type: string, field: string, name: string) => {
  const found = all(type).find(({ Properties }) => Properties[field] === name);
  if (found === undefined) throw new Error(`expected a ${type} called ${name}`);
  return found;
};

describe('SQS queues', () => {
  it.each([
    ['groupsync-events', 'groupsync-events-dlq', QUEUES.events],
    ['groupsync-apply', 'groupsync-apply-dlq', QUEUES.apply],
  ])('the queue %s has the settings of the topology and redrives to %s', (name, deadLetters, topology) => {
    const { Properties } = named('AWS::SQS::Queue', 'QueueName', name);
    const dead = Object.entries(resourcesOf(template, 'AWS::SQS::Queue')).find(
      ([, queue]) => queue.Properties.QueueName === deadLetters,
    );
    expect(Properties).toMatchObject({
      MessageRetentionPeriod: topology.retentionSeconds,
      VisibilityTimeout: topology.visibilityTimeoutSeconds,
      RedrivePolicy: {
        deadLetterTargetArn: { 'Fn::GetAtt': [dead?.[0], 'Arn'] },
        maxReceiveCount: topology.redrive?.maxReceiveCount,
      },
    });
    expect(Properties).not.toHaveProperty('FifoQueue');
  });

  it.each(['groupsync-events', 'groupsync-apply'])(
    'the dead-letter queue of %s keeps messages for 14 days and accepts them only from this queue',
    (name) => {
      const { Properties } = named('AWS::SQS::Queue', 'QueueName', `${name}-dlq`);
      expect(Properties.MessageRetentionPeriod).toBe(14 * 86_400);
      expect(Properties.RedriveAllowPolicy.redrivePermission).toBe('byQueue');
      expect(Properties.RedriveAllowPolicy.sourceQueueArns).toHaveLength(1);
      expect(JSON.stringify(Properties.RedriveAllowPolicy.sourceQueueArns)).toContain(`:${name}"`);
    },
  );
});

describe('DynamoDB table', () => {
  const table = named('AWS::DynamoDB::Table', 'TableName', 'groupsync-state');

  it('the table has on-demand capacity, point-in-time recovery and a time to live', () => {
    expect(table.Properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
    });
  });

  it('the table is kept after the stack is deleted, except with retainData false or after a failed first deployment', () => {
    expect(table).toMatchObject({ DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' });
    const given = synthesise({ retainData: false }).template;
    const [gone] = Object.values(resourcesOf(given, 'AWS::DynamoDB::Table'));
    expect(gone).toMatchObject({ DeletionPolicy: 'Delete' });
  });
});

describe('Lambda functions', () => {
  it.each(FUNCTION_KEYS)(
    'the function %s runs on Node 24 and arm64, with tracing, an expiring log and all environment variables',
    (name) => {
      const { Properties } = named('AWS::Lambda::Function', 'FunctionName', `groupsync-${name}`);
      expect(Properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        TracingConfig: { Mode: 'Active' },
      });
      const more = name === 'reconcile' ? [ENVIRONMENT.notify, ENVIRONMENT.persons] : [];
      expect(Object.keys(Properties.Environment.Variables).sort()).toEqual(
        [...DEPLOYED_ENVIRONMENT, ...more].sort(),
      );
      const log = named('AWS::Logs::LogGroup', 'LogGroupName', `/aws/lambda/groupsync-${name}`);
      expect(log.Properties.RetentionInDays).toBe(30);
    },
  );

  it('Lambda allows only apply to cause calls of itself, because apply wakes groups again', () => {
    const loops = all('AWS::Lambda::Function').map(({ Properties }) => [
      Properties.FunctionName,
      Properties.RecursiveLoop,
    ]);
    expect(loops.filter(([, loop]) => loop === 'Allow')).toEqual([['groupsync-apply', 'Allow']]);
    expect(loops.filter(([, loop]) => loop === 'Terminate')).toHaveLength(loops.length - 1);
  });

  it('functions receive from their queues as the topology defines, and report failing messages one by one', () => {
    const mappings = all('AWS::Lambda::EventSourceMapping').map(({ Properties }) => Properties);
    expect(mappings).toHaveLength(2);
    for (const source of Object.values(EVENT_SOURCES)) {
      expect(mappings).toContainEqual(
        expect.objectContaining({
          BatchSize: source.batchSize,
          FunctionResponseTypes: ['ReportBatchItemFailures'],
          ScalingConfig: { MaximumConcurrency: source.maximumConcurrency },
        }),
      );
    }
  });
});

describe('schedules', () => {
  it('each schedule has its task and rate, limited retries and a queue for failed calls', () => {
    const schedules = all('AWS::Scheduler::Schedule').map(({ Properties }) => [
      Properties.Name,
      Properties.ScheduleExpression,
      Properties.Target.Input,
    ]);
    expect(schedules.sort()).toEqual([
      ['groupsync-feed', 'rate(5 minutes)', '{"task":"feed"}'],
      ['groupsync-health', 'rate(1440 minutes)', '{"task":"health"}'],
      ['groupsync-people', 'rate(60 minutes)', '{}'],
      ['groupsync-pump', 'rate(1 minute)', '{"task":"pump"}'],
      ['groupsync-sweep', 'rate(60 minutes)', '{"task":"sweep"}'],
    ]);
    const [undelivered] = Object.keys(resourcesOf(template, 'AWS::SQS::Queue')).filter((id) =>
      id.startsWith('Undelivered'),
    );
    for (const { Properties } of all('AWS::Scheduler::Schedule')) {
      expect(Properties.Target.DeadLetterConfig).toEqual({ Arn: { 'Fn::GetAtt': [undelivered, 'Arn'] } });
      expect(Properties.Target.RetryPolicy.MaximumRetryAttempts).toBe(3);
      expect(Properties.Target.RetryPolicy.MaximumEventAgeInSeconds).toBeLessThanOrEqual(86_400);
    }
  });

  it('Lambda does not retry the functions that schedules call', () => {
    const configs = all('AWS::Lambda::EventInvokeConfig').map(
      ({ Properties }) => Properties.MaximumRetryAttempts,
    );
    expect(configs).toEqual([0, 0]);
  });
});

describe('CDK stack', () => {
  it('the stack has termination protection, except with retainData false', () => {
    expect([true, false].map((retainData) => synthesise({ retainData }).stack.terminationProtection)).toEqual(
      [true, false],
    );
  });

  it('the stack has the outputs that the command line reads', () => {
    expect(Object.keys(template.findOutputs('*'))).toEqual(
      expect.arrayContaining([...Object.values(STACK_OUTPUTS), 'KeyArn', 'AlarmTopicArn']),
    );
  });

  it('two stages share no physical name', () => {
    const names = (prefix: string) =>
      Object.values(everyResourceOf(synthesise({ prefix }).template)).flatMap(({ Properties = {} }) =>
        NAME_FIELDS.flatMap((field) => (typeof Properties[field] === 'string' ? [Properties[field]] : [])),
      );
    const [one, two] = [names('one'), names('two')];
    expect(one.length).toBeGreaterThan(40);
    expect(one.filter((name) => two.includes(name))).toEqual([]);
  });

  it('the stack can exist in two regions, because names unique in an account contain the region', () => {
    const names = ['IAM::ManagedPolicy', 'CloudWatch::Dashboard', 'IAM::Role', 'S3::Bucket'].flatMap((type) =>
      all(`AWS::${type}`).flatMap(({ Properties: of }) => NAME_FIELDS.flatMap((field) => of[field] ?? [])),
    );
    expect(names.map((name) => name.endsWith('-eu-west-1'))).toEqual(Array(4).fill(true));
  });

  it('changed schedules, producers, logs and retention replace neither the table nor the key nor a queue', () => {
    const stateful = ['AWS::DynamoDB::Table', 'AWS::KMS::Key', 'AWS::SQS::Queue'];
    const changed = synthesise({
      coalesceSeconds: 0,
      pumpMinutes: 2,
      sweepMinutes: 30,
      alarmEmail: 'ops@acme.test',
      producers: 'arn:aws:iam::111122223333:role/a',
      logRetentionDays: 90,
      logLevel: 'debug',
      retainData: false,
    }).template;
    const identity = (from: typeof template) =>
      stateful.flatMap((type) =>
        Object.entries(resourcesOf(from, type)).map(([id, { Properties: p }]) => ({
          id,
          names: [p.TableName, p.QueueName, p.FifoQueue, p.KeySchema, p.KeySpec],
        })),
      );
    expect(identity(changed)).toEqual(identity(template));
  });

  it('the logical ids of stateful resources are fixed, because a new id would replace the resource', () => {
    const ids = ['AWS::DynamoDB::Table', 'AWS::KMS::Key', 'AWS::SQS::Queue'].flatMap((type) =>
      Object.keys(resourcesOf(template, type)),
    );
    expect(ids.sort()).toMatchInlineSnapshot(`
      [
        "ApplyLaneDeadLetters8DB35133",
        "ApplyLaneQueueF7C89A1C",
        "IngestLaneDeadLetters2AD6BD77",
        "IngestLaneQueue22CA3C12",
        "Key961B73FD",
        "StateTable962DE04C",
        "UndeliveredQueue47FA64CB",
      ]
    `);
  });
});
