import { ArnFormat, Stack, Token, Validations } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Bucket, CfnBucket } from 'aws-cdk-lib/aws-s3';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { notifySecretName, QUEUE_KEYS, type QueueKey, WEBHOOK } from '../shared/contract/names.ts';
import { TABLE, WEB_IDENTITY_SECONDS } from '../shared/contract/topology.ts';
import type { DeployableKey } from './bundle.ts';

/** What one function may call, by service; what is not listed is refused. */
export interface Permissions {
  readonly table: readonly string[];
  readonly index: readonly string[];
  readonly queues: Readonly<Partial<Record<QueueKey | 'reader', readonly string[]>>>;
  /** On the secrets of the stage's connections. */
  readonly secrets: readonly string[];
  /** Of these, only those with which directories are read. */
  readonly onlyOfDirectories?: true;
}

/** What Lambda's poller calls in the function's name (Lambda developer guide, "Using Lambda with Amazon SQS"). */
const CONSUME = ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'] as const;
const SEND = ['SendMessage'] as const;
/** Reads and writes are gathered into batches; a write that has a condition cannot be. */
const READ_AND_WRITE = ['BatchGetItem', 'Query', 'BatchWriteItem', 'PutItem', 'UpdateItem'] as const;
const READ_WRITE_AND_DELETE = [...READ_AND_WRITE, 'DeleteItem'] as const;
/** A refreshed OAuth token is stored by whichever function met the expiry. */
const USE_CREDENTIAL = ['GetSecretValue', 'PutSecretValue'] as const;

const SCHEDULED: Permissions = {
  table: READ_WRITE_AND_DELETE,
  index: ['Query'],
  queues: { apply: SEND },
  secrets: USE_CREDENTIAL,
};

export const PERMISSIONS: Readonly<Record<DeployableKey | 'audit', Permissions>> = {
  ingest: {
    table: READ_AND_WRITE,
    index: [],
    queues: { events: CONSUME, eventsDlq: SEND, apply: SEND },
    secrets: [],
  },
  // A refusal may concern every group, so another group is fetched, which the index finds.
  apply: {
    table: READ_WRITE_AND_DELETE,
    index: ['Query'],
    queues: { apply: [...CONSUME, ...SEND], applyDlq: SEND },
    secrets: USE_CREDENTIAL,
  },
  // No list contains the members that have left every group, so a thirtieth of the table is scanned each day.
  reconcile: { ...SCHEDULED, table: [...SCHEDULED.table, 'Scan'] },
  people: SCHEDULED,
  // Writes desired state and wakes groups, as ingest does; like ingest it calls no platform and sees no secret.
  scim: { table: READ_WRITE_AND_DELETE, index: [], queues: { apply: SEND }, secrets: [] },
  // Compares a directory with desired state and sends events, as every other producer does. It calls no platform.
  directory: {
    table: ['BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
    index: ['Query'],
    queues: { reader: SEND },
    secrets: ['GetSecretValue'],
    onlyOfDirectories: true,
  },
  // Reads the stream, not the table: see `grantExport`.
  audit: { table: [], index: [], queues: {}, secrets: [] },
};

export interface Resources {
  readonly prefix: string;
  readonly table: Table;
  readonly queues: Readonly<Record<QueueKey, IQueue>>;
  /** Further events queues, of sources. */
  readonly ofSources: readonly IQueue[];
  /** The events queue of the reader of directories, which is one of them. */
  readonly reader: IQueue | undefined;
  readonly key: IKey;
}

/** Gives one function's role what the permissions say: every action by name, every resource by its own ARN. */
export function grant(role: Role, permissions: Permissions, on: Resources): void {
  for (const statement of statementsFor(role, permissions, on)) role.addToPolicy(statement);
  if (permissions.secrets.length === 0) return;
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::${asFound(connectionSecrets(role, on.prefix, permissions))}]`,
    reason:
      "Connections are made and removed without a deployment, so their secrets are named by the path that holds this stage's connections and nothing else.",
  });
}

function statementsFor(scope: Construct, permissions: Permissions, on: Resources): PolicyStatement[] {
  const queues = QUEUE_KEYS.flatMap((queue) => {
    const named = [on.queues[queue], ...(queue === 'events' ? on.ofSources : [])];
    const arns = named.map(({ queueArn }) => queueArn);
    return statement(`Use${queue}`, 'sqs', permissions.queues[queue] ?? [], arns);
  });
  const reader = on.reader === undefined ? [] : [on.reader.queueArn];
  const index = `${on.table.tableArn}/index/${TABLE.index.name}`;
  return [
    ...queues,
    ...statement('UseReaderQueue', 'sqs', permissions.queues.reader ?? [], reader),
    ...statement('UseTable', 'dynamodb', permissions.table, [on.table.tableArn]),
    ...statement('UseIndex', 'dynamodb', permissions.index, [index]),
    ...statement('UseCredentials', 'secretsmanager', permissions.secrets, [
      connectionSecrets(scope, on.prefix, permissions),
    ]),
    ...keyStatements(scope, on.key),
  ];
}

function statement(sid: string, service: string, actions: readonly string[], resources: string[]) {
  if (actions.length === 0) return [];
  return [new PolicyStatement({ sid, actions: actions.map((action) => `${service}:${action}`), resources })];
}

/**
 * `<prefix>/connections/*`: connections come and go without a deployment. Secrets Manager puts six characters of its own at
 * the end of a name. Names of connections have no slash.
 */
const connectionSecrets = (scope: Construct, prefix: string, { onlyOfDirectories }: Permissions) =>
  Stack.of(scope).formatArn({
    service: 'secretsmanager',
    resource: 'secret',
    resourceName: `${prefix}/connections/*${onlyOfDirectories === true ? '/directory-??????' : ''}`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });

/** An ARN as cdk-nag writes it in the id of a finding: what is known at deploy time only is `<AWS::…>`. */
export const asFound = (arn: string) =>
  Token.asString(arn).replaceAll(/\$\{Token\[AWS[.:]+(\w+)[^\]]*\]\}/g, '<AWS::$1>');

