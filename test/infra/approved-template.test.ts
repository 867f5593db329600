import { expect, it } from 'vitest';
import { SIGN_IN } from './sign-in.ts';
import { type CfnResource, everyResourceOf, resourcesOf, synthesise } from './synthesised.ts';

const ROLE = 'arn:aws:iam::111122223333:role/directory';
const EVERY_PART = {
  producers: ROLE,
  sources: { okta: { connection: 'acme', producers: [ROLE] }, entra: { connection: 'beta' } },
  oktaEventSource: 'aws.partner/okta.com/acme/stream',
  snsTopicArn: 'arn:aws:sns:eu-west-1:111122223333:directory',
  notify: ['alarms', 'webhook'],
  alarmEmail: 'ops@acme.test',
  connectionViewers: ['acme'],
  connectionOperators: ['acme'],
  persons: { 'arn:aws:sts::111122223333:assumed-role/Ops/{person}': '{person}' },
  directory: true,
  directoryAudiences: 'https://audience.test',
  directoryKeys: 'arn:aws:kms:eu-west-1:111122223333:key/0a1b2c3d-0a1b-4c3d-8a1b-0a1b2c3d4e5f',
  console: SIGN_IN,
  scim: true,
  scimAllowedIps: '203.0.113.0/24',
  secretsKey: 'stage',
  auditExportDays: 400,
};
const KEY_ARN = 'arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555';
/** Properties with the name of a resource, which must be unique in an account and region. */
const NAMES = new Set(
  [
    'Table',
    'Queue',
    'Function',
    'LogGroup',
    'Topic',
    'Alarm',
    'Dashboard',
    'ManagedPolicy',
    'Role',
    'Bucket',
  ].map((of) => `${of}Name`),
);
const { template } = synthesise(EVERY_PART);

/** Returns a value of the template with `${Id}` for a reference to a resource, a part of a resource or a parameter. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const { Ref, 'Fn::GetAtt': part, 'Fn::Join': join } = value as Record<string, unknown[]>;
  if (Ref !== undefined) return `\${${Ref}}`;
  if (part !== undefined) return `\${${part.join('.')}}`;
  if (join !== undefined) return (plain(join[1]) as unknown[]).join(String(join[0]));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
}

/** Returns the value as lines of at most 110 characters, if its texts are short enough. */
function linesOf(value: unknown, name = '', indent = ''): string[] {
  const line = `${indent}${name}${JSON.stringify(value)}`;
  if (line.length <= 110 || typeof value !== 'object' || value === null) return [line];
  const parts = Object.entries(value).flatMap(([key, one]) =>
    linesOf(one, Array.isArray(value) ? '- ' : `${key}: `, `${indent}  `),
  );
  return [`${indent}${name}`.trimEnd(), ...parts];
}

/** Returns the template as text, without the locations of the code and the paths of the constructs. */
function textOf(of: typeof template): string {
  const { Resources, Outputs } = of.toJSON();
  const resources = Object.values(Resources as Record<string, CfnResource>);
  for (const { Properties } of resources) if (Properties?.Code?.S3Key !== undefined) delete Properties.Code;
  const entries = Object.entries({ ...Resources, ...Outputs }) as [string, { Metadata?: unknown }][];
  const texts = entries.map(([id, { Metadata: _, ...entry }]) => linesOf(plain(entry), `${id}: `));
  return `${texts.flat().join('\n')}\n`;
}

it('the template of a stage with every part is the approved one; vitest -u approves a change', async () => {
  await expect(textOf(template)).toMatchFileSnapshot('approved-template.snap');
});

