import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import cdkJson from '../../cdk.json' with { type: 'json' };
import { readSettings, SettingsError } from '../../infra/settings.ts';
import { temporaryFile } from '../support/folder.ts';
import { SIGN_IN } from './sign-in.ts';

const NINE = Object.fromEntries([...'abcdefghi'].map((name) => [name, { connection: 'acme' }]));
const TEN = Object.fromEntries([...'abcdefghij'].map((name) => [name, { connection: 'acme' }]));
const read = (context: Record<string, unknown>) => readSettings(context);

const USER = 'arn:aws:iam::111122223333:user/a';

it('each stage of the delivered cdk.json can be read and has a unique prefix', () => {
  const stages = Object.keys(cdkJson.context.stages);
  const prefixes = stages.map((stage) => read({ ...cdkJson.context, stage }).prefix);
  expect(stages).toEqual(['production', 'staging']);
  expect(new Set(prefixes).size).toBe(stages.length);
  expect(read({}).prefix).toBe('groupsync');
});

it('a list, a switch and a number are also read from the text of a command line', () => {
  const producers = ['arn:aws:iam::111122223333:role/a', 'arn:aws:iam::111122223333:user/b/c'];
  expect(read({ producers: producers.join(', '), retainData: 'false', logRetentionDays: '90' })).toEqual(
    read({ producers, retainData: false, logRetentionDays: 90 }),
  );
});

it.each([
  ['an unknown stage', { stages: { a: {} }, stage: 'b' }, 'stage "b": not in cdk.json, which has a'],
  [
    'a stage with the name of a property of every object',
    { stages: { a: {} }, stage: 'constructor' },
    'stage "constructor": not in cdk.json',
  ],
  ['an unknown setting', { stages: { production: { prefx: 'a' } } }, 'prefx'],
  ['a wrong source name', { sources: { Okta: { connection: 'a' } } }, 'sources.Okta: expected 1 to 20 of'],
  ['a source of hyphens only', { sources: { '-': { connection: 'a' } } }, 'sources.-: expected 1 to 20 of'],
  [
    'two sources with the same output',
    { sources: { 'a-b': { connection: 'a' }, ab: { connection: 'a' } } },
    'sources: expected names that also differ without hyphens',
  ],
  ['an object as a list', { connectionViewers: { acme: true } }, 'connectionViewers: expected a list'],
  ['an unknown word as secretsKey', { secretsKey: 'STAGE' }, 'secretsKey: expected stage, or'],
  ['too many producers', { producers: Array.from({ length: 46 }, (_, n) => `${USER}${n}`) }, 'producers: '],
  ['a private provider', { console: { ...SIGN_IN, issuer: 'https://10.0.0.1' } }, 'console.issuer: '],
  ['no scope openid', { console: { ...SIGN_IN, scopes: ['email'] } }, 'console.scopes: expected openid'],
  ['a prefix with capitals', { prefix: 'GroupSync' }, 'prefix: expected 1 to 32 of a-z, 0-9 and -'],
  ['a prefix too long', { prefix: 'a'.repeat(33) }, 'prefix: expected 1 to 32'],
  ['a window that is not a number', { coalesceSeconds: '5s' }, 'coalesceSeconds: expected a whole number'],
  ['a window of more than five minutes', { coalesceSeconds: 301 }, 'coalesceSeconds'],
  ['a schedule of zero minutes', { pumpMinutes: 0 }, 'pumpMinutes'],
  ['an account as a person', { persons: { 'arn:aws:iam::111122223333:root': 'ann' } }, 'persons.arn:aws:'],
  ['a pattern with two persons', { persons: { [`${USER}{person}{person}`]: 'ann' } }, 'persons.arn:aws:'],
  [
    'too many persons',
    { persons: { [USER]: 'a', [`${USER}${'b'.repeat(1_500)}`]: 'b' } },
    'persons: expected at most',
  ],
  ['an account as a producer', { producers: 'arn:aws:iam::111122223333:root' }, 'expected the ARN of one'],
  ['a wildcard as a producer', { producers: '*' }, 'producers.0: expected the ARN of one'],
  ['a source named dlq', { sources: { dlq: { connection: 'acme' } } }, 'sources.dlq: '],
  ['a source named directory', { sources: { directory: { connection: 'acme' } } }, 'sources.directory: '],
  ['an audience with a wildcard', { directoryAudiences: 'https://*' }, 'directoryAudiences.0: '],
  ['a key by its alias', { directoryKeys: 'alias/okta' }, 'directoryKeys.0: '],
  ['a source without a connection', { sources: { okta: {} } }, 'sources.okta.connection'],
  ['nine sources and a reader', { sources: NINE, directory: true }, 'sources: expected at most 8'],
  ['more than nine sources', { sources: TEN }, 'sources: expected at most 9'],
  ['an invalid e-mail address', { alarmEmail: 'ops' }, 'alarmEmail'],
  ['a log retention of 31 days', { logRetentionDays: 31 }, 'logRetentionDays: expected one of 1, 3'],
  ['an event source of another partner', { oktaEventSource: 'acme' }, 'expected aws.partner/okta'],
  ['a SCIM switch that is neither true nor false', { scim: 'yes' }, 'scim'],
  ['a throttle below the needs of one provider', { scimRequestsPerSecond: 24 }, 'scimRequestsPerSecond'],
  ['an address range without length', { scimAllowedIps: '203.0.113' }, 'scimAllowedIps.0: expected an IP'],
  ['a burst beyond the quota of an account', { scimBurst: '5001' }, 'scimBurst'],
  ['an incomplete key', { keyArn: 'arn:aws:kms:eu-west-1:111122223333:key/1111-22' }, 'keyArn: expected'],
  ['a key alias', { keyArn: 'arn:aws:kms:eu-west-1:111122223333:alias/a' }, 'an alias is not accepted'],
  ['an object lock of a hundred years', { auditExportDays: '36500' }, 'auditExportDays'],
  ['an invalid region', { region: 'Frankfurt' }, 'region: expected a region such as'],
])('the settings refuse %s, and the error names the expected value', (_title, context, message) => {
  expect(() => read(context)).toThrow(SettingsError);
  expect(() => read(context)).toThrow(message);
});

