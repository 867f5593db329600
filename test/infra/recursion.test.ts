import { expect, it } from 'vitest';
import { SIGN_IN } from './sign-in.ts';
import { listed, resourcesOf, type Statement, synthesise } from './synthesised.ts';

const TOPIC = 'arn:aws:sns:eu-west-1:111122223333:directory';
/**
 * A stack with every part that can call a function. The stack sends notifications to the topic from which it receives
 * events.
 */
const { template } = synthesise({
  directory: true,
  scim: true,
  console: SIGN_IN,
  auditExportDays: 400,
  alarmEmail: 'ops@acme.test',
  notify: ['alarms', TOPIC],
  snsTopicArn: TOPIC,
  sources: { okta: { connection: 'acme' } },
});
const of = (type: string) => Object.entries(resourcesOf(template, `AWS::${type}`));

/** The actions with which a function can cause a call of another function. */
const CAUSES = ['sqs:SendMessage', 'sns:Publish', 'lambda:InvokeFunction'];

/** The logical id of a resource of the stack, or the ARN of another resource. */
const idOf = (reference: unknown): string => {
  if (typeof reference === 'string') return reference;
  const { 'Fn::GetAtt': [id] = [], Ref } = reference as { 'Fn::GetAtt'?: [string, string]; Ref?: string };
  return id ?? Ref ?? JSON.stringify(reference);
};

/** Pairs of two parts of the stack: the first part calls the second, or delivers messages to it. */
const DELIVERIES: readonly (readonly [from: string, to: string])[] = [
  ...of('Lambda::EventSourceMapping').map(
    ([, { Properties }]) => [idOf(Properties.EventSourceArn), idOf(Properties.FunctionName)] as const,
  ),
  ...of('SNS::Subscription').map(
    ([, { Properties }]) => [idOf(Properties.TopicArn), idOf(Properties.Endpoint)] as const,
  ),
  ...of('Lambda::Function').flatMap(([id, { Properties }]) =>
    of('IAM::Policy')
      .filter(([, policy]) =>
        policy.Properties.Roles.some((role: object) => idOf(role) === idOf(Properties.Role)),
      )
      .flatMap(([, policy]) => policy.Properties.PolicyDocument.Statement as Statement[])
      .filter(
        ({ Effect, Action }) => Effect === 'Allow' && listed(Action).some((one) => CAUSES.includes(one)),
      )
      .flatMap(({ Resource }) => listed(Resource).map((one) => [id, idOf(one)] as const)),
  ),
];

const reachedFrom = (start: string): ReadonlySet<string> => {
  const reached = new Set<string>();
  const waiting = [start];
  for (const from of waiting) {
    for (const [, to] of DELIVERIES.filter(([one]) => one === from)) {
      if (!reached.has(to)) waiting.push(to);
      reached.add(to);
    }
  }
  return reached;
};

it('no function except apply can cause a call of itself, so that Lambda detects no loop', () => {
  const functions = of('Lambda::Function').map(([id, { Properties }]) => ({
    id,
    name: Properties.FunctionName,
  }));
  expect(functions).toHaveLength(8);
  const loops = functions.filter(({ id }) => reachedFrom(id).has(id));
  expect(loops.map(({ name }) => name)).toEqual(['groupsync-apply']);
});

it('the calls between functions are found: a notification reaches apply through the topic, the events queue and ingest', () => {
  const named = (name: string) =>
    of('Lambda::Function').find(
      ([, { Properties }]) => Properties.FunctionName === `groupsync-${name}`,
    )?.[0] ?? '';
  const reached = reachedFrom(named('reconcile'));
  expect(['ingest', 'apply'].map((name) => reached.has(named(name)))).toEqual([true, true]);
});
