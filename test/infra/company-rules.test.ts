import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readSettings } from '../../infra/settings.ts';
import { SIGN_IN } from './sign-in.ts';
import { everyResourceOf, synthesise } from './synthesised.ts';

const BOUNDARY = 'arn:aws:iam::111122223333:policy/company/boundary';
/** Resource types that AWS cannot tag, or not through CloudFormation. */
const WITHOUT_TAGS = new Set([
  'AWS::ApiGatewayV2::Integration',
  'AWS::ApiGatewayV2::Route',
  'AWS::IAM::ManagedPolicy',
  'AWS::IAM::Policy',
  'AWS::Lambda::Alias',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Lambda::Permission',
  'AWS::Logs::MetricFilter',
  'AWS::S3::BucketPolicy',
  'AWS::SNS::Subscription',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::QueuePolicy',
  'AWS::Scheduler::Schedule',
]);

const { app, template } = synthesise({
  permissionsBoundary: BOUNDARY,
  bootstrapQualifier: 'acme1',
  tags: 'team=hr,cost-center=42',
  directory: true,
  scim: true,
  console: SIGN_IN,
  auditExportDays: 30,
  sources: { okta: { connection: 'acme' } },
  oktaEventSource: 'aws.partner/okta.com/acme/stream',
  alarmEmail: 'ops@acme.test',
  connectionOperators: 'acme',
});
const resources = Object.entries(everyResourceOf(template));

it('every role has the permissions boundary', () => {
  const roles = resources.filter(([, { Type }]) => Type === 'AWS::IAM::Role');
  expect(roles.length).toBeGreaterThan(8);
  for (const [id, { Properties }] of roles)
    expect([id, Properties.PermissionsBoundary]).toEqual([id, BOUNDARY]);
});

it('every resource that AWS can tag has the tags', () => {
  const tagged = resources.filter(([, { Type }]) => !WITHOUT_TAGS.has(Type));
  expect(tagged.length).toBeGreaterThan(50);
  for (const [id, { Properties }] of tagged) {
    const tags: unknown = Properties.Tags;
    const asPairs = Array.isArray(tags)
      ? tags.map(({ Key, Value }) => [Key, Value])
      : Object.entries(tags ?? {});
    expect([id, Object.fromEntries(asPairs)]).toEqual([
      id,
      expect.objectContaining({ team: 'hr', 'cost-center': '42' }),
    ]);
  }
});

it('the assets, the roles of the deployment and the stack have the qualifier and the tags', () => {
  const folder = app.synth().directory;
  const texts = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(texts.join()).toContain('cdk-acme1-assets-');
  expect(texts.join()).not.toContain('hnb659fds');
  expect(app.synth().getStackArtifact('groupsync').tags).toMatchObject({ team: 'hr', 'cost-center': '42' });
});

const read = (ofAllStages: Record<string, unknown>, context: Record<string, unknown> = {}) =>
  readSettings(context, ofAllStages);

it('a setting of a stage overrides the setting of every stage, and the command line overrides both', () => {
  const stages = { production: { coalesceSeconds: 9 }, staging: {} };
  expect(read({ coalesceSeconds: 7 }, { stages }).coalesceSeconds).toBe(9);
  expect(read({ coalesceSeconds: 7 }, { stages, stage: 'staging' }).coalesceSeconds).toBe(7);
  expect(read({ coalesceSeconds: 7 }, { stages, coalesceSeconds: '3' }).coalesceSeconds).toBe(3);
});

it.each([
  [{ permissionsBoundary: 'boundary' }, 'permissionsBoundary: expected the ARN of a managed policy'],
  [{ bootstrapQualifier: 'Acme-1' }, 'bootstrapQualifier: expected 1 to 10 of a-z and 0-9'],
  [{ tags: { 'aws:team': 'hr' } }, 'tags.aws:team: expected a key'],
  [{ tags: { 'groupsync:stage': 'a' } }, 'tags.groupsync:stage: expected a key'],
  [{ tags: { team: 'a\nb' } }, 'tags.team: expected a value'],
  [{ tags: 'team' }, 'tags.team: expected a value of 1 to 256'],
  [{ tags: 'team=' }, 'tags.team: expected a value'],
  [{ tags: '=hr' }, 'tags.: expected a key'],
  [{ tags: 7 }, 'tags: expected an object of tags'],
  [
    { tags: Object.fromEntries(Array.from({ length: 41 }, (_, n) => [`tag${n}`, 'a'])) },
    'tags: expected at most 40 tags',
  ],
  [{ tag: 'team=hr' }, "unknown setting 'tag'; did you mean 'tags'?"],
])('%j is refused with the expected value', (given, message) => {
  expect(() => read(given)).toThrow(message);
});
