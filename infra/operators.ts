import { Stack, Validations } from 'aws-cdk-lib';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { CfnAlias } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import {
  alarmTopicName,
  connectionAlias,
  FUNCTION_KEYS,
  type FunctionKey,
  functionName,
  type OptionalFunctionKey,
  QUEUE_KEYS,
  type QueueKey,
  queueName,
  SCHEDULE_KEYS,
  scheduleName,
  sourceQueueName,
  tableName,
} from '../shared/contract/names.ts';
import { CONNECTION_PARTITIONS, CONNECTIONS_PARTITION, TABLE } from '../shared/contract/topology.ts';
import type { ConnectorFunction } from './connector-function.ts';
import { asFound, keyStatements, noDecisions, noSessions, secretsKeyStatement } from './permissions.ts';
import type { Settings } from './settings.ts';

type Right = readonly [on: keyof ReturnType<typeof namesOf>, ...actions: string[]];

const VIEWER_RIGHTS: readonly Right[] = [
  ['table', 'dynamodb:BatchGetItem', 'dynamodb:Query', 'dynamodb:DescribeTable'],
  ['index', 'dynamodb:Query'],
  ['queues', 'sqs:GetQueueUrl', 'sqs:GetQueueAttributes'],
  // To read a dead-lettered message, a command receives the message and makes it visible again.
  ['deadLetters', 'sqs:ReceiveMessage', 'sqs:ChangeMessageVisibility'],
  // The environment of ingest shows the connection to which the queue of a source belongs.
  ['ingest', 'lambda:GetFunctionConfiguration'],
];

const WRITE = ['BatchWriteItem', 'UpdateItem', 'PutItem', 'DeleteItem'].map((name) => `dynamodb:${name}`);
const STORE_SECRET = ['PutSecretValue', 'CreateSecret', 'DeleteSecret', 'RestoreSecret'].map(
  (name) => `secretsmanager:${name}`,
);

/**
 * The permissions that the commands of each role need. `test/infra/commands.e2e.test.ts` lists the commands.
 */
const RIGHTS_BY_ROLE: Readonly<Record<'viewer' | 'approver' | 'operator', readonly Right[]>> = {
  viewer: VIEWER_RIGHTS,
  // The function `reconcile` checks and stores a decision. So an approver needs no write access to the table.
  approver: [...VIEWER_RIGHTS, ['reconcile', 'lambda:InvokeFunction']],
  operator: [
    ...VIEWER_RIGHTS,
    ['table', ...WRITE],
    ['table', 'dynamodb:Scan'],
    ['apply', 'sqs:SendMessage'],
    ['table', 'dynamodb:DescribeTimeToLive', 'dynamodb:DescribeContinuousBackups'],
    ['events', 'sqs:SendMessage'],
    ['deadLetters', 'sqs:DeleteMessage'],
    ['runs', 'lambda:InvokeFunction'],
    ['functions', 'lambda:GetFunctionConfiguration', 'lambda:GetFunctionConcurrency'],
    ['scim', 'lambda:GetPolicy'],
    ['anything', 'lambda:ListEventSourceMappings', 'lambda:GetAccountSettings'],
    ['schedules', 'scheduler:GetSchedule'],
    ['topic', 'sns:ListSubscriptionsByTopic'],
    // No person reads a secret. Functions make the calls that need a credential.
    ['secrets', ...STORE_SECRET],
  ],
};

interface OperatorsProps {
  readonly settings: Settings;
  readonly key: IKey;
  /** ARN of the key that encrypts secrets. Undefined if Secrets Manager uses its own key. */
  readonly secretsKey: string | undefined;
  readonly workers: readonly ConnectorFunction[];
}

/**
 * Three policies to attach to the roles of people, and policies for single connections. Viewers and approvers have no
 * write access to the table. The operators of a connection may write only its partitions.
 */
