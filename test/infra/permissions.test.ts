import { expect, it } from 'vitest';
import { DEPLOYABLE_KEYS } from '../../infra/bundle.ts';
import { PERMISSIONS } from '../../infra/permissions.ts';
import { resourcesOf, synthesise } from './synthesised.ts';

const { template } = synthesise({ scim: true });

/** What `permissions.integration.test.ts` holds against the calls that are made, here against the template. */
it.each(DEPLOYABLE_KEYS)(
  'the role of %s grants exactly what the permissions list, on its own resources',
  (name) => {
    const role = `${name.charAt(0).toUpperCase()}${name.slice(1)}WorkerRole`;
    const [, policy] =
      Object.entries(resourcesOf(template, 'AWS::IAM::Policy')).find(([id]) => id.startsWith(role)) ?? [];
    const statements = policy?.Properties.PolicyDocument.Statement as {
      Action: string | string[];
      Resource: unknown;
    }[];
    const grants = statements
      .flatMap(({ Action, Resource }) => [Action].flat().map((action) => `${action} on ${nameOf(Resource)}`))
      .filter((grant) => !/^(kms|logs|xray):/.test(grant));
    const { table, index, queues, secrets } = PERMISSIONS[name];
    const listed = [
      ...table.map((action) => `dynamodb:${action} on StateTable`),
      ...index.map((action) => `dynamodb:${action} on index`),
      ...secrets.map((action) => `secretsmanager:${action} on secrets`),
      ...Object.entries(queues).flatMap(([queue, actions]) =>
        actions.map((action) => `sqs:${action} on ${QUEUES[queue]}`),
      ),
    ];
    expect(grants.sort()).toEqual(listed.sort());
  },
);

const QUEUES: Readonly<Record<string, string>> = {
  events: 'IngestLaneQueue',
  eventsDlq: 'IngestLaneDeadLetters',
  apply: 'ApplyLaneQueue',
  applyDlq: 'ApplyLaneDeadLetters',
};

function nameOf(resource: unknown): string {
  const text = JSON.stringify(resource);
  if (text.includes('/index/due')) return 'index';
  if (text.includes(':secret:groupsync/connections/*')) return 'secrets';
  return /(Ingest|Apply)Lane(Queue|DeadLetters)|StateTable/.exec(text)?.[0] ?? text;
}
