import { expect, it } from 'vitest';
import { readSettings } from '../../infra/settings.ts';
import { SIGN_IN } from './sign-in.ts';
import { resourcesOf, synthesise } from './synthesised.ts';

/** Returns `count` texts that differ only in their numbers. */
const many = (count: number, text: (n: number) => string) => Array.from({ length: count }, (_, n) => text(n));
const isAccepted = (given: Record<string, unknown>): boolean => {
  try {
    return readSettings(given) !== undefined;
  } catch {
    return false;
  }
};
const mostOf = (
  name: string,
  text: (n: number) => string,
  as: (items: string[]) => unknown = (items) => items,
) => {
  let count = 100;
  while (!isAccepted({ [name]: as(many(count, text)) })) count -= 1;
  return as(many(count, text));
};

const CONNECTION = (n: number) => `c${String(n).padStart(31, '0')}`;
const PRODUCER = (n: number) => `arn:aws:iam::111122223333:role/directory/${'r'.repeat(40)}${100 + n}`;
const producers = mostOf('producers', PRODUCER);
const TOPIC = (n: number) => `arn:aws:sns:eu-west-1:111122223333:${'t'.repeat(60)}${100 + n}`;
const roles = (items: readonly string[]) =>
  items.map((value) => ({ claim: 'groups', value, role: 'approver', connections: [CONNECTION(1)] }));
const persons = (items: readonly string[]) => Object.fromEntries(items.map((one) => [one, '{person}']));

/** A stack in which each setting has its maximum length. */
const { template } = synthesise({
  prefix: `p${'q'.repeat(31)}`,
  producers,
  sources: Object.fromEntries(
    many(8, (n) => `source-${1_000 + n}`).map((name, n) => [name, { connection: CONNECTION(n), producers }]),
  ),
  connectionViewers: [CONNECTION(1)],
  connectionOperators: [CONNECTION(1)],
  persons: mostOf(
    'persons',
    (n) => `arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_${n}/{person}`,
    persons,
  ),
  notify: ['alarms', 'webhook', ...(mostOf('notify', TOPIC) as string[]).slice(2)],
  oktaEventSource: `aws.partner/okta.com/${'o'.repeat(100)}`,
  snsTopicArn: TOPIC(0),
  directory: true,
  directoryAudiences: mostOf('directoryAudiences', (n) => `https://audience.test/${'a'.repeat(150)}${n}`),
  directoryKeys: mostOf(
    'directoryKeys',
    (n) => `arn:aws:kms:eu-west-1:111122223333:key/mrk-${String(n).padStart(32, '0')}`,
  ),
  console: mostOf(
    'console',
    (n) => `00g1a2b3c4d5e6f7g8h${n}`,
    (items) => ({ ...SIGN_IN, roles: roles(items) }),
  ),
  scim: true,
  scimAllowedIps: mostOf('scimAllowedIps', (n) => `2001:db8:1234:5678:9abc:def0:1234:${n + 1000}/128`),
  secretsKey: 'stage',
  auditExportDays: 400,
  runbookUrl: `https://runbook.test/${'r'.repeat(679)}`,
});

/** Returns a value of the template after the deployment. Each reference becomes a text of the maximum length. */
function deployed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deployed);
  if (typeof value !== 'object' || value === null) return value;
  const [[name = '', given] = [], ...others] = Object.entries(value);
  if (others.length > 0)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, deployed(one)]));
  if (name === 'Fn::Join') return (deployed(given[1]) as string[]).join(given[0]);
  if (name === 'Fn::GetAtt') return 'x'.repeat(given[1] === 'Arn' ? 100 : 60);
  if (name === 'Ref')
    return given === 'AWS::Partition' ? 'aws' : 'x'.repeat(given.startsWith('AWS::') ? 12 : 110);
  return { [name]: deployed(given) };
}
const longest = (type: string, part: (properties: never) => unknown) =>
  Math.max(
    ...Object.values(resourcesOf(template, type)).map(
      ({ Properties }) => JSON.stringify(deployed(part(Properties as never)) ?? '').length,
    ),
  );
type Policy = { readonly PolicyDocument: unknown };

it.each([
  ['the policy of a queue', 8_192, longest('AWS::SQS::QueuePolicy', (of: Policy) => of.PolicyDocument)],
  ['a managed policy', 6_144, longest('AWS::IAM::ManagedPolicy', (of: Policy) => of.PolicyDocument)],
  ['the policy of a role', 10_240, longest('AWS::IAM::Policy', (of: Policy) => of.PolicyDocument)],
  [
    'the environment of a function',
    4_096,
    longest(
      'AWS::Lambda::Function',
      (of: { Environment?: { Variables: unknown } }) => of.Environment?.Variables,
    ),
  ],
  [
    'the description of an alarm',
    1_024,
    longest('AWS::CloudWatch::Alarm', (of: { AlarmDescription: string }) => of.AlarmDescription),
  ],
])('%s has at most %i characters, as AWS requires', (_, limit, length) => {
  expect(length).toBeGreaterThan(limit / 4);
  expect(length).toBeLessThanOrEqual(limit);
});
