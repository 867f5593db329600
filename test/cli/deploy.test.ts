import { expect, it } from 'vitest';
import type { Cdk } from '../../cli/deploy/ports.ts';
import type { DeployedStack } from '../../shared/sync/ports/deployment.ts';
import { runCli } from '../support/cli/io.ts';

const PLACE = { stack: 'groupsync-staging', account: '111122223333', region: 'eu-west-1' };

/** The output of `cdk diff` for an upgrade, as CDK 2.1148 prints it. */
const UPGRADE = [
  'Stack groupsync-staging (aws://111122223333/eu-west-1)',
  'IAM Statement Changes',
  '┌───┬───────────────┬────────┐',
  '│   │ Resource      │ Effect │',
  '│ + │ Apply.Arn     │ Allow  │',
  '│   │               │        │',
  '│ - │ Ingest.Arn    │ Allow  │',
  '└───┴───────────────┴────────┘',
  'Resources',
  '[+] AWS::Lambda::Function Scim/Worker/Function ScimWorkerFunction8C851FF3',
  '[~] AWS::Lambda::Function Apply/Function ApplyFunction1A2B3C4D',
  ' └─ [~] Code',
  '     └─ [~] .S3Key:',
  '[~] AWS::SQS::Queue Ingest/Lane/Queue IngestLaneQueue1A2B3C4D replace',
  '[~] AWS::KMS::Key Key Key961B73FD may be replaced',
  '[-] AWS::CloudWatch::Alarm Scim/Alarms/Fail/Alarm ScimAlarmsFail0614C96A destroy',
  '[-] AWS::S3::Bucket Audit/Bucket AuditBucket0614C96A orphan',
  'Outputs',
  '[-] Output ScimUrl: {"Value":""}',
  '✨  Number of stacks with differences: 1',
];

/** Creates a CDK that prints this output for `cdk diff` and records its calls. */
function cdkWith(diff: readonly string[], deployed?: DeployedStack) {
  const calls: string[] = [];
  const called = (name: string) => async () => void calls.push(name);
  const cdk: Partial<Cdk> = {
    async synth(settings) {
      calls.push(`synth ${JSON.stringify(settings)}`);
      return {
        ...PLACE,
        resources: [
          { id: 'Table', type: 'AWS::DynamoDB::Table', isKept: settings['retainData'] !== 'false' },
        ],
      };
    },
    diff: async () => diff,
    bootstrap: called('bootstrap'),
    deploy: called('deploy'),
    destroy: called('destroy'),
    protectTable: async (isProtected) => void calls.push(isProtected ? 'protect table' : 'unprotect table'),
    stacks: async () => ({
      read: async () => deployed,
      unprotect: async (name) => void calls.push(`unprotect ${name}`),
    }),
  };
  return { cdk, calls };
}

it('deploy lists deleted and replaced resources first, and names the data that is lost', async () => {
  const { cdk, calls } = cdkWith(UPGRADE);
  const { code, stderr, stdout } = await runCli(
    ['deploy', '--stage', 'staging', '--set', 'scim=true', '--yes'],
    { cdk },
  );
  expect(code).toBe(0);
  expect(stderr.split('\n').slice(0, 9)).toEqual([
    'stack groupsync-staging, account 111122223333, region eu-west-1',
    'DELETED: AWS::CloudWatch::Alarm Scim/Alarms/Fail/Alarm ScimAlarmsFail0614C96A',
    'REPLACED: AWS::SQS::Queue Ingest/Lane/Queue IngestLaneQueue1A2B3C4D',
    'may be replaced: AWS::KMS::Key Key Key961B73FD',
    'leaves the stack, is not deleted: AWS::S3::Bucket Audit/Bucket AuditBucket0614C96A',
    'changed: AWS::Lambda::Function Apply/Function ApplyFunction1A2B3C4D',
    'created: AWS::Lambda::Function Scim/Worker/Function ScimWorkerFunction8C851FF3',
    'permissions: 1 added, 1 removed (--details shows them)',
    'their data and messages are LOST: Ingest/Lane/Queue IngestLaneQueue1A2B3C4D',
  ]);
  expect(stdout).toMatch(/^deployed groupsync-staging: 1 DELETED, 1 REPLACED, /);
  expect(calls).toEqual(['synth {"scim":"true","stage":"staging"}', 'deploy', 'protect table']);
});

it('the deployment succeeds with a warning if the table cannot be protected', async () => {
  const { cdk } = cdkWith(UPGRADE);
  const protectTable = async () => {
    throw Object.assign(new Error('no permission'), { name: 'AccessDeniedException' });
  };
  const { code, stderr } = await runCli(['deploy', '--yes'], { cdk: { ...cdk, protectTable } });
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/protection of the table was not changed: AccessDenied/),
  ]);
});

it('deploy prints its plan as one document with --json', async () => {
  const { cdk } = cdkWith(UPGRADE);
  const { json } = await runCli(['deploy', '--yes', '--json'], { cdk });
  expect(json).toMatchObject({ ...PLACE, deployed: true });
  expect(json.changes[0]).toEqual({
    action: 'delete',
    type: 'AWS::CloudWatch::Alarm',
    resource: 'Scim/Alarms/Fail/Alarm ScimAlarmsFail0614C96A',
  });
});

