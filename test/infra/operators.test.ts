import { describe, expect, it } from 'vitest';
import { leadingKeysOf } from '../../infra/operators.ts';
import { connectionName } from '../../shared/domain/ids.ts';
import { listed, resourcesOf, type Statement, synthesise } from './synthesised.ts';

describe('policy for one connection', () => {
  const { template } = synthesise({ connectionViewers: 'acme,acme-2' });
  const policies = Object.values(resourcesOf(template, 'AWS::IAM::ManagedPolicy'));
  const statementsOf = (name: string): Statement[] =>
    policies.find(({ Properties }) => Properties.ManagedPolicyName === name)?.Properties.PolicyDocument
      .Statement;

  it('each connection of the setting has a policy that reads only the partitions of this connection', () => {
    const statements = statementsOf('groupsync-viewer-acme-eu-west-1');
    const reads = statements.filter(({ Action }) =>
      listed(Action).some((action) => action.startsWith('dynamodb:')),
    );
    expect(reads).toMatchObject([
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

  it('the policy for a connection matches no key of a connection whose name begins with the same text', () => {
    const matches = (key: string) =>
      leadingKeysOf(connectionName('acme')).some((pattern) =>
        pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern,
      );
    expect(['G#acme#g', 'C#acme', 'groups#acme#0', 'P#acme#email#a'].map(matches)).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(['G#acme-2#g', 'C#acme-2', 'P#other#acme#a', 'ST#acme', 'L#acme#0', 'STAGE'].map(matches)).toEqual(
      [false, false, false, false, false, false],
    );
  });
});

describe('policy of operators', () => {
  it('an operator may not write a decision about held removals directly', () => {
    const policies = Object.values(resourcesOf(synthesise().template, 'AWS::IAM::ManagedPolicy'));
    const denials = policies.map(({ Properties }) => [
      Properties.ManagedPolicyName,
      (Properties.PolicyDocument.Statement as Statement[]).filter(({ Effect }) => Effect === 'Deny'),
    ]);
    expect(Object.fromEntries(denials)).toMatchObject({
      'groupsync-operator-eu-west-1': [
        {
          Action: ['dynamodb:BatchWriteItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
          Condition: { 'ForAnyValue:StringEquals': { 'dynamodb:Attributes': ['hold', 'approval'] } },
        },
      ],
      'groupsync-approver-eu-west-1': [],
    });
  });
});