/** The extra permissions of the reconcile function for sending notices; none if no target is set. */
export function grantNotify(
  role: Role,
  targets: readonly string[],
  { prefix, queues, key }: Resources,
): void {
  const topics = targets.filter((target) => target !== WEBHOOK);
  // Secrets Manager puts six characters of its own at the end of a name.
  const resourceName = `${notifySecretName(prefix)}-??????`;
  const secret = { service: 'secretsmanager', resource: 'secret', resourceName };
  const arn = Stack.of(role).formatArn({ ...secret, arnFormat: ArnFormat.COLON_RESOURCE_NAME });
  const deadLetters = [queues.eventsDlq.queueArn, queues.applyDlq.queueArn];
  for (const each of [
    ...statement('CountDeadLetters', 'sqs', targets.length > 0 ? ['GetQueueAttributes'] : [], deadLetters),
    ...statement('TellTopics', 'sns', topics.length > 0 ? ['Publish'] : [], topics),
    ...statement('ReadWebhook', 'secretsmanager', targets.includes(WEBHOOK) ? ['GetSecretValue'] : [], [arn]),
    ...(topics.length > 0
      ? [keyBy(role, key)('UseKeyOfTopic', 'sns', ['kms:Decrypt', 'kms:GenerateDataKey'])]
      : []),
  ]) {
    role.addToPolicy(each);
  }
}

/**
 * To ask AWS for a token that states the role, for these audiences only and for five minutes (IAM user guide, "Controlling
 * access with IAM policies" of outbound identity federation). STS has no resource for it.
 */
export function grantWebIdentity(role: Role, audiences: readonly string[]): void {
  if (audiences.length === 0) return;
  role.addToPolicy(
    new PolicyStatement({
      sid: 'ProveItself',
      actions: ['sts:GetWebIdentityToken'],
      resources: ['*'],
      conditions: {
        'ForAllValues:StringEquals': { 'sts:IdentityTokenAudience': audiences },
        // Of a request without any audience, every audience is among these.
        Null: { 'sts:IdentityTokenAudience': 'false' },
        NumericLessThanEquals: { 'sts:DurationSeconds': WEB_IDENTITY_SECONDS },
      },
    }),
  );
}

/** To follow the stream, to add to the bucket, and to set aside what could not be added; nothing to read or delete in it. */
export function grantExport(
  role: Role,
  on: { table: Table; bucket: Bucket; undelivered: IQueue; key: IKey },
): void {
  const stream = ['GetRecords', 'GetShardIterator', 'DescribeStream', 'ListStreams'];
  const objects = on.bucket.arnForObjects('*');
  for (const each of [
    ...statement('FollowStream', 'dynamodb', stream, [on.table.tableStreamArn as string]),
    ...statement('AddToBucket', 's3', ['PutObject'], [objects]),
    ...statement('SetAside', 'sqs', SEND, [on.undelivered.queueArn]),
    keyBy(role, on.key)('UseKeyOfBucket', 's3', ['kms:GenerateDataKey']),
  ]) {
    role.addToPolicy(each);
  }
  const bucket = Stack.of(role).getLogicalId(on.bucket.node.defaultChild as CfnBucket);
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::<${bucket}.Arn>/*]`,
    reason: 'The names of added objects are not known at deployment.',
  });
}

/** The key is usable only by way of the services that hold the data, never to decrypt something else with it. */
const keyBy =
  (scope: Construct, { keyArn }: IKey) =>
  (sid: string, service: string, actions: string[]) => {
    const via = `${service}.${Stack.of(scope).region}.amazonaws.com`;
    const conditions = { StringEquals: { 'kms:ViaService': via } };
    return new PolicyStatement({ sid, actions, resources: [keyArn], conditions });
  };

export function keyStatements(scope: Construct, key: IKey): PolicyStatement[] {
  const by = keyBy(scope, key);
  return [
    by('UseKeyOfQueues', 'sqs', ['kms:Decrypt', 'kms:GenerateDataKey']),
    // DynamoDB developer guide, "Authorizing use of your customer managed key", less what creating a table needs.
    by('UseKeyOfTable', 'dynamodb', ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey']),
  ];
}
