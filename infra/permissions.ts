import { ArnFormat, Stack, Token, Validations } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Effect, PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Bucket, CfnBucket } from 'aws-cdk-lib/aws-s3';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { notifySecretName, QUEUE_KEYS, type QueueKey, WEBHOOK } from '../shared/contract/names.ts';
import {
  DECISION_ATTRIBUTES,
  SESSIONS_PARTITION,
  TABLE,
  WEB_IDENTITY_SECONDS,
} from '../shared/contract/topology.ts';
import type { DeployableKey } from './function-code.ts';

/** The calls that one function may make, by service. All other calls are refused. */
export interface Permissions {
  readonly table: readonly string[];
  readonly index: readonly string[];
  readonly queues: Readonly<Partial<Record<QueueKey | 'reader', readonly string[]>>>;
  /**
   * Actions on the queues of sources, except the reader's queue. If absent, the actions of `events` apply to all these
   * queues and to the reader's queue.
   */
  readonly sources?: readonly string[];
  readonly secrets: readonly string[];
  /** True if the actions are allowed only on the secrets for reading directories. */
  readonly onlyOfDirectories?: true;
}

/**
 * Calls that Lambda's poller makes with the function's role (Lambda developer guide, "Using Lambda with Amazon SQS").
 */
const CONSUME = ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'] as const;
const SEND = ['SendMessage'] as const;
/**
 * Reads and writes are combined into batches. A conditional write cannot be in a batch. `DescribeTable` shows the id of
 * the table, which a restore changes.
 */
const READ_AND_WRITE = [
  'DescribeTable',
  'BatchGetItem',
  'Query',
  'BatchWriteItem',
  'PutItem',
  'UpdateItem',
] as const;
const READ_WRITE_AND_DELETE = [...READ_AND_WRITE, 'DeleteItem'] as const;
/** Writing is necessary, because a function refreshes an expired OAuth token and stores the new token. */
const USE_CREDENTIAL = ['GetSecretValue', 'PutSecretValue'] as const;

/** To read a dead-lettered message, the function receives the message and makes it visible again. */
const DECIDE_MESSAGES = [
  'ReceiveMessage',
  'ChangeMessageVisibility',
  'DeleteMessage',
  'GetQueueAttributes',
] as const;

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
    queues: { events: [...CONSUME, 'ChangeMessageVisibility'], eventsDlq: SEND, apply: SEND },
    secrets: [],
  },
  // After a refusal, apply fetches another group to learn whether all groups are refused. Apply finds the other group
  // in the index.
  apply: {
    table: READ_WRITE_AND_DELETE,
    index: ['Query'],
    queues: { apply: [...CONSUME, ...SEND], applyDlq: SEND },
    secrets: USE_CREDENTIAL,
  },
  // The scan finds members that have left every group. Each day it reads a thirtieth of the table.
  reconcile: { ...SCHEDULED, table: [...SCHEDULED.table, 'Scan'] },
  people: SCHEDULED,
  // Like ingest, scim writes desired state and wakes groups. It does not call the platform and reads no secret.
  scim: { table: READ_WRITE_AND_DELETE, index: [], queues: { apply: SEND }, secrets: [] },
  // The function compares a directory with desired state and sends events. It does not call the platform.
  directory: {
    table: READ_WRITE_AND_DELETE,
    index: ['Query'],
    queues: { reader: SEND },
    secrets: ['GetSecretValue'],
    onlyOfDirectories: true,
  },
  // The console performs the actions of an operator at the command line. `grantConsole` adds permissions.
  console: {
    // To find the data of a person, the console scans the whole table.
    table: [...READ_WRITE_AND_DELETE, 'Scan'],
    index: ['Query'],
    queues: {
      events: [...SEND, 'GetQueueAttributes'],
      apply: [...SEND, 'GetQueueAttributes'],
      eventsDlq: DECIDE_MESSAGES,
      applyDlq: DECIDE_MESSAGES,
    },
    // The console replays a dead-lettered message to its own queue, but not to the queue of the reader.
    sources: SEND,
    secrets: [],
  },
  // The function reads the stream instead of the table. `grantExport` gives it this permission.
  audit: { table: [], index: [], queues: {}, secrets: [] },
};

