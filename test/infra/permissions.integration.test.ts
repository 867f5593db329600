import type { Template } from 'aws-cdk-lib/assertions';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEPLOYABLE_KEYS } from '../../infra/function-code.ts';
import { PERMISSIONS, type Permissions } from '../../infra/permissions.ts';
import { scimClient } from '../../scripts/deploy-check/scim-client.ts';
import {
  DEFAULT_CONNECTION,
  QUEUE_KEYS,
  type QueueKey,
  queueName,
  readerQueueName,
} from '../../shared/contract/names.ts';
import { DECISION_ATTRIBUTES } from '../../shared/contract/topology.ts';
import { groupId, memberId } from '../../shared/domain/ids.ts';
import { GROUP_SCHEMA } from '../../shared/scim/protocol/schemas/group.ts';
import { NAMED_USER } from '../../shared/scim/protocol/schemas/user.ts';
import { memberKey } from '../../shared/store/keys.ts';
import { nativeEvent } from '../support/events.ts';
import { type CallingFunctions, startCallingFunctions } from './calling-functions.ts';
import { record, tourConsole } from './console-tour.ts';
import { SIGN_IN } from './sign-in.ts';
import { everyResourceOf, listed, resourcesOf, type Statement, synthesise } from './synthesised.ts';

const employee = (name: string, email = `${name}@acme.test`) => ({
  id: `role-${name}`,
  userId: `user-${name}`,
  name,
  employeeNumber: name,
  roleState: 'ACTIVE',
  workEmail: email,
});
const member = (name: string, email = `${name}@acme.test`) => ({ id: `m-${name}`, email });

interface State {
  readonly companies: readonly { readonly groups: readonly { readonly id: string }[] }[];
}

/** Calls that Lambda makes for the function, and one of ingest after throttling, which the emulator does not imitate. */
const CONSUMED = ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes', 'ChangeMessageVisibility'];

const secretOf = (name: string) =>
  name === 'directory' ? 'groupsync/connections/default/directory' : 'groupsync/connections/default';

const nameOfQueue = (key: QueueKey | 'reader') =>
  key === 'reader' ? readerQueueName('groupsync') : queueName('groupsync', key);

function granted(name: keyof typeof PERMISSIONS, permissions: Permissions = PERMISSIONS[name]): string[] {
  const { table, index, queues, secrets } = permissions;
  return [
    ...table.map((action) => `dynamodb:${action} on table`),
    ...index.map((action) => `dynamodb:${action} on index`),
    ...secrets.map((action) => `secretsmanager:${action} on ${secretOf(name)}`),
    ...([...QUEUE_KEYS, 'reader'] as const).flatMap((key) =>
      (queues[key] ?? [])
        .filter((action) => !CONSUMED.includes(action))
        .map((action) => `sqs:${action} on ${nameOfQueue(key)}`),
    ),
  ].sort();
}

/** Returns every call that the template allows the console, as the recorder writes it. */
function grantedToConsole(): string[] {
  const { template } = synthesise({
    scim: true,
    directory: true,
    console: SIGN_IN,
    sources: { okta: { connection: 'default' } },
  });
  const policies = Object.entries(resourcesOf(template, 'AWS::IAM::Policy'));
  const [, policy] = policies.find(([id]) => id.startsWith('ConsoleWorkerRole')) ?? [];
  const statements = policy?.Properties.PolicyDocument.Statement as Statement[];
  const allowing = statements.filter(({ Effect }) => Effect === 'Allow');
  const grants = allowing.flatMap(({ Action, Resource }) =>
    listed(Action).flatMap((action) =>
      listed(Resource).map((resource) => `${action} on ${nameOf(resource, template)}`),
    ),
  );
  // AWS services make these calls, so the recorder of the function does not see them.
  return grants.filter((grant) => !/^(?:kms|logs|xray):/.test(grant)).sort();
}

/** Returns the name that the recorder gives to a resource. */
function nameOf(resource: unknown, template: Template): string {
  const { 'Fn::GetAtt': [id = ''] = [], 'Fn::Join': [, parts = []] = [] } = resource as {
    readonly 'Fn::GetAtt'?: [string, string];
    readonly 'Fn::Join'?: [string, unknown[]];
  };
  const { TableName, QueueName, FunctionName } = everyResourceOf(template)[id]?.Properties ?? {};
  if (TableName !== undefined) return 'table';
  const ending = String(parts.at(-1)).replace(/^:(?:schedule\/default\/|secret:)|-\?+$/g, '');
  return QueueName ?? FunctionName ?? (ending === '/index/due' ? 'index' : ending);
}

const event = (type: string, data: unknown) => record(nativeEvent(type, data));
const apply = (...groups: string[]) => ({
  Records: groups.map((group) => record(JSON.stringify({ connection: 'default', group }))),
});

/** Sends the requests of an identity provider for one user and one group, from creation to deletion. */
async function sendScimLifecycle({ functions, table }: CallingFunctions): Promise<void> {
  const scim = await scimClient(functions.scim, table);
  const dora = await scim('POST', '/Users', 201, {
    schemas: [NAMED_USER.id],
    userName: 'dora@acme.test',
    externalId: 'x-1',
    emails: [{ value: 'dora@acme.test', primary: true }],
  });
  const team = await scim('POST', '/Groups', 201, {
    schemas: [GROUP_SCHEMA.id],
    displayName: 'Team',
    externalId: 'x-2',
    members: [{ value: dora.id }],
  });
  await scim('GET', '/Users?filter=externalId%20eq%20%22x-1%22', 200);
  await scim('GET', '/Groups?filter=displayName%20eq%20%22team%22', 200);
  await scim('PATCH', `/Groups/${team.id}`, 204, {
    Operations: [
      { op: 'replace', path: 'displayName', value: 'Crew' },
      { op: 'replace', path: 'externalId', value: 'x-3' },
      { op: 'remove', path: `members[value eq "${dora.id}"]` },
      { op: 'add', path: 'members', value: [{ value: dora.id }] },
    ],
  });
  await scim('PUT', `/Users/${dora.id}`, 200, { schemas: [NAMED_USER.id], userName: 'theodora@acme.test' });
  await scim('DELETE', `/Users/${dora.id}`, 204);
  await scim('DELETE', `/Groups/${team.id}`, 204);
}

