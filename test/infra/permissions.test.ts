import { expect, it } from 'vitest';
import { DEPLOYABLE_KEYS } from '../../infra/function-code.ts';
import { PERMISSIONS } from '../../infra/permissions.ts';
import { ENVIRONMENT } from '../../shared/contract/names.ts';
import { SIGN_IN } from './sign-in.ts';
import { listed, resourcesOf, type Statement, synthesise } from './synthesised.ts';

const { template } = synthesise({ scim: true, directory: true, console: SIGN_IN, auditExportDays: 400 });

/** Returns the grants of a role: the action, and the part of the stack that the ARN names. */
function grantsOf(role: string, of = template): string[] {
  const [policy] = Object.entries(resourcesOf(of, 'AWS::IAM::Policy')).filter(([id]) => id.startsWith(role));
  const statements = policy?.[1].Properties.PolicyDocument.Statement as Statement[];
  return statements
    .filter(({ Effect }) => Effect === 'Allow')
    .flatMap(({ Action, Resource }) => listed(Action).map((action) => `${action} on ${nameOf(Resource)}`))
    .filter((grant) => !/^(kms|logs|xray):/.test(grant))
    .sort();
}

const { template: silent } = synthesise({ scim: true, directory: true, console: SIGN_IN, notify: [] });

/**
 * Compares the list of permissions with the template. `permissions.integration.test.ts` compares the same list with the
 * calls.
 */
it.each(DEPLOYABLE_KEYS)('the role of %s grants exactly these permissions on the stack', (name) => {
  const grants = grantsOf(`${name.charAt(0).toUpperCase()}${name.slice(1)}WorkerRole`, silent);
  const { table, index, queues, secrets } = PERMISSIONS[name];
  const listed = [
    ...table.map((action) => `dynamodb:${action} on StateTable`),
    ...index.map((action) => `dynamodb:${action} on index`),
    ...secrets.map((action) => `secretsmanager:${action} on secrets`),
    ...Object.entries(queues).flatMap(([queue, actions]) =>
      actions.map((action) => `sqs:${action} on ${QUEUES[queue]}`),
    ),
  ];
  expect(grants.filter((grant) => !OF_CONSOLE.includes(grant))).toEqual(listed.sort());
});

/** The permissions that `grantConsole` adds for the console. */
const OF_CONSOLE = [
  'lambda:GetFunctionConfiguration on IngestWorkerFunction',
  'lambda:InvokeFunction on ReconcileWorkerFunction',
  'secretsmanager:GetSecretValue on groupsync/console-??????',
];

it('the console may invoke only reconcile, read only its client secret, and write no decision about held removals', () => {
  const grants = grantsOf('ConsoleWorkerRole');
  expect(grants).toEqual(expect.arrayContaining(OF_CONSOLE));
  expect(grants.filter((grant) => grant.startsWith('secretsmanager:'))).toHaveLength(1);
  const [, policy] = Object.entries(resourcesOf(template, 'AWS::IAM::Policy')).find(([id]) =>
    id.startsWith('ConsoleWorkerRole'),
  ) as [string, { Properties: { PolicyDocument: { Statement: Statement[] } } }];
  const denied = policy.Properties.PolicyDocument.Statement.filter(({ Effect }) => Effect === 'Deny');
  expect(denied).toMatchObject([
    {
      Action: ['dynamodb:BatchWriteItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
      Condition: { 'ForAnyValue:StringEquals': { 'dynamodb:Attributes': ['removals'] } },
    },
  ]);
});

it('the console gets the address of the SCIM server only if the stage has a SCIM server', () => {
  const variablesOf = (of: typeof template) =>
    Object.values(resourcesOf(of, 'AWS::Lambda::Function')).find(
      ({ Properties }) => Properties.FunctionName === 'groupsync-console',
    )?.Properties.Environment.Variables;
  expect(JSON.stringify(variablesOf(template)[ENVIRONMENT.scimUrl])).toContain('/scim/v2');
  expect(variablesOf(synthesise({ console: SIGN_IN }).template)).not.toHaveProperty(ENVIRONMENT.scimUrl);
});

const QUEUES: Readonly<Record<string, string>> = {
  events: 'IngestLaneQueue',
  reader: 'QueueOfReader',
  eventsDlq: 'IngestLaneDeadLetters',
  apply: 'ApplyLaneQueue',
  applyDlq: 'ApplyLaneDeadLetters',
};

function nameOf(resource: unknown): string {
  const text = JSON.stringify(resource);
  if (text.includes('/index/due')) return 'index';
  if (text.includes(':secret:groupsync/connections/*')) return 'secrets';
  if (text.includes(':secret:groupsync/console-??????')) return 'groupsync/console-??????';
  if (text.includes(':schedule/default/groupsync-feed')) return 'groupsync-feed';
  // Ingest reads this queue in the same way as the common queue, so both are in one list of ARNs.
  if (/^{.*Queuedirectory/.test(text)) return 'QueueOfReader';
  return (
    /(Ingest|Apply)Lane(Queue|DeadLetters)|(Ingest|Reconcile)WorkerFunction|StateTable/.exec(text)?.[0] ??
    text
  );
}