export interface Resources {
  readonly prefix: string;
  readonly table: Table;
  readonly queues: Readonly<Record<QueueKey, IQueue>>;
  readonly ofSources: readonly IQueue[];
  /** The events queue of the reader of directories. `ofSources` contains this queue too. */
  readonly reader: IQueue | undefined;
  readonly key: IKey;
}

/** Lets a role that reads or writes secrets use the key of these secrets, but only through Secrets Manager. */
export function grantSecretsKey(role: Role, { secrets }: Permissions, keyArn: string): void {
  const actions = secretsKeyActions(secrets);
  if (actions.length > 0) role.addToPolicy(secretsKeyStatement(role, keyArn, actions));
}

/** Writing a secret needs a data key from its KMS key (Secrets Manager user guide, "Secret encryption"). */
export const secretsKeyStatement = (scope: Construct, keyArn: string, actions: readonly string[]) =>
  keyBy(scope, { keyArn })('UseKeyOfSecrets', 'secretsmanager', [...actions]);

const secretsKeyActions = (secrets: readonly string[]): readonly string[] => [
  ...(secrets.length > 0 ? ['kms:Decrypt'] : []),
  ...(secrets.includes('PutSecretValue') ? ['kms:GenerateDataKey'] : []),
];

/** Grants permissions to a function's role: every action by name, every resource except secrets by its own ARN. */
export function grant(role: Role, permissions: Permissions, on: Resources): void {
  for (const statement of statementsFor(role, permissions, on)) role.addToPolicy(statement);
  if (permissions.secrets.length === 0) return;
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::${asFound(connectionSecrets(role, on.prefix, permissions))}]`,
    reason:
      'Connections are created and removed without a deployment. The path of their secrets contains only connections of this stage.',
  });
}

function statementsFor(scope: Construct, permissions: Permissions, on: Resources): PolicyStatement[] {
  const queues = QUEUE_KEYS.flatMap((queue) => {
    const hasSources = queue === 'events' && permissions.sources === undefined;
    const named = [on.queues[queue], ...(hasSources ? on.ofSources : [])];
    const arns = named.map(({ queueArn }) => queueArn);
    return statement(`Use${queue}`, 'sqs', permissions.queues[queue] ?? [], arns);
  });
  const reader = on.reader === undefined ? [] : [on.reader.queueArn];
  const replayed = on.ofSources.filter((one) => one !== on.reader).map(({ queueArn }) => queueArn);
  const index = `${on.table.tableArn}/index/${TABLE.index.name}`;
  return [
    ...queues,
    ...statement('UseSources', 'sqs', permissions.sources ?? [], replayed),
    ...statement('UseReaderQueue', 'sqs', permissions.queues.reader ?? [], reader),
    ...statement('UseTable', 'dynamodb', permissions.table, [on.table.tableArn]),
    ...statement('UseIndex', 'dynamodb', permissions.index, [index]),
    ...statement('UseCredentials', 'secretsmanager', permissions.secrets, [
      connectionSecrets(scope, on.prefix, permissions),
    ]),
    ...keyStatements(scope, on.key),
  ];
}

export function statement(sid: string, service: string, actions: readonly string[], resources: string[]) {
  if (actions.length === 0 || resources.length === 0) return [];
  return [new PolicyStatement({ sid, actions: actions.map((action) => `${service}:${action}`), resources })];
}

/**
 * The ARN pattern of the secrets of all connections. It ends with a wildcard, because connections are created and
 * removed without a deployment.
 */
const connectionSecrets = (scope: Construct, prefix: string, { onlyOfDirectories }: Permissions) =>
  secretArn(scope, `${prefix}/connections/*${onlyOfDirectories === true ? '/directory-??????' : ''}`);

/** `??????` in a name stands for the six characters that Secrets Manager adds at its end. */
export const secretArn = (scope: Construct, resourceName: string) =>
  Stack.of(scope).formatArn({
    service: 'secretsmanager',
    resource: 'secret',
    resourceName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });

