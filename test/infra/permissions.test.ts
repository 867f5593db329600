import { describe, expect, it } from 'vitest';
import { resourcesOf, synthesise } from './synthesised.ts';

const { template } = synthesise({ scim: true });

/** `action` on the part of the stack that the ARN names. */
function grantsOf(role: string): string[] {
  const [policy] = Object.entries(resourcesOf(template, 'AWS::IAM::Policy')).filter(([id]) =>
    id.startsWith(`${role}WorkerRole`),
  );
  const statements = policy?.[1].Properties.PolicyDocument.Statement as {
    Action: string | string[];
    Resource: unknown;
  }[];
  return statements
    .flatMap(({ Action, Resource }) => [Action].flat().map((action) => `${action} on ${nameOf(Resource)}`))
    .filter((grant) => !/^(kms|logs|xray):/.test(grant))
    .sort();
}

function nameOf(resource: unknown): string {
  const text = JSON.stringify(resource);
  if (text.includes('/index/due')) return 'index';
  if (text.includes('connections/*')) return 'secrets';
  return /(Ingest|Apply)Lane(Queue|DeadLetters)|StateTable/.exec(text)?.[0] ?? text;
}

const onTable = (...actions: string[]) =>
  ['BatchGetItem', 'BatchWriteItem', 'PutItem', 'Query', 'UpdateItem', ...actions].map(
    (action) => `dynamodb:${action} on StateTable`,
  );
const ON_INDEX = 'dynamodb:Query on index';
const consume = (queue: string) =>
  ['DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage'].map((action) => `sqs:${action} on ${queue}`);
const send = (queue: string) => `sqs:SendMessage on ${queue}`;
const onSecrets = ['secretsmanager:GetSecretValue on secrets', 'secretsmanager:PutSecretValue on secrets'];

describe('a role grants exactly', () => {
  it('ingest: take events, dead-letter them, send to apply, use the table', () => {
    expect(grantsOf('Ingest')).toEqual(
      [
        ...consume('IngestLaneQueue'),
        send('IngestLaneDeadLetters'),
        send('ApplyLaneQueue'),
        ...onTable(),
      ].sort(),
    );
  });

  it('apply: take and send apply messages, dead-letter them, use the table and the credentials', () => {
    expect(grantsOf('Apply')).toEqual(
      [
        ...consume('ApplyLaneQueue'),
        send('ApplyLaneQueue'),
        send('ApplyLaneDeadLetters'),
        ...onTable('DeleteItem'),
        ...onSecrets,
      ].sort(),
    );
  });

  it('scim: send to apply and use the table, and reach neither index nor credentials', () => {
    expect(grantsOf('Scim')).toEqual([send('ApplyLaneQueue'), ...onTable('DeleteItem')].sort());
  });

  it.each(['Reconcile', 'People'])(
    '%s: send to apply, use the table, its index and the credentials',
    (role) => {
      expect(grantsOf(role)).toEqual(
        [send('ApplyLaneQueue'), ...onTable('DeleteItem'), ON_INDEX, ...onSecrets].sort(),
      );
    },
  );
});
