import { expect, it } from 'vitest';
import { DEPLOYABLE_KEYS } from '../../infra/function-code.ts';
import { SIGN_IN } from './sign-in.ts';
import { type CfnResource, listed, resourcesOf, type Statement, synthesise } from './synthesised.ts';

const ROLE = 'arn:aws:iam::111122223333:role/directory';
/** The role of the function that reads directories, which sends events. */
const READER = { 'Fn::GetAtt': [expect.stringMatching(/^DirectoryWorkerRole/), 'Arn'] };
/** The role of the console, which replays dead-lettered messages. */
const CONSOLE = { 'Fn::GetAtt': [expect.stringMatching(/^ConsoleWorkerRole/), 'Arn'] };
const plain = synthesise().template;
const full = synthesise({
  directory: true,
  directoryAudiences: 'https://audience.test',
  producers: ROLE,
  oktaEventSource: 'aws.partner/okta.com/acme/stream',
  snsTopicArn: 'arn:aws:sns:eu-west-1:111122223333:directory',
  alarmEmail: 'ops@acme.test',
  scim: true,
  console: SIGN_IN,
  auditExportDays: 400,
}).template;

const statementsOf = (document: { Statement: Statement[] }) => document.Statement;

/** Every statement of the policies of all roles, with the logical id of the policy. */
const roleStatements = Object.entries(resourcesOf(full, 'AWS::IAM::Policy')).flatMap(([id, policy]) =>
  statementsOf(policy.Properties.PolicyDocument).map((statement) => ({ id, ...statement })),
);

it('every queue, the table, the bucket, the alarm topic and every log group use one key', () => {
  const [key] = Object.keys(resourcesOf(full, 'AWS::KMS::Key'));
  const arn = { 'Fn::GetAtt': [key, 'Arn'] };
  const encrypted = (type: string, keyOf: (properties: CfnResource['Properties']) => unknown) => {
    const found = Object.values(resourcesOf(full, type));
    for (const { Properties } of found) expect(keyOf(Properties)).toEqual(arn);
    return found.length;
  };
  expect(encrypted('AWS::SQS::Queue', (queue) => queue.KmsMasterKeyId)).toBe(6);
  // One log group per function, one for the audit export, and one for the access log of each HTTP API.
  expect(encrypted('AWS::Logs::LogGroup', (log) => log.KmsKeyId)).toBe(DEPLOYABLE_KEYS.length + 3);
  expect(encrypted('AWS::SNS::Topic', (topic) => topic.KmsMasterKeyId)).toBe(1);
  expect(
    encrypted('AWS::DynamoDB::Table', ({ SSESpecification: by }) => by.SSEEnabled && by.KMSMasterKeyId),
  ).toBe(1);
  const ofBucket = ({ BucketEncryption: by }: CfnResource['Properties']) =>
    by.ServerSideEncryptionConfiguration[0].ServerSideEncryptionByDefault.KMSMasterKeyID;
  expect(encrypted('AWS::S3::Bucket', ofBucket)).toBe(1);
});

it('the key rotates, and stays after the stack is deleted', () => {
  const [key] = Object.values(resourcesOf(plain, 'AWS::KMS::Key'));
  expect(key).toMatchObject({
    DeletionPolicy: 'RetainExceptOnCreate',
    UpdateReplacePolicy: 'Retain',
    Properties: { EnableKeyRotation: true },
  });
});

it('every queue, the alarm topic and the bucket refuse requests without TLS', () => {
  const denials = [
    ...Object.values(resourcesOf(full, 'AWS::SQS::QueuePolicy')),
    ...Object.values(resourcesOf(full, 'AWS::SNS::TopicPolicy')),
    ...Object.values(resourcesOf(full, 'AWS::S3::BucketPolicy')),
  ].map(({ Properties }) =>
    statementsOf(Properties.PolicyDocument).some(
      ({ Effect, Principal, Condition }) =>
        Effect === 'Deny' &&
        ['{"AWS":"*"}', '"*"'].includes(JSON.stringify(Principal)) &&
        Condition?.['Bool']?.['aws:SecureTransport'] === 'false',
    ),
  );
  expect(denials).toHaveLength(8);
  expect(denials.every(Boolean)).toBe(true);
});

const policyOf = (template: typeof full, queue = 'IngestLaneQueuePolicy') => {
  const policies = Object.entries(resourcesOf(template, 'AWS::SQS::QueuePolicy'));
  const found = policies.find(([id]) => id.startsWith(queue));
  return statementsOf(found?.[1].Properties.PolicyDocument);
};

it('only the named producers, the console and the configured services may send events', () => {
  const allowed = policyOf(full).filter(({ Effect }) => Effect === 'Allow');
  const principals = allowed.map(({ Principal }) => JSON.stringify(Principal)).sort();
  expect(principals).toEqual([
    expect.stringMatching(
      /^{"AWS":\["arn:aws:iam::111122223333:role\/directory",{"Fn::GetAtt":\["ConsoleWorkerRole\w+","Arn"\]}\]}$/,
    ),
    JSON.stringify({ Service: 'events.amazonaws.com' }),
    JSON.stringify({ Service: 'sns.amazonaws.com' }),
  ]);
  for (const { Principal, Condition } of allowed) {
    if (JSON.stringify(Principal).includes('Service')) expect(Condition).toBeDefined();
  }
});