/**
 * Returns an ARN in the form that cdk-nag uses in finding ids. A value that is known only at deployment becomes
 * `<AWS::…>`, and a parameter of the template becomes `<…>`.
 */
export const asFound = (arn: string) =>
  Token.asString(arn)
    .replaceAll(/\$\{Token\[AWS[.:]+(\w+)[^\]]*\]\}/g, '<AWS::$1>')
    .replaceAll(/\$\{Token\[[^\]]*\]\}/g, '<…>');

/** Lets the function `reconcile` send notices. Grants nothing if no target is set. */
export function grantNotify(role: Role, targets: readonly string[], { prefix, queues, key }: Resources) {
  const topics = targets.filter((target) => target !== WEBHOOK);
  const arn = secretArn(role, `${notifySecretName(prefix)}-??????`);
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
 * Lets a role get an AWS token about itself, only for these audiences and for at most five minutes (IAM user guide,
 * outbound identity federation, "Controlling access with IAM policies"). This STS action supports no resource ARN.
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
        // `ForAllValues` is true for a request without an audience. The condition `Null` refuses such a request.
        Null: { 'sts:IdentityTokenAudience': 'false' },
        NumericLessThanEquals: { 'sts:DurationSeconds': WEB_IDENTITY_SECONDS },
      },
    }),
  );
}

/** Lets a role sign with these KMS keys, only with the algorithm that the reader of Okta uses. */
export function grantSignatures(role: Role, keys: readonly string[]): void {
  if (keys.length === 0) return;
  role.addToPolicy(
    new PolicyStatement({
      sid: 'SignAsApplication',
      actions: ['kms:Sign'],
      resources: [...keys],
      conditions: { StringEquals: { 'kms:SigningAlgorithm': 'RSASSA_PKCS1_V1_5_SHA_256' } },
    }),
  );
}

/**
 * Lets the role read the stream, add objects to the bucket, and send failed batches to a queue. It may not read or
 * delete objects.
 */
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

/** Lets a role use the key only through the AWS service that stores the data. */
const keyBy =
  (scope: Construct, { keyArn }: Pick<IKey, 'keyArn'>) =>
  (sid: string, service: string, actions: string[]) => {
    const via = `${service}.${Stack.of(scope).region}.amazonaws.com`;
    const conditions = { StringEquals: { 'kms:ViaService': via } };
    return new PolicyStatement({ sid, actions, resources: [keyArn], conditions });
  };

export function keyStatements(scope: Construct, key: IKey): PolicyStatement[] {
  const by = keyBy(scope, key);
  return [
    by('UseKeyOfQueues', 'sqs', ['kms:Decrypt', 'kms:GenerateDataKey']),
    // DynamoDB developer guide, "Authorizing use of your customer managed key", without the actions for creating a
    // table.
    by('UseKeyOfTable', 'dynamodb', ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey']),
  ];
}

const denyWrites = (sid: string, key: string, values: readonly string[]) => (resources: string[]) =>
  new PolicyStatement({
    sid,
    effect: Effect.DENY,
    actions: ['dynamodb:UpdateItem', 'dynamodb:PutItem', 'dynamodb:BatchWriteItem'],
    resources,
    conditions: { 'ForAnyValue:StringEquals': { [`dynamodb:${key}`]: [...values] } },
  });

/**
 * Denies creating or changing sessions of the console with AWS credentials. Otherwise a person could create a session
 * for another person. Ending a session is allowed.
 */
export const noSessions = denyWrites('NoSessions', 'LeadingKeys', [SESSIONS_PARTITION]);

/**
 * Denies writing decisions about held removals directly. Only the function `reconcile` writes a decision, after it has
 * checked the approver. The condition names the attributes of a group's item that contain held removals and decisions.
 */
export const noDecisions = denyWrites('NoDecisions', 'Attributes', DECISION_ATTRIBUTES);