// Policies of operators and the dashboard name every function. Otherwise AWS would not report a missing function.
const mayNameAll = ({ Type }: CfnResource) => /ManagedPolicy|Dashboard/.test(Type);
it.each([
  [
    'SCIM, the directory reader, the audit export and named producers',
    {},
    [
      /scim|apigateway/i,
      /groupsync-directory|DirectoryRoleArn/,
      /AWS::S3|StreamSpecification|s3:|-audit"|Audit[BWS]/,
      /NamedProducers/,
    ],
  ],
  [
    'web identity tokens, keys of applications, the key of secrets and the console',
    { scim: true, directory: true },
    [/GetWebIdentityToken|kms:Sign"/, /UseKeyOfSecrets|GROUPSYNC_SECRETS_KEY/, /-console|ConsoleUrl|CONSOLE/],
  ],
])('a stage without the settings has nothing of %s', (_, given, parts) => {
  const { template: of } = synthesise(given);
  const resources = Object.entries(everyResourceOf(of)).filter(([, one]) => !mayNameAll(one));
  const text = JSON.stringify([resources, of.toJSON()['Outputs']]);
  for (const part of parts) {
    expect(textOf(template)).toMatch(part);
    expect(text).not.toMatch(part);
  }
});

it('the limits of SCIM, the schedule of the reader and the key of secrets are the values of the settings', () => {
  const { template: of } = synthesise({
    scim: true,
    scimRequestsPerSecond: '25',
    scimBurst: 300,
    scimConcurrency: '30',
    directory: true,
    directoryMinutes: 15,
    secretsKey: KEY_ARN,
  });
  const textIn = (type: string) => JSON.stringify(resourcesOf(of, `AWS::${type}`));
  expect(textIn('ApiGatewayV2::Stage')).toContain('"ThrottlingBurstLimit":300,"ThrottlingRateLimit":25');
  expect(textIn('Lambda::Function')).toContain('"ReservedConcurrentExecutions":30');
  expect(textIn('Scheduler::Schedule')).toContain('"ScheduleExpression":"rate(15 minutes)"');
  expect(textIn('IAM::Policy')).toContain(`"Resource":"${KEY_ARN}","Sid":"UseKeyOfSecrets"`);
});

const STATEFUL = ['AWS::DynamoDB::Table', 'AWS::KMS::Key', 'AWS::SQS::Queue'];

it('the table is kept after the stack is deleted, and the stack has termination protection, except with retainData false', () => {
  const kept = [true, false].map((retainData) => {
    const { stack, template: of } = synthesise({ retainData });
    const [table] = Object.values(resourcesOf(of, 'AWS::DynamoDB::Table'));
    return [stack.terminationProtection, table?.DeletionPolicy, table?.UpdateReplacePolicy];
  });
  expect(kept).toEqual([
    [true, 'RetainExceptOnCreate', 'Retain'],
    [false, 'Delete', 'Delete'],
  ]);
});

it('two stages share no physical name', () => {
  const namesOf = (prefix: string) =>
    Object.values(everyResourceOf(synthesise({ ...EVERY_PART, prefix }).template)).flatMap(
      ({ Type, Properties = {} }) =>
        Object.entries(Properties).flatMap(([field, name]) =>
          NAMES.has(field) && typeof name === 'string' ? [`${Type} ${name}`] : [],
        ),
    );
  const [one, two] = [namesOf('one'), namesOf('two')];
  expect(one.length).toBeGreaterThan(40);
  expect(one.filter((name) => two.includes(name))).toEqual([]);
});

it('changed schedules, producers, logs and retention replace neither the table nor the key nor a queue', () => {
  const identityOf = (given: object) => {
    const { template: of } = synthesise({ ...given });
    return STATEFUL.flatMap((type) =>
      Object.entries(resourcesOf(of, type)).map(([id, { Properties: p }]) => ({
        id,
        names: [p.TableName, p.QueueName, p.FifoQueue, p.KeySchema, p.KeySpec],
      })),
    );
  };
  const changed = {
    coalesceSeconds: 0,
    pumpMinutes: 2,
    sweepMinutes: 30,
    alarmEmail: 'ops@acme.test',
    producers: ROLE,
    logRetentionDays: 90,
    logLevel: 'error',
    retainData: false,
  };
  expect(identityOf(changed)).toEqual(identityOf({}));
});