let running: CallingFunctions;
const calls = (name: (typeof DEPLOYABLE_KEYS)[number]) => [...running.recorders[name].calls].sort();

beforeAll(async () => {
  running = await startCallingFunctions({ employees: [employee('ann'), employee('ben')] });
  const { functions, control, expireCredential } = running;
  const eng = { id: 'eng', name: 'Engineering' };
  const ops = { id: 'ops', name: 'Operations' };
  const ingest = (...Records: unknown[]) => functions.ingest.invoke({ Records });

  await functions.people.invoke({});
  await ingest(
    event('group.upserted', { group: eng }),
    event('group.member.added', { group: { id: 'eng' }, members: [member('ann'), member('cleo')] }),
    event('group.snapshot', {
      group: ops,
      members: [member('ben')],
      part: { snapshotId: 's', index: 0, count: 1 },
    }),
    record('not an event'),
  );
  // The first function that finds an expired token refreshes it and stores the new token.
  await expireCredential();
  await functions.apply.invoke(apply('eng', 'ops'));
  // A new employee matches a pending member. A changed address leaves an outdated item with the earlier address.
  await control('POST', 'employees', employee('cleo'));
  await control('POST', 'employees', employee('ben', 'benjamin@acme.test'));
  await functions.people.invoke({});
  // A changed attribute and a deleted user cause user fan-outs.
  await ingest(
    event('user.upserted', { user: member('ben', 'benjamin@acme.test') }),
    event('user.deleted', { user: { id: 'm-cleo' } }),
  );
  await functions.apply.invoke(apply('eng', 'ops'));
  // A change arrives during a write, so the group stays dirty and is sent to the apply queue again.
  await control('POST', 'faults', [{ match: { method: 'PATCH' }, delayMs: 400 }]);
  await ingest(event('group.upserted', { group: { ...eng, name: 'Engineers' } }));
  const busy = functions.apply.invoke(apply('eng'));
  await ingest(event('group.member.added', { group: { id: 'eng' }, members: [member('ben')] }));
  await busy;
  // After a permanent refusal, apply cancels the guard's reservation for the removals. A refused creation is
  // dead-lettered immediately. After a refusal that may concern every group, apply reads another group.
  await control('POST', 'faults', [
    { match: { method: 'PATCH' }, status: 422, times: 9 },
    { match: { method: 'POST' }, status: 403, times: 1 },
    { match: { method: 'POST' }, status: 422, times: 9 },
  ]);
  await ingest(event('group.member.removed', { group: { id: 'eng' }, members: [member('ann')] }));
  for (const id of ['art', 'law']) await ingest(event('group.upserted', { group: { id, name: id } }));
  await functions.apply.invoke(apply('eng', 'art', 'law'));
  await control('POST', 'faults', []);
  await ingest(event('group.deleted', { group: { id: 'ops' } }));
  await functions.apply.invoke(apply('ops'));
  // Another client changes a group, and the sweep finds the change. The sweep also deletes expired tombstones. Each
  // sweep searches one of 24 parts of the groups, selected by a hash of the group's id. The test adds 100 groups with
  // one tombstone each, so that every part contains a tombstone.
  const groups = (await control('GET', 'state', undefined)) as State;
  await control('POST', `groups/${groups.companies[0]?.groups[0]?.id}`, {
    name: 'Renamed',
    initiator: 'ROLE',
  });
  const littered = Array.from({ length: 100 }, (_, i) => `litter-${i}`);
  await ingest(...littered.map((id) => event('group.upserted', { group: { id, name: id } })));
  for (const id of littered) {
    const key = memberKey({ connection: DEFAULT_CONNECTION, group: groupId(id) }, memberId('gone'));
    await running.table.put({ ...key, member: 'gone', stamp: '', presence: 'absent', expiresAt: 1 });
  }
  await expireCredential();
  for (const task of ['pump', 'feed', 'sweep', 'health']) await functions.reconcile.invoke({ task });
  // Commands of operators ask the function these questions about the platform.
  for (const question of [{ credential: 'check' }, { groups: { from: 0 } }, { group: 'unknown' }]) {
    const reply = await functions.reconcile.invoke({ task: 'ask', connection: 'default', question });
    expect(reply).toHaveProperty('answer');
  }
  // The reader deletes its item of a group that no longer exists.
  await functions.directory.invoke({});
  await running.changeDirectory({ kind: 'deleteGroup', group: 'read' });
  await functions.directory.invoke({});
  await sendScimLifecycle(running);
  await tourConsole(running);
});
afterAll(() => running.stop());

it.each(DEPLOYABLE_KEYS)('the function %s makes exactly the calls that its role allows', (name) => {
  expect(calls(name)).toEqual(name === 'console' ? grantedToConsole() : granted(name));
});

it('the console writes no attribute of a decision about held removals', () => {
  const { written } = running.recorders.console;
  expect(written.size).toBeGreaterThan(0);
  expect(DECISION_ATTRIBUTES.filter((name) => written.has(name))).toEqual([]);
});