it.each([
  ['events queue', 'IngestLaneQueuePolicy', [ROLE, CONSOLE]],
  ['queue of the directory reader', 'IngestLaneQueuedirectory', READER],
])(
  'the %s denies all other principals of the account, even if their own policies allow sending',
  (_, queue, sender) => {
    expect(policyOf(full, queue).find(({ Sid }) => Sid === 'DenyOtherSenders')).toMatchObject({
      Effect: 'Deny',
      Principal: { AWS: '*' },
      Action: 'sqs:SendMessage',
      Condition: {
        ArnNotEquals: { 'aws:PrincipalArn': sender },
        Bool: { 'aws:PrincipalIsAWSService': 'false' },
      },
    });
  },
);

it('a warning names each sender that the key of an earlier stack must allow', () => {
  const keyArn = 'arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555';
  const { app } = synthesise({
    keyArn,
    producers: ROLE,
    oktaEventSource: 'aws.partner/okta.com/acme/stream',
    snsTopicArn: 'arn:aws:sns:eu-west-1:111122223333:directory',
  });
  const warnings = app.synth().stacks[0]?.messages.map(({ entry }) => String(entry.data)) ?? [];
  for (const who of [ROLE, 'events.amazonaws.com', 'sns.amazonaws.com']) {
    expect(warnings.filter((text) => text.includes(keyArn) && text.includes(who))).toHaveLength(1);
  }
});

it('only the functions may send to the dead-letter queues, because a replay sends these messages to the events queue', () => {
  for (const [id, { Properties }] of Object.entries(resourcesOf(plain, 'AWS::SQS::QueuePolicy'))) {
    if (!id.includes('DeadLetters')) continue;
    const denial = statementsOf(Properties.PolicyDocument).find(({ Sid }) => Sid === 'DenyOtherSenders');
    expect(denial).toMatchObject({ Effect: 'Deny', Principal: { AWS: '*' }, Action: 'sqs:SendMessage' });
    const [role] = Object.values(denial?.Condition?.['ArnNotEquals'] ?? {}) as { 'Fn::GetAtt': [string] }[];
    expect(role?.['Fn::GetAtt'][0]).toMatch(
      id.startsWith('Ingest') ? /^IngestWorkerRole/ : /^ApplyWorkerRole/,
    );
  }
});

it('without producers in the settings, the queue policy allows no sender, so only IAM policies allow sending', () => {
  expect(policyOf(plain).filter(({ Effect }) => Effect === 'Allow')).toEqual([]);
});

const ofLambda = (principal: unknown) => JSON.stringify(principal) === '"lambda.amazonaws.com"';
const documents = Object.entries({
  'AWS::SQS::QueuePolicy': 'PolicyDocument',
  'AWS::SNS::TopicPolicy': 'PolicyDocument',
  'AWS::S3::BucketPolicy': 'PolicyDocument',
  'AWS::KMS::Key': 'KeyPolicy',
  'AWS::IAM::Role': 'AssumeRolePolicyDocument',
}).flatMap(([type, name]) =>
  Object.values(resourcesOf(full, type)).map(({ Properties }) => Properties[name]),
);

it('a policy allows calls of an AWS service except Lambda only for a resource of this stack or this account', () => {
  const callers = documents
    .flatMap(statementsOf)
    .filter(({ Effect, Principal }) => Effect === 'Allow' && Principal !== '*')
    .flatMap(({ Principal, Condition }) => {
      const service = (Principal as { Service?: unknown }).Service;
      return service === undefined || ofLambda(service) ? [] : [{ service, condition: Condition }];
    });
  expect(callers.length).toBeGreaterThan(5);
  for (const { service, condition } of callers)
    expect([service, JSON.stringify(condition)]).toEqual([
      service,
      expect.stringMatching(/"(?:aws:Source(?:Arn|Account)|kms:EncryptionContext:aws:logs:arn)":/),
    ]);
});

const { template } = synthesise({
  producers: ROLE,
  sources: {
    okta: { connection: 'acme', producers: ['arn:aws:iam::111122223333:role/acme'] },
    entra: { connection: 'beta' },
  },
});
const queue = (name: string) => {
  const found = Object.entries(resourcesOf(template, 'AWS::SQS::Queue')).find(
    ([, { Properties }]) => Properties.QueueName === `groupsync-${name}`,
  );
  if (found === undefined) throw new Error(`expected a queue groupsync-${name}`);
  return { id: found[0], ...found[1].Properties };
};

it('the queue of a source admits only the producers of this source, and no producer of the common queue', () => {
  const policy = Object.values(resourcesOf(template, 'AWS::SQS::QueuePolicy')).find(({ Properties }) =>
    JSON.stringify(Properties.Queues).includes(queue('events-okta').id),
  );
  const statements = statementsOf(policy?.Properties.PolicyDocument);
  expect(statements.find(({ Sid }) => Sid === 'NamedProducers')?.Principal).toEqual({
    AWS: 'arn:aws:iam::111122223333:role/acme',
  });
  expect(statements.find(({ Sid }) => Sid === 'DenyOtherSenders')?.Condition).toMatchObject({
    ArnNotEquals: { 'aws:PrincipalArn': ['arn:aws:iam::111122223333:role/acme'] },
  });
});

it('every role uses the key only through the service that stores the data', () => {
  const onKey = roleStatements.filter(({ Action }) => listed(Action).some((one) => one.startsWith('kms:')));
  expect(onKey).toHaveLength(2 * DEPLOYABLE_KEYS.length + 4);
  for (const { Condition } of onKey) expect(Condition?.['StringEquals']).toHaveProperty('kms:ViaService');
});
