import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EXPORTER } from '../../infra/audit.ts';
import { type GroupRef, groupId, intentId } from '../../shared/domain/ids.ts';
import { AUDIT_PREFIX, auditKey } from '../../shared/store/keys.ts';
import { resourcesOf, synthesise } from './synthesised.ts';

const { template } = synthesise({ auditExportDays: '400' });
const [bucket] = Object.values(resourcesOf(template, 'AWS::S3::Bucket'));

describe('the bucket of the audit', () => {
  it('is there only where it was asked for, with nothing of it in the template before', () => {
    const text = (of: typeof template) => JSON.stringify(of.toJSON());
    expect(text(template)).toContain('groupsync-audit');
    expect(text(synthesise().template)).not.toMatch(/AWS::S3|StreamSpecification|s3:|-audit"|Audit[BWS]/);
  });

  it('locks each object for the days that are set, against everybody, and outlives the stack even where data was given up', () => {
    const retention = { DefaultRetention: { Mode: 'COMPLIANCE', Days: 400 } };
    const given = resourcesOf(
      synthesise({ auditExportDays: 400, retainData: false }).template,
      'AWS::S3::Bucket',
    );
    for (const one of [bucket, ...Object.values(given)]) {
      expect(one).toMatchObject({
        DeletionPolicy: 'RetainExceptOnCreate',
        Properties: {
          ObjectLockEnabled: true,
          ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled', Rule: retention },
          VersioningConfiguration: { Status: 'Enabled' },
          PublicAccessBlockConfiguration: {
            BlockPublicAcls: true,
            BlockPublicPolicy: true,
            IgnorePublicAcls: true,
            RestrictPublicBuckets: true,
          },
        },
      });
    }
  });

  it('takes nothing that does not say that it is new', () => {
    const [policy] = Object.values(resourcesOf(template, 'AWS::S3::BucketPolicy'));
    expect(policy?.Properties.PolicyDocument.Statement).toContainEqual(
      expect.objectContaining({
        Effect: 'Deny',
        Principal: { AWS: '*' },
        Action: 's3:PutObject',
        Condition: { Null: { 's3:if-none-match': 'true' } },
      }),
    );
  });

  it('is told of entries of the audit as the table has them, and of nothing else', () => {
    const stream = Object.values(resourcesOf(template, 'AWS::Lambda::EventSourceMapping')).find(
      ({ Properties }) => JSON.stringify(Properties.EventSourceArn).includes('StreamArn'),
    );
    const [table] = Object.values(resourcesOf(template, 'AWS::DynamoDB::Table'));
    expect(table?.Properties.StreamSpecification).toEqual({ StreamViewType: 'NEW_IMAGE' });
    const Keys = { sk: { S: [{ prefix: AUDIT_PREFIX }] } };
    const [filter] = stream?.Properties.FilterCriteria.Filters ?? [];
    expect(JSON.parse(filter?.Pattern)).toEqual({ eventName: ['INSERT', 'MODIFY'], dynamodb: { Keys } });
    expect(stream?.Properties).toMatchObject({
      BisectBatchOnFunctionError: true,
      StartingPosition: 'TRIM_HORIZON',
    });
    // A stream remembers a day.
    expect(stream?.Properties.MaximumRecordAgeInSeconds).toBeLessThan(86_400);
  });
});

/** S3 as far as a writer of new objects sees it, behind the very SDK that the function finds in its runtime. */
describe('the exporter', () => {
  // Of the local stack's emulator, which brings it along.
  const require = createRequire(new URL('../../node_modules/fauxqs/package.json', import.meta.url));
  const sdk = require('@aws-sdk/client-s3');
  const requests: { key: string; headers: IncomingHttpHeaders; body: string }[] = [];
  const kept = new Map<string, string>();
  let status = 200;
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const [key = ''] = String(request.url).split('?');
    const body = Buffer.concat(parts).toString();
    requests.push({ key, headers: request.headers, body });
    const isKept = request.headers['if-none-match'] === '*' && kept.has(key);
    const code = isKept ? 'PreconditionFailed' : 'AccessDenied';
    response.statusCode = isKept ? 412 : status;
    if (response.statusCode === 200) kept.set(key, body);
    response.end(
      response.statusCode === 200 ? '' : `<Error><Code>${code}</Code><Message>no</Message></Error>`,
    );
  });
  const ref: GroupRef = { connection: 'acme' as GroupRef['connection'], group: groupId('eng/../@ü#1') };
  const recordOf = (eventID: string, of = ref) => {
    const { pk, sk } = auditKey(of, '2026-11-22T10:00:00.000Z', intentId('i1'));
    const Keys = { pk: { S: pk }, sk: { S: sk } };
    return {
      eventID,
      eventName: 'INSERT',
      dynamodb: { Keys, NewImage: { ...Keys, action: { S: 'member.added' } } },
    };
  };
  let handler: (event: object) => Promise<void>;

  beforeEach(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    requests.length = 0;
    kept.clear();
    status = 200;
    const { port } = server.address() as AddressInfo;
    class S3Client extends sdk.S3Client {
      constructor() {
        const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
        super({ endpoint: `http://127.0.0.1:${port}`, region: 'eu-west-1', credentials, maxAttempts: 1 });
      }
    }
    const exports = {} as { handler: typeof handler };
    const run = new Function('require', 'exports', 'process', EXPORTER);
    run(() => ({ ...sdk, S3Client }), exports, { env: { BUCKET: 'audit' } });
    handler = exports.handler;
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  it('writes each entry as it stands in the table, under its connection, group and time, with a checksum', async () => {
    await handler({ Records: [recordOf('e1'), recordOf('e2', { ...ref, group: groupId('') })] });
    expect([...kept.keys()].sort()).toEqual([
      '/audit/acme/_/2026-11-22T10_00_00_000Z-e2.json',
      '/audit/acme/eng_______231/2026-11-22T10_00_00_000Z-e1.json',
    ]);
    const [first] = requests;
    expect(JSON.parse(first?.body ?? '').Item.action).toEqual({ S: 'member.added' });
    // Without one, S3 takes nothing into a bucket with Object Lock.
    expect(first?.headers['x-amz-checksum-sha256']).toMatch(/=$/);
  });

  it('takes what an earlier try has written for done, and a changed entry for another', async () => {
    await handler({ Records: [recordOf('e1')] });
    await handler({ Records: [recordOf('e1'), recordOf('e2')] });
    expect(kept.size).toBe(2);
  });

  it('fails where an entry was not written, so that the batch comes again', async () => {
    status = 403;
    await expect(handler({ Records: [recordOf('e1')] })).rejects.toThrow('no');
  });
});
