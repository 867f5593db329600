import { describe, expect, it } from 'vitest';
import { ENVIRONMENT } from '../../shared/contract/names.ts';
import { type CfnResource, everyResourceOf, resourcesOf, type Statement, synthesise } from './synthesised.ts';

const off = synthesise().template;
const on = synthesise({ directory: true }).template;

const named = (type: string, property: string, name: string) =>
  Object.values(resourcesOf(on, type)).find(({ Properties }) => Properties[property] === name)?.Properties;

/** Returns the statements of the policies of the function's role. */
const statementsOf = (of: typeof on): readonly Statement[] =>
  Object.entries(resourcesOf(of, 'AWS::IAM::Policy'))
    .filter(([id]) => id.startsWith('DirectoryWorkerRole'))
    .flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement as Statement[]);

const sendsOf = (of: typeof on): readonly string[] =>
  statementsOf(of)
    .filter(({ Action }) => JSON.stringify(Action).includes('sqs:SendMessage'))
    .map(({ Resource }) => JSON.stringify(Resource));

describe('stage that reads no directory', () => {
  it('the stage has no function, schedule or role for directories', () => {
    // The operators' policies name the function even if the stage does not deploy it, so the test ignores them.
    const isPolicy = ({ Type }: CfnResource) => Type === 'AWS::IAM::ManagedPolicy';
    const others = Object.values(everyResourceOf(off)).filter((one) => !isPolicy(one));
    expect(JSON.stringify(others)).not.toContain('groupsync-directory');
  });
});

describe('stage that reads directories', () => {
  it('the stage reads directories every five minutes, for at most fifteen minutes', () => {
    const schedule = named('AWS::Scheduler::Schedule', 'Name', 'groupsync-directory');
    expect(schedule).toMatchObject({ ScheduleExpression: 'rate(5 minutes)', Target: { Input: '{}' } });
    const reader = named('AWS::Lambda::Function', 'FunctionName', 'groupsync-directory');
    expect(reader).toMatchObject({ Timeout: 900, MemorySize: 1024 });
    expect(Object.keys(reader.Environment.Variables)).toContain(ENVIRONMENT.eventsQueueUrl);
  });

  it('the directory function has its own events queue, to which no other role may send', () => {
    const [id] =
      Object.entries(resourcesOf(on, 'AWS::SQS::Queue')).find(
        ([, { Properties }]) => Properties['QueueName'] === 'groupsync-events-directory',
      ) ?? [];
    const reader = named('AWS::Lambda::Function', 'FunctionName', 'groupsync-directory');
    expect(reader.Environment.Variables[ENVIRONMENT.eventsQueueUrl]).toEqual({ Ref: id });
    const policies = Object.values(resourcesOf(on, 'AWS::SQS::QueuePolicy'))
      .map(({ Properties }) => Properties)
      .filter(({ Queues }) => JSON.stringify(Queues).includes(`"${id}"`));
    const denial = policies
      .flatMap(({ PolicyDocument }) => PolicyDocument.Statement as Statement[])
      .find(({ Sid }) => Sid === 'DenyOtherSenders');
    expect(JSON.stringify(denial?.Condition)).toMatch(
      /^{"ArnNotEquals":{"aws:PrincipalArn":{"Fn::GetAtt":\["DirectoryWorkerRole/,
    );
    expect(sendsOf(on)).toEqual([JSON.stringify({ 'Fn::GetAtt': [id, 'Arn'] })]);
    const sources = Object.values(resourcesOf(on, 'AWS::Lambda::EventSourceMapping'));
    expect(JSON.stringify(sources)).toContain(`"${id}"`);
  });

  it('the stage does not let the directory function send to the common queue', () => {
    const producer = 'arn:aws:iam::111122223333:role/hr';
    const { template } = synthesise({ directory: true, producers: [producer] });
    const policies = Object.values(resourcesOf(template, 'AWS::SQS::QueuePolicy'));
    const denials = policies
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement as Statement[])
      .filter(({ Effect, Condition }) => Effect === 'Deny' && JSON.stringify(Condition).includes(producer));
    expect(JSON.stringify(denials)).not.toContain('DirectoryWorkerRole');
  });

  it('the directory function may read only secrets of directories', () => {
    const secrets = statementsOf(on).filter(({ Action }) =>
      JSON.stringify(Action).includes('secretsmanager'),
    );
    expect(secrets.map(({ Action, Resource }) => [Action, JSON.stringify(Resource)])).toEqual([
      [
        'secretsmanager:GetSecretValue',
        expect.stringContaining(':secret:groupsync/connections/*/directory-??????"'),
      ],
    ]);
  });

  it('the directory function may request tokens valid for at most five minutes, only for configured audiences', () => {
    const audience = 'https://iam.googleapis.com/projects/1/providers/aws';
    const tokens = (of: typeof on) => statementsOf(of).filter(({ Sid }) => Sid === 'ProveItself');
    expect(tokens(on)).toEqual([]);
    expect(tokens(synthesise({ directory: true, directoryAudiences: audience }).template)).toMatchObject([
      {
        Action: 'sts:GetWebIdentityToken',
        Resource: '*',
        Condition: {
          'ForAllValues:StringEquals': { 'sts:IdentityTokenAudience': [audience] },
          Null: { 'sts:IdentityTokenAudience': 'false' },
          NumericLessThanEquals: { 'sts:DurationSeconds': 300 },
        },
      },
    ]);
  });

  it('the directory function may sign only with the keys of the settings', () => {
    const key = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
    const signatures = (of: typeof on) => statementsOf(of).filter(({ Sid }) => Sid === 'SignAsApplication');
    expect(signatures(on)).toEqual([]);
    expect(signatures(synthesise({ directory: true, directoryKeys: key }).template)).toMatchObject([
      {
        Action: 'kms:Sign',
        Resource: key,
        Condition: { StringEquals: { 'kms:SigningAlgorithm': 'RSASSA_PKCS1_V1_5_SHA_256' } },
      },
    ]);
  });

  it('the stack outputs the role ARN of the directory function, so that the directory can trust this role', () => {
    expect(JSON.stringify(on.toJSON()['Outputs'].DirectoryRoleArn)).toContain('DirectoryWorkerRole');
    expect(off.toJSON()['Outputs']).not.toHaveProperty('DirectoryRoleArn');
  });

  it('the setting directoryMinutes defines the time between two runs of the directory function', () => {
    const { template } = synthesise({ directory: true, directoryMinutes: 15 });
    expect(JSON.stringify(resourcesOf(template, 'AWS::Scheduler::Schedule'))).toContain('rate(15 minutes)');
  });
});
