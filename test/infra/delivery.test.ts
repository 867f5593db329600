import { describe, expect, it } from 'vitest';
import { type CfnResource, everyResourceOf, listed, type Statement, synthesise } from './synthesised.ts';

const { template } = synthesise({
  producers: 'arn:aws:iam::111122223333:role/directory',
  oktaEventSource: 'aws.partner/okta.com/acme/stream',
  snsTopicArn: 'arn:aws:sns:eu-west-1:111122223333:directory',
  scim: true,
  auditExportDays: 400,
});
type Resources = Record<string, CfnResource>;
const RESOURCES = everyResourceOf(template);

/**
 * A call that an AWS service makes by itself. If a policy denies the call, no client of the stack gets an error.
 * Emulators do not check these calls.
 */
interface Step {
  readonly what: string;
  /** The caller: a service by its name, or a role by its logical id. */
  readonly who: string;
  readonly action: string;
  readonly on: string;
  readonly context: Readonly<Record<string, string>>;
}

/**
 * Returns a value of the template as one text. Equal values give equal texts. A pseudo parameter becomes a fixed value,
 * and a reference to a resource becomes its logical id.
 */
function plain(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const { Ref, ...call } = value as {
    Ref?: string;
    'Fn::GetAtt'?: string[];
    'Fn::Join'?: [string, unknown[]];
  };
  if (call['Fn::Join'] !== undefined) return call['Fn::Join'][1].map(plain).join(call['Fn::Join'][0]);
  if (call['Fn::GetAtt'] !== undefined) return `${call['Fn::GetAtt'][0]}`;
  return (
    { 'AWS::AccountId': ACCOUNT, 'AWS::Partition': 'aws', 'AWS::Region': 'eu-west-1' }[Ref ?? ''] ?? `${Ref}`
  );
}
const ACCOUNT = '111122223333';
const all = (resources: Resources, type: string) =>
  Object.entries(resources).filter(([, { Type }]) => Type === type);