it('deploy ends with exit code 0 and asks nothing if the stack does not differ', async () => {
  const { code, stderr, stdout } = await runCli(['deploy']);
  expect(stderr).toContain('no change');
  expect([code, stdout]).toEqual([0, 'nothing was deployed\n']);
});

it('deploy changes nothing with --dry-run, even with --bootstrap and --yes, and without --yes if there is no terminal', async () => {
  const { cdk, calls } = cdkWith(UPGRADE);
  const refused = await runCli(['deploy'], { cdk });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--yes')]);
  const { code, stderr } = await runCli(['deploy', '--dry-run', '--bootstrap', '--yes', '--details'], {
    cdk,
  });
  expect(code).toBe(0);
  for (const line of UPGRADE) expect(stderr).toContain(line);
  expect(calls).toEqual(['synth {}', 'synth {}']);
});

it('deploy bootstraps the CDK before the comparison if --bootstrap is given', async () => {
  const { cdk, calls } = cdkWith(UPGRADE);
  await runCli(['deploy', '--bootstrap', '--yes', '--prefix', 'p', '--region', 'eu-west-1'], { cdk });
  expect(calls).toEqual([
    'synth {"prefix":"p","region":"eu-west-1"}',
    'bootstrap',
    'deploy',
    'protect table',
  ]);
});

it('deploy --revert-drift prints and undoes changes that were made by hand, even if the template did not change', async () => {
  const { cdk } = cdkWith(['✨  Number of stacks with differences: 0']);
  const deployed: object[] = [];
  const drifted = {
    ...cdk,
    drift: async () => ['[~] AWS::SQS::Queue Queue'],
    deploy: async (options: object) => void deployed.push(options),
  };
  const { code, stderr } = await runCli(['deploy', '--revert-drift', '--yes'], { cdk: drifted });
  expect([code, deployed]).toEqual([0, [{ revertDrift: true, importExisting: undefined }]]);
  expect(stderr).toContain('[~] AWS::SQS::Queue Queue');
});

it('deploy fails if the output of cdk diff does not say whether there are differences', async () => {
  const { cdk, calls } = cdkWith(['[-] AWS::DynamoDB::Table State/Table StateTable destroy']);
  const { code, stderr } = await runCli(['deploy', '--yes'], { cdk });
  expect(code).toBe(1);
  expect(stderr).toContain('expected the number of stacks with differences');
  expect(calls).not.toContain('deploy');
});

it.each([
  [['deploy', '--local'], 'npm start'],
  [['deploy', '--set', 'scim'], '--set: expected KEY=VALUE, got "scim"'],
  [['destroy', '--set', '=x'], '--set: expected KEY=VALUE, got "=x"'],
  // The CDK would load this file as a plugin.
  [['deploy', '--set', '--plugin=/tmp/x.js'], '--set: expected KEY=VALUE, got "--plugin=/tmp/x.js"'],
])('the command %j is refused with exit code 2', async (args, says) => {
  const { code, stderr } = await runCli(args);
  expect(code).toBe(2);
  expect(stderr).toContain(says);
});

const DEPLOYED: DeployedStack = {
  isProtected: true,
  resources: [
    { id: 'Table', type: 'AWS::DynamoDB::Table', isKept: true },
    { id: 'AuditBucket', type: 'AWS::S3::Bucket', isKept: true },
    { id: 'Queue', type: 'AWS::SQS::Queue', isKept: false },
  ],
};

it('destroy switches off the termination protection, deletes the stack, and keeps the table and the audit copy', async () => {
  const { cdk, calls } = cdkWith([], DEPLOYED);
  const { code, stderr, json } = await runCli(['destroy', '--stage', 'staging', '--yes', '--json'], { cdk });
  expect(code).toBe(0);
  expect(stderr).toContain('DELETED: 1 resource, with all messages');
  expect(json).toEqual({
    ...PLACE,
    deleted: [{ type: 'AWS::SQS::Queue', resource: 'Queue' }],
    kept: [
      { type: 'AWS::DynamoDB::Table', resource: 'Table' },
      { type: 'AWS::S3::Bucket', resource: 'AuditBucket' },
    ],
    destroyed: true,
  });
  expect(calls).toEqual(['synth {"stage":"staging"}', 'unprotect groupsync-staging', 'destroy']);
});

it('destroy --delete-data deletes the table, but not the locked audit copy', async () => {
  const { cdk, calls } = cdkWith([], DEPLOYED);
  const { stderr } = await runCli(['destroy', '--delete-data', '--yes'], { cdk });
  expect(stderr).toContain('DELETED with its data: AWS::DynamoDB::Table Table');
  expect(stderr).toContain('kept: AWS::S3::Bucket AuditBucket');
  expect(calls).toEqual(['synth {"retainData":"false"}', 'deploy', 'unprotect table', 'destroy']);
});

it('destroy deletes nothing without --yes if there is no terminal', async () => {
  const { cdk, calls } = cdkWith([], DEPLOYED);
  expect(await runCli(['destroy'], { cdk })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--yes'),
  });
  expect(calls).toEqual(['synth {}']);
});
