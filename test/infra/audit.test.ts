import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { EXPORTER } from '../../infra/audit.ts';
import { connectionName, groupId, intentId } from '../../shared/domain/ids.ts';
import { ACTION_PREFIX, AUDIT_PREFIX, auditKey, STEP_PREFIX } from '../../shared/store/keys.ts';
import { resourcesOf, synthesise } from './synthesised.ts';

const { template } = synthesise({ auditExportDays: '400' });
const only = (type: string, of = template) => Object.values(resourcesOf(of, `AWS::${type}`))[0]?.Properties;

it.each([true, false])(
  'the audit bucket blocks public access, locks every object, and is kept after a destroy with retainData %s',
  (retainData) => {
    const [bucket] = Object.values(
      resourcesOf(synthesise({ auditExportDays: 400, retainData }).template, 'AWS::S3::Bucket'),
    );
    const isBlocked = Object.values(bucket?.Properties.PublicAccessBlockConfiguration);
    expect(isBlocked).toEqual(Array(4).fill(true));
    const rule = { DefaultRetention: { Mode: 'COMPLIANCE', Days: 400 } };
    expect(bucket).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: {
        ObjectLockEnabled: true,
        ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled', Rule: rule },
        VersioningConfiguration: { Status: 'Enabled' },
      },
    });
  },
);

it('the audit bucket refuses to overwrite an object', () => {
  const Condition = { Null: { 's3:if-none-match': 'true' } };
  const denial = { Effect: 'Deny', Principal: { AWS: '*' }, Action: 's3:PutObject', Condition };
  expect(only('S3::BucketPolicy').PolicyDocument.Statement).toContainEqual(expect.objectContaining(denial));
});

it('the audit export receives the items whose sort key has the prefix of audit entries', () => {
  const mappings = JSON.stringify(resourcesOf(template, 'AWS::Lambda::EventSourceMapping'));
  const prefixes = [AUDIT_PREFIX, ACTION_PREFIX, STEP_PREFIX].map((prefix) => ({ prefix }));
  expect(mappings).toContain(JSON.stringify(JSON.stringify(prefixes)).slice(1, -1));
});

/** Starts a server that answers PUT requests as S3 does. The exporter calls this server through the SDK. */
async function exporterTo(bucket: Map<string, string>, status = 200) {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    const { url = '', headers } = request;
    // S3 accepts an object in a bucket with Object Lock only with a checksum.
    const isValid = headers['if-none-match'] === '*' && headers['x-amz-checksum-sha256'] !== undefined;
    const key = url.split('?')[0] ?? '';
    const validAnswer = bucket.has(key) ? 412 : status;
    const answer = isValid ? validAnswer : 400;
    if (answer === 200) bucket.set(key, body);
    const code = answer === 412 ? 'PreconditionFailed' : 'AccessDenied';
    response.writeHead(answer).end(answer === 200 ? '' : `<Error><Code>${code}</Code></Error>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  // The SDK is a dependency of the local stack's SQS emulator.
  const sdk = createRequire(new URL('../../node_modules/fauxqs/package.json', import.meta.url))(
    '@aws-sdk/client-s3',
  );
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  class S3Client extends sdk.S3Client {
    constructor() {
      super({ endpoint, region: 'eu-west-1', credentials, maxAttempts: 1 });
    }
  }
  const exports = {} as { handler: (event: object) => Promise<void> };
  const run = new Function('require', 'exports', 'process', EXPORTER);
  run(() => ({ ...sdk, S3Client }), exports, { env: { BUCKET: 'audit' } });
  return exports.handler;
}
const recordOf = (eventID: string, group = 'eng/../@ü#1') => {
  const ref = { connection: connectionName('acme'), group: groupId(group) };
  const { pk, sk } = auditKey(ref, '2026-11-22T10:00:00.000Z', intentId('i1'));
  const Keys = { pk: { S: pk }, sk: { S: sk } };
  return { eventID, dynamodb: { Keys, NewImage: { ...Keys, action: { S: 'member.added' } } } };
};

it('the audit export writes each entry once despite retries, and writes a changed entry to a new object', async () => {
  const bucket = new Map<string, string>();
  const exporter = await exporterTo(bucket);
  await exporter({ Records: [recordOf('e1'), recordOf('e2', '')] });
  await exporter({ Records: [recordOf('e1'), recordOf('e3')] });
  expect([...bucket.keys()].sort()).toEqual([
    '/audit/acme/_/2026-11-22T10_00_00_000Z-e2.json',
    '/audit/acme/eng_______231/2026-11-22T10_00_00_000Z-e1.json',
    '/audit/acme/eng_______231/2026-11-22T10_00_00_000Z-e3.json',
  ]);
  const [first = ''] = bucket.values();
  expect(JSON.parse(first).Item.action).toEqual({ S: 'member.added' });
});

it('the audit export fails if an entry was not written, so that Lambda retries the batch', async () => {
  const exporter = await exporterTo(new Map(), 403);
  await expect(exporter({ Records: [recordOf('e1')] })).rejects.toMatchObject({ name: 'AccessDenied' });
});