/** Returns every call that AWS services make by themselves for the resources of the template. */
function stepsOf(resources: Resources): Step[] {
  const of = (type: string) => all(resources, type).map(([id, { Properties }]) => ({ id, ...Properties }));
  /** Returns the call. If a KMS key encrypts the target, also returns the calls that use the key. */
  const callsFor = (who: string, action: string, to: unknown, context: Step['context']): Step[] => {
    const on = plain(to);
    const key = resources[on]?.Properties.KmsMasterKeyId;
    const service = who.endsWith('.com') ? {} : { 'kms:ViaService': 'sqs.eu-west-1.amazonaws.com' };
    const ofKey = key === undefined ? [] : ['kms:Decrypt', 'kms:GenerateDataKey'];
    return [[action, on], ...ofKey.map((use) => [use, plain(key)])].map(([action = '', on = '']) => ({
      what: `${who}: ${action} on ${on}`,
      who,
      action,
      on,
      context: on === plain(key) ? { ...context, ...service } : context,
    }));
  };
  const from = (arn: string) => ({ 'aws:SourceAccount': ACCOUNT, 'aws:SourceArn': arn });
  const trust = (service: string, role: string, arn: string) =>
    callsFor(service, 'sts:AssumeRole', role, from(arn));
  return [
    ...of('AWS::CloudWatch::Alarm').flatMap(({ id, AlarmActions, OKActions }) =>
      [...AlarmActions, ...OKActions].flatMap((topic) =>
        callsFor('cloudwatch.amazonaws.com', 'sns:Publish', topic, from(id)),
      ),
    ),
    ...of('AWS::Events::Rule').flatMap(({ id, Targets: [{ Arn, DeadLetterConfig }] }) =>
      [Arn, DeadLetterConfig.Arn].flatMap((queue) =>
        callsFor('events.amazonaws.com', 'sqs:SendMessage', queue, from(id)),
      ),
    ),
    ...of('AWS::SNS::Subscription').flatMap(({ TopicArn, Endpoint, RedrivePolicy }) =>
      [Endpoint, RedrivePolicy.deadLetterTargetArn].flatMap((queue) =>
        callsFor('sns.amazonaws.com', 'sqs:SendMessage', queue, from(plain(TopicArn))),
      ),
    ),
    ...of('AWS::ApiGatewayV2::Route').flatMap(({ ApiId, RouteKey, Target }) =>
      callsFor(
        'apigateway.amazonaws.com',
        'lambda:InvokeFunction',
        resources[plain(Target).replace('integrations/', '')]?.Properties.IntegrationUri,
        from(`arn:aws:execute-api:eu-west-1:${ACCOUNT}:${plain(ApiId)}/*/*${RouteKey.replace(/^ANY /, '')}`),
      ),
    ),
    ...of('AWS::Logs::LogGroup').flatMap(({ LogGroupName, KmsKeyId }) =>
      ['Encrypt', 'Decrypt', 'ReEncryptFrom', 'ReEncryptTo', 'GenerateDataKey', 'DescribeKey'].flatMap(
        (use) =>
          callsFor('logs.eu-west-1.amazonaws.com', `kms:${use}`, KmsKeyId, {
            'kms:EncryptionContext:aws:logs:arn': `arn:aws:logs:eu-west-1:${ACCOUNT}:log-group:${LogGroupName}`,
          }),
      ),
    ),
    ...of('AWS::Scheduler::Schedule').flatMap(({ Target: { Arn, RoleArn } }) => [
      ...trust(
        'scheduler.amazonaws.com',
        plain(RoleArn),
        `arn:aws:scheduler:eu-west-1:${ACCOUNT}:schedule-group/default`,
      ),
      ...callsFor(plain(RoleArn), 'lambda:InvokeFunction', Arn, {}),
    ]),
    ...of('AWS::Lambda::Function').flatMap(({ id, Role }) => trust('lambda.amazonaws.com', plain(Role), id)),
    ...of('AWS::Lambda::EventSourceMapping').flatMap(
      ({ FunctionName, EventSourceArn, DestinationConfig }) => {
        const { Role, Environment } = resources[plain(FunctionName)]?.Properties ?? {};
        const role = plain(Role);
        const step = (action: string, on: string, context: Step['context'] = {}): Step => {
          return { what: `${role}: ${action} on ${on}`, who: role, action, on, context };
        };
        if (DestinationConfig === undefined)
          return ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'].flatMap((use) =>
            callsFor(role, `sqs:${use}`, EventSourceArn, {}),
          );
        const table = plain(EventSourceArn);
        const key = plain(resources[table]?.Properties.SSESpecification.KMSMasterKeyId);
        const via = (service: string) => ({ 'kms:ViaService': `${service}.eu-west-1.amazonaws.com` });
        return [
          ...['GetRecords', 'GetShardIterator', 'DescribeStream', 'ListStreams'].map((use) =>
            step(`dynamodb:${use}`, table),
          ),
          step('kms:Decrypt', key, via('dynamodb')),
          step('s3:PutObject', `${plain(Environment.Variables.BUCKET)}/*`, { 's3:if-none-match': '*' }),
          step('kms:GenerateDataKey', key, via('s3')),
          ...callsFor(role, 'sqs:SendMessage', DestinationConfig.OnFailure.Destination, {}),
        ];
      },
    ),
  ];
}

interface Place {
  readonly kind: 'role' | 'resource';
  /** The roles or resources to which the policy belongs. */
  readonly of: readonly string[];
  readonly document: { Statement: Statement[] };
}

/** Returns every policy of the template, from each type of resource that can contain one. */
function policiesOf(resources: Resources): Place[] {
  const at = (type: string, kind: Place['kind'], document: string, of?: string) =>
    all(resources, type).map(([id, { Properties }]) => ({
      kind,
      of: of === undefined ? [id] : listed(Properties[of]).map(plain),
      document: Properties[document],
    }));
  return [
    ...at('AWS::SQS::QueuePolicy', 'resource', 'PolicyDocument', 'Queues'),
    // The statements of a bucket policy concern the objects of the bucket.
    ...at('AWS::S3::BucketPolicy', 'resource', 'PolicyDocument', 'Bucket').map((place) => ({
      ...place,
      of: place.of.map((bucket) => `${bucket}/*`),
    })),
    ...at('AWS::SNS::TopicPolicy', 'resource', 'PolicyDocument', 'Topics'),
    ...at('AWS::KMS::Key', 'resource', 'KeyPolicy'),
    ...at('AWS::IAM::Role', 'resource', 'AssumeRolePolicyDocument'),
    ...at('AWS::IAM::Policy', 'role', 'PolicyDocument', 'Roles'),
    ...at('Permissions', 'resource', 'document', 'of'),
  ];
}