const given = (context: Record<string, unknown>) => () => readSettings(context);

it.each([
  ['alarmMail', "unknown setting 'alarmMail'; did you mean 'alarmEmail'?"],
  ['producer', "unknown setting 'producer'; did you mean 'producers'?"],
  ['SCIM', "unknown setting 'SCIM'; did you mean 'scim'?"],
  ['logretention', "unknown setting 'logretention'; did you mean 'logRetentionDays'?"],
  ['Stage', "unknown setting 'Stage'; did you mean 'stage'?"],
  ['colour', "unknown setting 'colour'; known are stage, stages, prefix, "],
])('the unknown context key %s is refused', (name, message) => {
  expect(given({ [name]: 'x' })).toThrow(SettingsError);
  expect(given({ [name]: 'x' })).toThrow(message);
});

it('context keys of the CDK itself are accepted', () => {
  const ofCdk = {
    '@aws-cdk/core:target-partitions': ['aws'],
    '@aws-cdk-containers/ecs-service-extensions:enableDefaultLogDriver': true,
    'acknowledged-issue-numbers': [19836],
    'aws:cdk:enable-path-metadata': true,
    'aws:cdk:bundling-stacks': ['**'],
    'availability-zones:account=111122223333:region=eu-west-1': ['eu-west-1a'],
    'hosted-zone:account=111122223333:domainName=acme.test:region=eu-west-1': {},
  };
  expect(given({ ...cdkJson.context, ...ofCdk, scim: 'true' })()).toMatchObject({ scim: true });
});

it.each([
  [
    'a wrong value in a file with a byte order mark',
    '\ufeff{"scim": "yes"}',
    'stage "production"\n  scim: expected true or false',
  ],
  ['a file without JSON', 'scim=yes', 'groupsync.json: expected a JSON object of settings .*'],
])(
  'the CDK app ends with one clear message before it builds anything, because of %s',
  (_, file, sentence) => {
    const cwd = dirname(temporaryFile('groupsync.json', file));
    const context = { ...cdkJson.context, 'aws:cdk:enable-path-metadata': true };
    const app = fileURLToPath(new URL('../../infra/app.ts', import.meta.url));
    const { status, stderr } = spawnSync(process.execPath, ['--import', import.meta.resolve('tsx'), app], {
      cwd,
      env: { ...process.env, CDK_CONTEXT_JSON: JSON.stringify(context), CDK_OUTDIR: '/nowhere/cdk.out' },
      encoding: 'utf8',
    });
    expect(stderr).toMatch(new RegExp(`^The settings cannot be used. ${sentence.replace('?', '[?]')}\n$`));
    expect(status).toBe(1);
  },
  60_000,
);
