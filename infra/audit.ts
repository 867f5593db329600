import { Duration, Validations } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { AnyPrincipal, Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  Code,
  EventSourceMapping,
  FilterCriteria,
  FilterRule,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectLockRetention } from 'aws-cdk-lib/aws-s3';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { ConnectorFunction, type ConnectorFunctionProps } from './connector-function.ts';
import { grantExport } from './permissions.ts';
import { removalPolicy } from './state.ts';

/**
 * Lambda stops trying to copy an entry after this time. The stream keeps entries for 24 hours, so an operator then has
 * 12 hours to read the entry from the stream.
 */
const TRY_FOR = Duration.hours(12);

/**
 * The code of the function. It uses the SDK of the Lambda runtime, so it needs no bundle. The object key contains the
 * id of the change. A retry uses the same object key, and a later change of the entry creates a second object.
 */
export const EXPORTER = `
const { PutObjectCommand, S3Client } = require('@aws-sdk/client-s3');
const s3 = new S3Client({});
const plain = (text) => text.replaceAll(/[^\\w-]/g, '_') || '_';
exports.handler = ({ Records }) => Promise.all(Records.map(async ({ eventID, dynamodb: { Keys, NewImage } }) => {
  const [, connection, group] = Keys.pk.S.split('#');
  const [, at] = Keys.sk.S.split('#');
  const Key = [connection, group, at + '-' + eventID].map(plain).join('/') + '.json';
  const Body = JSON.stringify({ Item: NewImage });
  const object = { Bucket: process.env.BUCKET, Key, Body, IfNoneMatch: '*', ChecksumAlgorithm: 'SHA256' };
  await s3.send(new PutObjectCommand(object)).catch((error) => {
    if (error.name !== 'PreconditionFailed') throw error;
  });
}));
`;

interface AuditExportProps extends Pick<ConnectorFunctionProps, 'settings' | 'key'> {
  readonly lockedDays: number;
  readonly table: Table;
  readonly undelivered: IQueue;
}

/** Exports every audit entry to a bucket. For `lockedDays`, no principal can change or delete an exported entry. */
export class AuditExport extends Construct {
  readonly worker: ConnectorFunction;
  readonly bucket: Bucket;

  constructor(scope: Construct, id: string, { lockedDays, table, undelivered, ...props }: AuditExportProps) {
    super(scope, id);
    const { key } = props;
    this.bucket = new Bucket(this, 'Bucket', {
      objectLockDefaultRetention: ObjectLockRetention.compliance(Duration.days(lockedDays)),
      encryption: BucketEncryption.KMS,
      encryptionKey: key,
      // With this property, S3 calls KMS once for many objects instead of once for each object.
      bucketKeyEnabled: true,
      versioned: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      // The bucket stays also with `retainData: false`, because locked objects cannot be deleted.
      removalPolicy: removalPolicy({ retainData: true }),
    });
    // The bucket refuses a second version of an object (S3 user guide, "Enforce conditional writes").
    this.bucket.addToResourcePolicy(
      new PolicyStatement({
        sid: 'AddOnly',
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        actions: ['s3:PutObject'],
        resources: [this.bucket.arnForObjects('*')],
        conditions: { Null: { 's3:if-none-match': 'true' } },
      }),
    );
    Validations.of(this.bucket).acknowledge({
      id: 'AwsSolutions-S1',
      reason: 'CloudTrail records who read the bucket. An access log would need a protected bucket too.',
    });
    this.worker = new ConnectorFunction(this, 'Worker', {
      ...props,
      name: 'audit',
      description: 'Copies entries of the audit into a locked bucket',
      code: Code.fromInline(EXPORTER),
      memoryMiB: 256,
      timeoutSeconds: 60,
    });
    this.worker.function.addEnvironment('BUCKET', this.bucket.bucketName);
    grantExport(this.worker.role, { table, bucket: this.bucket, undelivered, key });
    new EventSourceMapping(this, 'Stream', {
      target: this.worker.function,
      eventSourceArn: table.tableStreamArn as string,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: 100,
      bisectBatchOnError: true,
      maxRecordAge: TRY_FOR,
      // The CDK class `SqsDlq` is not used, because it lets the role use the KMS key without a condition.
      onFailure: { bind: () => ({ destination: undelivered.queueArn }) },
      filters: [
        FilterCriteria.filter({
          eventName: FilterRule.or('INSERT', 'MODIFY'),
          dynamodb: {
            Keys: { sk: { S: ['A#', 'ACT#', 'STEP#'].flatMap((prefix) => FilterRule.beginsWith(prefix)) } },
          },
        }),
      ],
    }).node.addDependency(this.worker.role);
  }
}