/** The template with each Lambda permission rewritten as a policy, so that one rule can evaluate all policies. */
const RESTATED: Resources = Object.fromEntries(
  Object.entries(RESOURCES).map(([id, { Type, Properties }]) => {
    if (Type !== 'AWS::Lambda::Permission') return [id, { Type, Properties }];
    const { FunctionName, Principal, Action, SourceArn } = Properties;
    const Condition = { ArnLike: { 'aws:SourceArn': SourceArn } };
    const Statement = [{ Effect: 'Allow', Principal: { Service: Principal }, Action, Condition }];
    return [id, { Type: 'Permissions', Properties: { of: [FunctionName], document: { Statement } } }];
  }),
);

const asPattern = (text: string) =>
  new RegExp(`^${text.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`);

function holds(condition: Statement['Condition'], context: Step['context']): boolean {
  const known: Step['context'] = { 'aws:SecureTransport': 'true', ...context };
  return Object.entries(condition ?? {}).every(([operator, keys]) =>
    Object.entries(keys).every(([key, wanted]) => {
      const found = known[key];
      if (operator === 'Null') return (found === undefined) === (wanted === 'true');
      const isOne =
        found !== undefined &&
        listed(wanted).some((one) => plain(one) === found || asPattern(plain(one)).test(found));
      return operator.includes('Not') ? !isOne : isOne;
    }),
  );
}

/**
 * Returns whether IAM allows the call. Only the rules that this template needs are implemented. The policy of the
 * resource must not deny the call. If the caller is a service, this policy must allow the call. If the caller is a
 * role, the policy of the role must allow the call. If a role uses a key, the policy of the key must also allow the
 * account.
 */
function isAdmitted({ who, action, on, context }: Step, policies: readonly Place[]): boolean {
  const isService = who.endsWith('.com');
  const full = { ...context, 'aws:PrincipalIsAWSService': String(isService), 'aws:PrincipalArn': who };
  const says = (kind: Place['kind'], of: string, effect: string, isFromCaller: (one: Statement) => boolean) =>
    policies
      .filter((place) => place.kind === kind && place.of.includes(of))
      .flatMap(({ document }) => document.Statement)
      .filter(({ Effect }) => Effect === effect)
      .some(
        (one) =>
          isFromCaller(one) &&
          listed(one.Action).some((pattern) => asPattern(pattern).test(action)) &&
          (kind === 'resource' && on === of && one.Resource === undefined
            ? true
            : listed(one.Resource).some((resource) => ['*', on].includes(plain(resource)))) &&
          holds(one.Condition, full),
      );
  const named = ({ Principal }: Statement) =>
    Principal === '*' || Principal?.AWS === '*' || listed(Principal?.Service).map(plain).includes(who);
  const ofAccount = ({ Principal }: Statement) =>
    Principal !== '*' && plain(Principal?.AWS) === `arn:aws:iam::${ACCOUNT}:root`;
  if (says('resource', on, 'Deny', named)) return false;
  if (isService) return says('resource', on, 'Allow', named);
  return (
    says('role', who, 'Allow', () => true) &&
    (!action.startsWith('kms:') || says('resource', on, 'Allow', ofAccount))
  );
}

/** Returns the call as the service makes it for another account, for example for an alarm in another account. */
const asStranger = (step: Step): Step => ({
  ...step,
  context: Object.fromEntries(
    Object.keys(step.context).map((key) => [key, 'arn:aws:any:eu-west-1:999999999999:any']),
  ),
});

function faultsOf(resources: Resources): string[] {
  const policies = policiesOf(resources);
  return stepsOf(RESTATED).flatMap((step) => {
    // The roles of functions trust Lambda without a condition. So the calls of Lambda are not checked for other
    // accounts.
    const isOurs = step.who.endsWith('.com') && step.who !== 'lambda.amazonaws.com';
    return [
      ...(isAdmitted(step, policies) ? [] : [`${step.what} is refused`]),
      ...(isOurs && isAdmitted(asStranger(step), policies) ? [`${step.what} is open to others`] : []),
    ];
  });
}

describe('calls that AWS services make by themselves', () => {
  it('the callers are exactly the known AWS services and roles', () => {
    const callers = stepsOf(RESTATED).map(({ who }) => (who.endsWith('.com') ? who.split('.')[0] : 'role'));
    const known = ['apigateway', 'cloudwatch', 'events', 'lambda', 'logs', 'role', 'scheduler', 'sns'];
    expect([...new Set(callers)].sort()).toEqual(known);
  });

  it('the policies allow every call of this account, and refuse calls for other accounts by services except Lambda', () => {
    expect(faultsOf(RESTATED)).toEqual([]);
  });
});
