import { ArnFormat, Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { tableName } from '../shared/contract/names.ts';
import { TABLE } from '../shared/contract/topology.ts';
import { isEmulated, type Settings } from './settings.ts';
import { NO_SOURCE_QUEUE } from './workers.ts';

interface DataProps {
  readonly settings: Settings;
  readonly key: IKey;
}

const text = (name: string) => ({ name, type: AttributeType.STRING });

/** The table with all state. It is kept when the stack is deleted, if the setting `retainData` is true. */
export class State extends Construct {
  readonly table: Table;

  constructor(scope: Construct, id: string, { settings, key }: DataProps) {
    super(scope, id);
    this.table = new Table(this, 'Table', {
      tableName: tableName(settings.prefix),
      partitionKey: text(TABLE.partitionKey),
      sortKey: text(TABLE.sortKey),
      timeToLiveAttribute: TABLE.timeToLive,
      // The table uses on-demand capacity, because directories change in bursts, for example during an import.
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.CUSTOMER_MANAGED,
      encryptionKey: key,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      removalPolicy: removalPolicy(settings),
      ...(settings.auditExportDays === undefined ? {} : { stream: StreamViewType.NEW_IMAGE }),
    });
    this.table.addGlobalSecondaryIndex({
      indexName: TABLE.index.name,
      partitionKey: text(TABLE.index.partitionKey),
      sortKey: text(TABLE.index.sortKey),
      projectionType: ProjectionType.INCLUDE,
      nonKeyAttributes: [...TABLE.index.projected],
    });
  }
}

/** Messages that EventBridge, SNS and the audit stream could not deliver. Operators read them. */
export class Undelivered extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string, { settings, key }: DataProps) {
    super(scope, id);
    this.queue = new Queue(this, 'Queue', {
      queueName: `${settings.prefix}-undelivered`,
      retentionPeriod: Duration.days(14),
      redriveAllowPolicy: NO_SOURCE_QUEUE,
      encryption: QueueEncryption.KMS,
      encryptionMasterKey: key,
      enforceSSL: true,
    });
    Validations.of(this.queue).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason:
        'This queue is the dead-letter queue of the EventBridge rule, the SNS subscription and the audit stream.',
    });
  }
}

/**
 * The removal policy of resources with data. With `retainData`, they are kept when the stack is deleted. If the first
 * deployment fails, they are removed, so that it can be repeated with the same names. Emulators support only `Retain`.
 */
export function removalPolicy({ retainData }: Pick<Settings, 'retainData'>): RemovalPolicy {
  if (!retainData) return RemovalPolicy.DESTROY;
  return isEmulated() ? RemovalPolicy.RETAIN : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;
}

/**
 * The key that encrypts queues, table, topic and logs. It is a key of this stack, or the key of an earlier stack that
 * `keyArn` names. A key of this stack is rotated every year. With `retainData`, the key is kept when the stack is
 * deleted, because the kept table cannot be read without it.
 */
export function encryptionKey(scope: Construct, settings: Settings): IKey {
  const { prefix, keyArn } = settings;
  if (keyArn !== undefined) return Key.fromKeyArn(scope, 'Key', keyArn);
  const key = new Key(scope, 'Key', {
    description: `groupsync ${prefix}: queues, table, alarms and logs`,
    enableKeyRotation: true,
    removalPolicy: removalPolicy(settings),
  });
  const stack = Stack.of(scope);
  const allow = (sid: string, service: string, conditions: Record<string, unknown>, ...more: string[]) =>
    key.addToResourcePolicy(
      new PolicyStatement({
        sid,
        principals: [new ServicePrincipal(service)],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey', ...more],
        resources: ['*'],
        conditions,
      }),
    );
  // Alarms publish to the encrypted topic (CloudWatch user guide, "Notifying users on alarm changes").
  allow('Alarms', 'cloudwatch.amazonaws.com', { StringEquals: { 'aws:SourceAccount': stack.account } });
  // Only log groups of this stage may use the key (CloudWatch Logs user guide, "Encrypt log data using AWS KMS").
  const logGroups = stack.formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: `/aws/lambda/${prefix}-*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  const ofLogs = { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': logGroups } };
  const rights = ['kms:Encrypt', 'kms:ReEncryptFrom', 'kms:ReEncryptTo', 'kms:DescribeKey'];
  allow('Logs', `logs.${stack.region}.amazonaws.com`, ofLogs, ...rights);
  return key;
}
