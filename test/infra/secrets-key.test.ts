import { describe, expect, it } from 'vitest';
import { listed, resourcesOf, type Statement, synthesise } from './synthesised.ts';

const ARN = 'arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555';

/** Returns the statements about the key that encrypts secrets, by the logical id of their policy. */
function granted(given: Record<string, unknown>) {
  const { template } = synthesise({ directory: true, scim: true, ...given });
  const policies = {
    ...resourcesOf(template, 'AWS::IAM::Policy'),
    ...resourcesOf(template, 'AWS::IAM::ManagedPolicy'),
  };
  return Object.entries(policies).flatMap(([id, { Properties }]) =>
    (Properties.PolicyDocument.Statement as Statement[])
      .filter(({ Sid }) => Sid === 'UseKeyOfSecrets')
      .map(({ Action, Resource, Condition }) => ({ id, actions: listed(Action), Resource, Condition })),
  );
}

describe('key for the secrets of connections', () => {
  it('without the setting secretsKey, no policy grants a key for secrets', () => {
    expect(granted({})).toEqual([]);
  });

  it('operators, and the functions that use secrets, may use the key of the setting only through Secrets Manager', () => {
    const found = granted({ secretsKey: ARN });
    expect(
      found.map(({ id, actions }) => [id.replace(/(?:Worker.*|[0-9A-F]{8})$/, ''), actions.length]).sort(),
    ).toEqual([
      ['Apply', 2],
      ['Directory', 1],
      ['Operatorsoperator', 2],
      ['People', 2],
      ['Reconcile', 2],
    ]);
    for (const { Resource, Condition } of found) {
      expect(Resource).toBe(ARN);
      expect(Condition).toEqual({
        StringEquals: { 'kms:ViaService': 'secretsmanager.eu-west-1.amazonaws.com' },
      });
    }
  });

  it('only ingest has the key in its environment, where the command line finds it', () => {
    const { template } = synthesise({ secretsKey: 'stage' });
    const [key] = Object.keys(resourcesOf(template, 'AWS::KMS::Key'));
    const functions = Object.values(resourcesOf(template, 'AWS::Lambda::Function'));
    const keys = functions.map(({ Properties: { FunctionName, Environment } }) => [
      FunctionName,
      Environment.Variables.GROUPSYNC_SECRETS_KEY,
    ]);
    expect(keys.filter(([, value]) => value !== undefined)).toEqual([
      ['groupsync-ingest', { 'Fn::GetAtt': [key, 'Arn'] }],
    ]);
  });
});