export class Operators extends Construct {
  constructor(scope: Construct, id: string, { settings, key, secretsKey, workers }: OperatorsProps) {
    super(scope, id);
    const { partition, region, account } = Stack.of(this);
    const names = namesOf(settings);
    const arn = (name: string) => {
      const [service = '', ...resource] = name.split(':');
      return name === '*' ? name : `arn:${partition}:${service}:${region}:${account}:${resource.join(':')}`;
    };
    const allow = (actions: readonly string[], on: readonly string[]) =>
      new PolicyStatement({ actions: [...actions], resources: on.map(arn) });
    const useSecretsKey =
      secretsKey === undefined
        ? []
        : [secretsKeyStatement(this, secretsKey, ['kms:Decrypt', 'kms:GenerateDataKey'])];
    const viewStatements = (connection: string) => [
      ...CONNECTION_VIEWER_RIGHTS.map(([on, ...actions]) => allow(actions, names[on])),
      onlyKeys(
        allow(['dynamodb:BatchGetItem', 'dynamodb:Query'], [...names.table, ...names.index]),
        leadingKeysOf(connection),
      ),
      ...keyStatements(this, key),
    ];
    for (const connection of settings.connectionViewers) {
      new ManagedPolicy(this, `viewer-${connection}`, {
        managedPolicyName: `${settings.prefix}-viewer-${connection}-${region}`,
        description: `groupsync ${settings.prefix}: reads only the connection ${connection}`,
        statements: viewStatements(connection),
      });
    }
    for (const connection of settings.connectionOperators) {
      const alias = connectionAlias(connection);
      for (const { function: target } of workers)
        new CfnAlias(target, alias, {
          functionName: target.functionName,
          functionVersion: '$LATEST',
          name: alias,
        });
      const called = workers.map(
        ({ name }) => `lambda:function:${functionName(settings.prefix, name)}:${alias}`,
      );
      new ManagedPolicy(this, `operator-${connection}`, {
        managedPolicyName: `${settings.prefix}-operator-${connection}-${region}`,
        description: `groupsync ${settings.prefix}: operates only the connection ${connection}`,
        statements: [
          ...viewStatements(connection),
          onlyKeys(allow(WRITE, names.table), partitionsOf(connection)),
          noDecisions(names.table.map(arn)),
          allow(['sqs:SendMessage'], names.apply),
          allow(['lambda:InvokeFunction'], called),
          allow(STORE_SECRET, secretsOf(settings.prefix, connection)),
          ...useSecretsKey,
        ],
      });
    }
    for (const [who, rights] of Object.entries(RIGHTS_BY_ROLE)) {
      const policy = new ManagedPolicy(this, who, {
        // A policy's name is unique in the account, across all regions.
        managedPolicyName: `${settings.prefix}-${who}-${region}`,
        description: `groupsync ${settings.prefix}: the command line and the console, as ${who}`,
        statements: [
          ...rights.map(([on, ...actions]) => allow(actions, names[on])),
          ...keyStatements(this, key),
          ...(who === 'operator'
            ? [noDecisions(names.table.map(arn)), noSessions(names.table.map(arn)), ...useSecretsKey]
            : []),
        ],
      });
      if (who !== 'operator') continue;
      const reasons = {
        [asFound('*')]:
          'lambda:ListEventSourceMappings and lambda:GetAccountSettings have no resource level (service authorization reference).',
        [asFound(arn(names.secrets[0]))]: 'Connections are created and removed without a deployment.',
      };
      for (const [resource, reason] of Object.entries(reasons))
        Validations.of(policy).acknowledge({ id: `AwsSolutions-IAM5[Resource::${resource}]`, reason });
    }
  }
}

/**
 * A viewer of one connection may count the messages in the queues. Reading them is not allowed, because all connections
 * share the queues.
 */
const CONNECTION_VIEWER_RIGHTS: readonly Right[] = [
  ['table', 'dynamodb:DescribeTable'],
  ['queues', 'sqs:GetQueueUrl', 'sqs:GetQueueAttributes'],
  ['ingest', 'lambda:GetFunctionConfiguration'],
];

/** Limits a statement to items with these partition keys. All its actions must be calls with partition keys. */
function onlyKeys(statement: PolicyStatement, keys: readonly string[]): PolicyStatement {
  statement.addCondition('ForAllValues:StringLike', { 'dynamodb:LeadingKeys': keys });
  return statement;
}

const partitionsOf = (connection: string): readonly string[] =>
  CONNECTION_PARTITIONS.flatMap((kind) => [
    // These keys always have a day, a shard or a member. The policy is close to its maximum length.
    ...(['D', 'N', 'U'].includes(kind) ? [] : [`${kind}#${connection}`]),
    `${kind}#${connection}#*`,
  ]);

export const leadingKeysOf = (connection: string): readonly string[] => [
  CONNECTIONS_PARTITION,
  ...partitionsOf(connection),
];

/** Secrets Manager adds six characters at the end of a name. */
const secretsOf = (prefix: string, connection: string): readonly string[] =>
  ['', '/directory'].map((name) => `secretsmanager:secret:${prefix}/connections/${connection}${name}-??????`);

/**
 * ARNs with resource names instead of CloudFormation references, because people who read the policy understand names
 * better.
 */
function namesOf({ prefix, sources }: Settings) {
  const table = `dynamodb:table/${tableName(prefix)}`;
  const queue = (key: QueueKey) => `sqs:${queueName(prefix, key)}`;
  const target = (name: FunctionKey | OptionalFunctionKey) => `lambda:function:${functionName(prefix, name)}`;
  return {
    table: [table],
    index: [`${table}/index/${TABLE.index.name}`],
    queues: QUEUE_KEYS.map(queue),
    events: [
      queue('events'),
      ...Object.keys(sources).map((source) => `sqs:${sourceQueueName(prefix, source)}`),
    ],
    apply: [queue('apply')],
    deadLetters: [queue('eventsDlq'), queue('applyDlq')],
    // Includes functions that may be missing. Without the permission, AWS does not report a missing function.
    functions: [...FUNCTION_KEYS, 'scim' as const].map(target),
    ingest: [target('ingest')],
    reconcile: [target('reconcile')],
    runs: [target('reconcile'), target('people'), target('directory')],
    scim: [target('scim')],
    schedules: SCHEDULE_KEYS.map((key) => `scheduler:schedule/default/${scheduleName(prefix, key)}`),
    topic: [`sns:${alarmTopicName(prefix)}`],
    secrets: [`secretsmanager:secret:${prefix}/connections/*`],
    anything: ['*'],
  } as const;
}
