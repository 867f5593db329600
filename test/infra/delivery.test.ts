import { describe, expect, it } from 'vitest';
import { type CfnResource, resourcesOf, synthesise } from './synthesised.ts';

const { template } = synthesise({
  producers: 'arn:aws:iam::111122223333:role/directory',
  oktaEventSource: 'aws.partner/okta.com/acme/stream',
  snsTopicArn: 'arn:aws:sns:eu-west-1:111122223333:directory',
  scim: true,
});

interface Statement {
  readonly Effect: string;
  readonly Principal: { readonly Service?: unknown; readonly AWS?: unknown } | '*';
  readonly Action: string | string[];
  readonly Resource: unknown;
  readonly Condition?: Record<string, Record<string, unknown>>;
}
/** An AWS service that hands something to a resource in its own name, with no role: only policies let it. */
interface Arrow {
  readonly from: string;
  readonly service: string;
  readonly action: string;
  readonly to: string;
}

const listed = <T>(value: T | readonly T[] | undefined): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value as T];
const all = (type: string) => Object.entries(resourcesOf(template, type));
/** The logical id that a reference names. */
const idOf = (reference: { Ref?: string; 'Fn::GetAtt'?: [string, string] }): string => {
  const id = reference.Ref ?? reference['Fn::GetAtt']?.[0];
  if (id === undefined) throw new Error(`expected a reference, got ${JSON.stringify(reference)}`);
  return id;
};

const arrows: readonly Arrow[] = [
  ...all('AWS::CloudWatch::Alarm').flatMap(([from, { Properties }]) =>
    [...Properties.AlarmActions, ...Properties.OKActions].map((topic) => ({
      from,
      service: 'cloudwatch.amazonaws.com',
      action: 'sns:Publish',
      to: idOf(topic),
    })),
  ),
  ...all('AWS::Events::Rule').flatMap(([from, { Properties }]) =>
    Properties.Targets.flatMap((target: { Arn: object; DeadLetterConfig: { Arn: object } }) =>
      [target.Arn, target.DeadLetterConfig.Arn].map((queue) => ({
        from,
        service: 'events.amazonaws.com',
        action: 'sqs:SendMessage',
        to: idOf(queue),
      })),
    ),
  ),
  ...all('AWS::SNS::Subscription').flatMap(([from, { Properties }]) =>
    [Properties.Endpoint, Properties.RedrivePolicy.deadLetterTargetArn].map((queue) => ({
      from,
      service: 'sns.amazonaws.com',
      action: 'sqs:SendMessage',
      to: idOf(queue),
    })),
  ),
  ...all('AWS::ApiGatewayV2::Integration').map(([from, { Properties }]) => ({
    from,
    service: 'apigateway.amazonaws.com',
    action: 'lambda:InvokeFunction',
    to: idOf(Properties.IntegrationUri),
  })),
];

const matches = (pattern: string, action: string) =>
  pattern === '*' || pattern === action || (pattern.endsWith('*') && action.startsWith(pattern.slice(0, -1)));
const names = ({ Principal }: Statement, service: string) =>
  Principal === '*' || Principal.AWS === '*' || listed(Principal.Service).includes(service);
const concerns = (statement: Statement, service: string, action: string) =>
  names(statement, service) && listed(statement.Action).some((pattern) => matches(pattern, action));
/** A service calls over TLS, as a service, for this account. */
const neverOfAService = new Set(['aws:SecureTransport', 'aws:PrincipalIsAWSService']);
const isOfAService = ({ Condition }: Statement) =>
  !Object.keys(Condition?.['Bool'] ?? {}).some((key) => neverOfAService.has(key));

/** A statement that lets the service do it, only on behalf of what is ours, and none that keeps it from that. */
const admits = (statements: readonly Statement[], service: string, action: string) => {
  const concerned = statements.filter((one) => concerns(one, service, action) && isOfAService(one));
  const conditions = concerned.map(({ Condition }) => Object.values(Condition ?? {}).flatMap(Object.keys));
  return (
    concerned.length > 0 &&
    concerned.every(({ Effect }) => Effect === 'Allow') &&
    conditions.every((keys) => keys.some((key) => key === 'aws:SourceAccount' || key === 'aws:SourceArn'))
  );
};

const POLICIES = [
  ['AWS::SNS::TopicPolicy', 'Topics'],
  ['AWS::SQS::QueuePolicy', 'Queues'],
] as const;
const statementsOn = (id: string): Statement[] =>
  POLICIES.flatMap(([type, list]) =>
    all(type)
      .filter(([, { Properties }]) => Properties[list].some((one: object) => idOf(one) === id))
      .flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement),
  );
const functionAdmits = (id: string, service: string, action: string) =>
  all('AWS::Lambda::Permission').some(
    ([, { Properties }]) =>
      idOf(Properties.FunctionName) === id &&
      Properties.Principal === service &&
      Properties.Action === action &&
      Properties.SourceArn !== undefined,
  );

const resource = (id: string) => template.toJSON()['Resources'][id] as CfnResource;
const keyOf = ({ Properties }: CfnResource) => Properties.KmsMasterKeyId as object | undefined;
/** The service brings its data to the resource under the resource's key (SNS and SQS developer guides). */
const keyAdmits = (key: object, service: string) => {
  const statements = resource(idOf(key)).Properties.KeyPolicy.Statement as Statement[];
  return ['kms:Decrypt', 'kms:GenerateDataKey'].every((action) => admits(statements, service, action));
};

describe('what AWS hands over in its own name', () => {
  it('is known: alarms, Okta’s events, the topic of the directory, SCIM requests', () => {
    const alarms = all('AWS::CloudWatch::Alarm').length;
    expect(alarms).toBeGreaterThan(30);
    expect(arrows).toHaveLength(2 * alarms + 2 + 2 + 1);
  });

  it.each(arrows.map((arrow) => [`${arrow.from} → ${arrow.to}`, arrow] as const))(
    '%s is let in by the policy of the target, and by that of its key',
    (_, { service, action, to }) => {
      const type = resource(to).Type;
      if (type === 'AWS::Lambda::Function') {
        expect(functionAdmits(to, service, action)).toBe(true);
        return;
      }
      expect(admits(statementsOn(to), service, action), JSON.stringify(statementsOn(to))).toBe(true);
      const key = keyOf(resource(to));
      expect(key !== undefined && keyAdmits(key, service), JSON.stringify(key)).toBe(true);
    },
  );

  it('tells the alarm topic of alarms of this account only', () => {
    const [[topic] = ['']] = all('AWS::SNS::Topic');
    const allowed = statementsOn(topic).filter(({ Effect }) => Effect === 'Allow');
    expect(allowed).toMatchObject([
      {
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Action: 'sns:Publish',
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      },
    ]);
  });
});
