import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { DEFAULT_CONNECTION, STACK_OUTPUTS } from '../../shared/contract/names.ts';
import { type GroupRef, groupId } from '../../shared/domain/ids.ts';
import { GROUP_SCHEMA } from '../../shared/scim/protocol/schemas/group.ts';
import { NAMED_USER } from '../../shared/scim/protocol/schemas/user.ts';
import { createGroupStore } from '../../shared/store/group-store.ts';
import type { StageOfStack } from './cdk.ts';
import { type Clients, type Running, readOutputs } from './deployment.ts';
import type { ScimClient } from './scim-client.ts';
import type { Platform } from './simulator.ts';
import { type CheckInput, TIMEOUT_MS, tableOf } from './steps.ts';

const member = (name: string) => ({ id: `directory-${name}`, email: `${name}@acme.test` });

/** Returns a native event. `sequence` orders events with the same time. */
function event(type: string, data: unknown, { time, sequence }: { time: string; sequence: number }): string {
  return JSON.stringify({
    specversion: '1.0',
    id: `deploy-check-${sequence}-${time}`,
    source: 'deploy-check',
    type: `directory.${type}`,
    time,
    sequence: String(sequence),
    data,
  });
}

/** Returns the events of two groups and a message in an unknown format. The events of one group are out of order. */
export function firstEvents(time: string): readonly string[] {
  const engineering = { id: 'g-eng', name: 'Engineering' };
  const design = { id: 'g-des', name: 'Design' };
  return [
    event('group.member.removed', { group: engineering, members: [member('ben')] }, { time, sequence: 3 }),
    event(
      'group.member.added',
      { group: engineering, members: [member('ann'), member('ben')] },
      { time, sequence: 2 },
    ),
    event('group.upserted', { group: engineering }, { time, sequence: 1 }),
    event(
      'group.snapshot',
      { group: design, members: [member('cleo'), member('dan')] },
      { time, sequence: 4 },
    ),
    'not an event',
  ];
}

export const FIRST_GROUPS = { Design: ['user-cleo', 'user-dan'], Engineering: ['user-ann'] };

/** Returns the events that are sent after the update: one member is added and one group is renamed. */
export function laterEvents(time: string): readonly string[] {
  return [
    event('group.member.added', { group: { id: 'g-eng' }, members: [member('dan')] }, { time, sequence: 5 }),
    event('group.upserted', { group: { id: 'g-des', name: 'Product design' } }, { time, sequence: 6 }),
  ];
}

export const LATER_GROUPS = {
  Engineering: ['user-ann', 'user-dan'],
  'Product design': ['user-cleo', 'user-dan'],
};

const ALL = ['ann', 'ben', 'cleo', 'dan', 'eve', 'fay'];
const snapshotOf = (names: readonly string[], time: string, sequence: number) =>
  event(
    'group.snapshot',
    { group: { id: 'g-all', name: 'Everyone' }, members: names.map(member) },
    { time, sequence },
  );

/** A group with all people. A later snapshot removes more members than the guard allows. */
const wholeEvent = (time: string) => snapshotOf(ALL, time, 1);
const heldEvent = (time: string) => snapshotOf(ALL.slice(0, 1), time, 2);

export const EVERYONE: GroupRef = { connection: DEFAULT_CONNECTION, group: groupId('g-all') };

/** Sends the event with all people and the later snapshot. Returns after the guard holds the removals. */
export async function holdEveryone(
  running: Running,
  { clients, platform }: CheckInput,
  stage: StageOfStack,
): Promise<void> {
  await running.functions.people.invoke({});
  await send(clients, stage, [wholeEvent(new Date().toISOString())]);
  const expected = { Everyone: ALL.map((name) => `user-${name}`) };
  await untilGroups(running, platform, { expected, timeoutMs: TIMEOUT_MS });
  await send(clients, stage, [heldEvent(new Date().toISOString())]);
  const endsAt = Date.now() + TIMEOUT_MS;
  const groups = createGroupStore(tableOf({ clients, stage }));
  while ((await groups.read(EVERYONE))?.removals === undefined) {
    if (Date.now() > endsAt) throw new Error('expected the guard to hold the removals');
    await running.functions.reconcile.invoke({ task: 'pump' });
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Returns an event that is sent after a third deployment. */
export function lastEvents(time: string): readonly string[] {
  const group = { id: 'g-eng' };
  return [event('group.member.added', { group, members: [member('cleo')] }, { time, sequence: 7 })];
}

export const LAST_GROUPS = { ...LATER_GROUPS, Engineering: ['user-ann', 'user-cleo', 'user-dan'] };

export async function send(clients: Clients, stage: StageOfStack, bodies: readonly string[]): Promise<void> {
  const QueueUrl = readOutputs(stage)(STACK_OUTPUTS.events);
  for (const MessageBody of bodies) await clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
}

/** Sends the first requests of an identity provider. They create a user, and a group with this user. */
export async function sendScim(scim: ScimClient): Promise<void> {
  const user = {
    schemas: [NAMED_USER.id],
    userName: 'ben',
    emails: [{ value: 'ben@acme.test', primary: true }],
  };
  const { id: value } = await scim('POST', '/Users', 201, user);
  await scim('POST', '/Groups', 201, {
    schemas: [GROUP_SCHEMA.id],
    displayName: 'Sales',
    members: [{ value }],
  });
  await scim('GET', '/Groups?filter=displayName%20eq%20%22Sales%22', 200);
}

export const SCIM_GROUPS = { ...LATER_GROUPS, Sales: ['user-ben'] };

/** Runs the requeue job, as its schedule does, until the platform shows these groups. */
export async function untilGroups(
  { functions }: Running,
  platform: Platform,
  { expected, timeoutMs }: { expected: unknown; timeoutMs: number },
): Promise<void> {
  const endsAt = Date.now() + timeoutMs;
  for (;;) {
    const groups = await platform.groups();
    if (JSON.stringify(groups) === JSON.stringify(expected)) return;
    if (Date.now() > endsAt) {
      throw new Error(
        `expected the groups ${JSON.stringify(expected)}, the platform has ${JSON.stringify(groups)}`,
      );
    }
    await functions.reconcile.invoke({ task: 'pump' });
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
