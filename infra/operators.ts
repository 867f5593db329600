import { Stack, Validations } from 'aws-cdk-lib';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import {
  alarmTopicName,
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
  testedAlarm,
} from '../shared/contract/names.ts';
import { CONNECTION_PARTITIONS, CONNECTIONS_PARTITION, TABLE } from '../shared/contract/topology.ts';
import { asFound, keyStatements, noDecisions, secretsKeyStatement } from './permissions.ts';
import type { Settings } from './settings.ts';

type Right = readonly [on: keyof ReturnType<typeof namesOf>, ...actions: string[]];

const LOOK: readonly Right[] = [
  ['table', 'dynamodb:BatchGetItem', 'dynamodb:Query'],
  ['index', 'dynamodb:Query'],
  ['queues', 'sqs:GetQueueUrl', 'sqs:GetQueueAttributes'],
  // A dead-lettered message is read by receiving it and making it visible again.
  ['deadLetters', 'sqs:ReceiveMessage', 'sqs:ChangeMessageVisibility'],
  // The environment of ingest shows which connection a source's queue belongs to.
  ['ingest', 'lambda:GetFunctionConfiguration'],
];

/** The permissions of each role for its commands, which `test/infra/commands.integration.test.ts` lists. */
const PEOPLE: Readonly<Record<'viewer' | 'approver' | 'operator', readonly Right[]>> = {
  viewer: LOOK,
  // The function carries the decision out and checks who decides. So an approver needs no write access to the table.
  approver: [...LOOK, ['reconcile', 'lambda:InvokeFunction']],
  operator: [
    ...LOOK,
    ['table', 'dynamodb:BatchWriteItem', 'dynamodb:UpdateItem', 'dynamodb:PutItem', 'dynamodb:DeleteItem'],
    ['table', 'dynamodb:Scan', 'dynamodb:DescribeTable'],
    ['apply', 'sqs:SendMessage'],
    ['table', 'dynamodb:DescribeTimeToLive', 'dynamodb:DescribeContinuousBackups'],
    ['events', 'sqs:SendMessage'],
    ['deadLetters', 'sqs:DeleteMessage'],
    ['runs', 'lambda:InvokeFunction'],
    ['functions', 'lambda:GetFunctionConfiguration', 'lambda:GetFunctionConcurrency'],
    ['scim', 'lambda:GetPolicy'],
    ['anything', 'lambda:ListEventSourceMappings', 'lambda:GetAccountSettings'],
    ['schedules', 'scheduler:GetSchedule'],
    ['alarm', 'cloudwatch:SetAlarmState', 'cloudwatch:DescribeAlarmHistory'],
    ['topic', 'sns:ListSubscriptionsByTopic'],
    ['secrets', 'secretsmanager:GetSecretValue', 'secretsmanager:PutSecretValue'],
    ['secrets', 'secretsmanager:CreateSecret', 'secretsmanager:DeleteSecret', 'secretsmanager:RestoreSecret'],
  ],
};

interface OperatorsProps {
  readonly settings: Settings;
  readonly key: IKey;
  /** ARN of the key of secrets; undefined: the key of Secrets Manager. */
  readonly secretsKey: string | undefined;
}

/**
 * Three policies to attach to the roles of people. Write access to the table covers everything stored in it, so only
 * operators have it.
 */
export class Operators extends Construct {
  constructor(scope: Construct, id: string, { settings, key, secretsKey }: OperatorsProps) {
    super(scope, id);
    const { partition, region, account } = Stack.of(this);
    const names = namesOf(settings);
    const arn = (name: string) => {
      const [service = '', ...resource] = name.split(':');
      return name === '*' ? name : `arn:${partition}:${service}:${region}:${account}:${resource.join(':')}`;
    };
    for (const connection of settings.connectionViewers) {
      new ManagedPolicy(this, `viewer-${connection}`, {
        managedPolicyName: `${settings.prefix}-viewer-${connection}-${region}`,
        description: `groupsync ${settings.prefix}: reads the connection ${connection}, and no other`,
        statements: [
          ...LOOK_AT_ONE.map(
            ([on, ...actions]) => new PolicyStatement({ actions, resources: names[on].map(arn) }),
          ),
          new PolicyStatement({
            actions: ['dynamodb:BatchGetItem', 'dynamodb:Query'],
            resources: [...names.table, ...names.index].map(arn),
            conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': leadingKeysOf(connection) } },
          }),
          ...keyStatements(this, key),
        ],
      });
    }
    for (const [who, rights] of Object.entries(PEOPLE)) {
      const policy = new ManagedPolicy(this, who, {
        // A policy's name is unique in the account, across all regions.
        managedPolicyName: `${settings.prefix}-${who}-${region}`,
        description: `groupsync ${settings.prefix}: the command line and the console, as ${who}`,
        statements: [
          ...rights.map(
            ([on, ...actions]) => new PolicyStatement({ actions, resources: names[on].map(arn) }),
          ),
          ...keyStatements(this, key),
          ...(who === 'operator' ? [noDecisions(names.table.map(arn))] : []),
          ...(who === 'operator' && secretsKey !== undefined
            ? [secretsKeyStatement(this, secretsKey, ['kms:Decrypt', 'kms:GenerateDataKey'])]
            : []),
        ],
      });
      if (who !== 'operator') continue;
      const reasons = {
        [asFound('*')]:
          'lambda:ListEventSourceMappings and lambda:GetAccountSettings have no resource level (service authorization reference).',
        [asFound(arn(names.secrets[0]))]: 'Connections come and go without a deployment.',
      };
      for (const [resource, reason] of Object.entries(reasons))
        Validations.of(policy).acknowledge({ id: `AwsSolutions-IAM5[Resource::${resource}]`, reason });
    }
  }
}

/** What a viewer of one connection may read. Dead-lettered messages of all connections are in the same queues. */
const LOOK_AT_ONE: readonly Right[] = [
  ['queues', 'sqs:GetQueueUrl', 'sqs:GetQueueAttributes'],
  ['ingest', 'lambda:GetFunctionConfiguration'],
];

/** The partition keys of one connection, in the table and in its index. */
export const leadingKeysOf = (connection: string): readonly string[] => [
  CONNECTIONS_PARTITION,
  ...CONNECTION_PARTITIONS.flatMap((kind) => [`${kind}#${connection}`, `${kind}#${connection}#*`]),
];

/** ARNs that contain resource names. A reader of the policy understands names better than CloudFormation references. */
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
    // Includes functions that may be missing: without the permission, AWS does not report that they are missing.
    functions: [...FUNCTION_KEYS, 'scim' as const].map(target),
    ingest: [target('ingest')],
    reconcile: [target('reconcile')],
    runs: [target('reconcile'), target('people'), target('directory')],
    scim: [target('scim')],
    schedules: SCHEDULE_KEYS.map((key) => `scheduler:schedule/default/${scheduleName(prefix, key)}`),
    alarm: [`cloudwatch:alarm:${testedAlarm(prefix)}`],
    topic: [`sns:${alarmTopicName(prefix)}`],
    secrets: [`secretsmanager:secret:${prefix}/connections/*`],
    anything: ['*'],
  } as const;
}
