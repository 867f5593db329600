import { expect, it } from 'vitest';
import { leadingKeysOf } from '../../infra/operators.ts';
import { connectionName } from '../../shared/domain/ids.ts';
import { listed, resourcesOf, type Statement, synthesise } from './synthesised.ts';

const policiesOf = (given: object) =>
  Object.values(resourcesOf(synthesise({ ...given }).template, 'AWS::IAM::ManagedPolicy'));
const ofViewers = policiesOf({ connectionViewers: 'acme,acme-2' });
const statementsOf = (name: string, policies = ofViewers): Statement[] =>
  policies.find(({ Properties }) => Properties.ManagedPolicyName === name)?.Properties.PolicyDocument
    .Statement;

it('each connection in connectionViewers has a policy that allows reading only the partitions of this connection', () => {
  const statements = statementsOf('groupsync-viewer-acme-eu-west-1');
  const reads = statements.filter(({ Action }) =>
    listed(Action).some((action) => action.startsWith('dynamodb:')),
  );
  expect(reads).toMatchObject([
    { Action: 'dynamodb:DescribeTable' },
    {
      Action: ['dynamodb:BatchGetItem', 'dynamodb:Query'],
      Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': leadingKeysOf('acme') } },
    },
  ]);
  const actions = statements.flatMap(({ Action }) => listed(Action));
  expect(
    actions.filter((action) => /Put|Update|Delete|Write|Send|Receive|Invoke|Secret/.test(action)),
  ).toEqual([]);
  expect(statementsOf('groupsync-viewer-acme-2-eu-west-1')).toBeDefined();
});

it('the policy for the connection acme allows no key of the connection acme-2', () => {
  const matches = (key: string) =>
    leadingKeysOf(connectionName('acme')).some((pattern) =>
      pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern,
    );
  const own = ['G#acme#g', 'C#acme', 'groups#acme#0', 'P#acme#email#a'];
  expect(own.filter(matches)).toEqual(own);
  const others = ['G#acme-2#g', 'C#acme-2', 'P#other#acme#a', 'ST#acme', 'L#acme#0', 'STAGE'];
  expect(others.filter(matches)).toEqual([]);
});

const ofOperators = policiesOf({ connectionOperators: 'acme', directory: true, secretsKey: 'stage' });
const statements = statementsOf('groupsync-operator-acme-eu-west-1', ofOperators);

/** Evaluates the policy as IAM does, for one call on one resource and, for the table, one partition key. */
function mayCall(call: string, resource: string, key?: string): boolean {
  const applies = ({ Action, Resource, Condition }: Statement) =>
    listed(Action).includes(call) &&
    listed(Resource).some((one) => isLike(resource, nameOf(one))) &&
    holds(Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'], key);
  return statements.some((one) => one.Effect === 'Allow' && applies(one));
}
const holds = (keys: unknown, key: string | undefined) =>
  // `ForAllValues` is also true for a call without a partition key, such as a scan.
  keys === undefined || key === undefined || (keys as string[]).some((pattern) => isLike(key, pattern));

it.each([
  ['dynamodb:UpdateItem', 'table/groupsync-state', 'G#acme#g', true],
  ['dynamodb:PutItem', 'table/groupsync-state', 'C#acme', true],
  ['dynamodb:BatchWriteItem', 'table/groupsync-state', 'U#acme#ann', true],
  ['dynamodb:UpdateItem', 'table/groupsync-state', 'G#other#g', false],
  ['dynamodb:UpdateItem', 'table/groupsync-state', 'G#acme-2#g', false],
  ['dynamodb:PutItem', 'table/groupsync-state', 'C#other', false],
  ['dynamodb:PutItem', 'table/groupsync-state', 'L#company#0', false],
  ['dynamodb:PutItem', 'table/groupsync-state', 'connections', false],
  ['dynamodb:Query', 'table/groupsync-state', 'G#other#g', false],
  ['dynamodb:Scan', 'table/groupsync-state', undefined, false],
  ['lambda:InvokeFunction', 'function:groupsync-reconcile:for-acme', undefined, true],
  ['lambda:InvokeFunction', 'function:groupsync-people:for-acme', undefined, true],
  ['lambda:InvokeFunction', 'function:groupsync-directory:for-acme', undefined, true],
  ['lambda:InvokeFunction', 'function:groupsync-reconcile', undefined, false],
  ['lambda:InvokeFunction', 'function:groupsync-reconcile:$LATEST', undefined, false],
  ['lambda:InvokeFunction', 'function:groupsync-reconcile:for-other', undefined, false],
  ['secretsmanager:PutSecretValue', 'secret:groupsync/connections/acme-a1b2c3', undefined, true],
  ['secretsmanager:PutSecretValue', 'secret:groupsync/connections/acme/directory-a1b2c3', undefined, true],
  ['secretsmanager:PutSecretValue', 'secret:groupsync/connections/acme-2-a1b2c3', undefined, false],
  ['secretsmanager:GetSecretValue', 'secret:groupsync/connections/acme-a1b2c3', undefined, false],
  ['sqs:SendMessage', 'groupsync-apply', undefined, true],
  ['sqs:SendMessage', 'groupsync-events', undefined, false],
  ['sqs:ReceiveMessage', 'groupsync-events-dlq', undefined, false],
])('an operator of acme may call %s on %s with key %s: %s', (call, resource, key, expected) => {
  expect(mayCall(call, resource, key)).toBe(expected);
});

const nameOf = (resource: unknown): string =>
  String((resource as { 'Fn::Join'?: [string, unknown[]] })['Fn::Join']?.[1].at(-1) ?? '').replace(/^:/, '');

/** Returns true if the pattern matches the text. `*` and `?` have the meaning that they have in IAM. */
const isLike = (text: string, pattern: string): boolean =>
  new RegExp(
    `^${pattern
      .replaceAll(/[.+^$()|[\]\\{}]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  ).test(text);

it('no policy for people allows reading a secret', () => {
  const policies = policiesOf({
    connectionOperators: 'acme',
    connectionViewers: 'acme',
    directory: true,
    secretsKey: 'stage',
  });
  expect(policies).toHaveLength(5);
  const actions = policies.flatMap(({ Properties }) =>
    (Properties.PolicyDocument.Statement as Statement[]).flatMap(({ Action }) => listed(Action)),
  );
  expect(actions.filter((action) => /GetSecret|BatchGetSecret|secretsmanager:\*|^\*$/.test(action))).toEqual(
    [],
  );
});

it('an operator may write neither a decision about held removals nor a console session directly into the table', () => {
  const policies = policiesOf({});
  const denials = policies.map(({ Properties }) => [
    Properties.ManagedPolicyName,
    (Properties.PolicyDocument.Statement as Statement[]).filter(({ Effect }) => Effect === 'Deny'),
  ]);
  expect(Object.fromEntries(denials)).toMatchObject({
    'groupsync-operator-eu-west-1': [
      {
        Action: ['dynamodb:BatchWriteItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
        Condition: { 'ForAnyValue:StringEquals': { 'dynamodb:Attributes': ['removals'] } },
      },
      {
        Action: ['dynamodb:BatchWriteItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
        Condition: { 'ForAnyValue:StringEquals': { 'dynamodb:LeadingKeys': ['SESSIONS'] } },
      },
    ],
    'groupsync-approver-eu-west-1': [],
  });
});
