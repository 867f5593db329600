import { expect } from 'vitest';
import { ACTIONS } from '../../console/server/actions.ts';
import { QUERIES } from '../../console/server/queries.ts';
import type { Browser } from '../../scripts/deploy-check/console-browser.ts';
import type { Check } from '../../shared/contract/answers/connect.ts';
import { nativeEvent } from '../support/events.ts';
import type { CallingFunctions } from './calling-functions.ts';

const PEOPLE = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6'];
const GROUPS = ['tour-a', 'tour-b', 'tour-c'];

const employee = (name: string) => ({
  id: `role-${name}`,
  userId: `user-${name}`,
  name,
  employeeNumber: name,
  roleState: 'ACTIVE',
  workEmail: `${name}@acme.test`,
});
const snapshot = (group: string, names: readonly string[]) =>
  nativeEvent('group.snapshot', {
    group: { id: group, name: group },
    members: names.map((name) => ({ id: `m-${name}`, email: `${name}@acme.test` })),
  });

export const record = (body: string) => ({
  messageId: crypto.randomUUID(),
  receiptHandle: 'receipt',
  body,
  attributes: { SentTimestamp: String(Date.now()), ApproximateReceiveCount: '1' },
  messageAttributes: {},
  eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:groupsync-events',
});

/** Creates groups of six people, and then events that remove most of them. The guard holds the removals. */
async function holdRemovals({ functions, control }: CallingFunctions): Promise<void> {
  const apply = GROUPS.map((group) => record(JSON.stringify({ connection: 'default', group })));
  for (const name of PEOPLE) await control('POST', 'employees', employee(name));
  await functions.people.invoke({});
  for (const names of [PEOPLE, PEOPLE.slice(0, 1)]) {
    await functions.ingest.invoke({ Records: GROUPS.map((group) => record(snapshot(group, names))) });
    await functions.apply.invoke({ Records: apply });
  }
}

/** Sends every query and every action of the page. */
export async function tourConsole(running: CallingFunctions): Promise<void> {
  const [browser, second] = [running.openBrowser(), running.openBrowser()];
  await browser.signIn('/c/default', 'administrator');
  await second.signIn('/c/default', 'second');
  const used = new Set<string>();
  const ask = async (name: string, given: Record<string, string> | { do: object }, by: Browser = browser) => {
    used.add(name);
    const isAction = 'do' in given;
    const query = new URLSearchParams({ connection: 'default', ...(isAction ? {} : given) });
    const { status, text } = await by.ask(
      `/api/${name}?${query}`,
      isAction ? (given.do as object) : undefined,
    );
    expect([name, status, status === 200 ? '' : text]).toEqual([name, 200, '']);
    return name === 'live' || name === 'replay' ? text : JSON.parse(text);
  };
  await holdRemovals(running);
  await ask('home', {});
  await ask('live', {});
  await ask('groups', { sort: 'members' });
  for (const name of ['plan', 'timeline', 'past']) await ask(name, { group: 'tour-a' });
  const { holds } = await ask('holds', {});
  const digestOf = (group: string) =>
    holds.find((one: { group: string }) => one.group === group)?.digest as string;
  await ask('hold', { group: 'tour-a' });
  const decision = (group: string) => ({ group, digest: digestOf(group), reason: 'tour' });
  await ask('approve', { do: { ...decision('tour-a'), users: ['user-p2'] } });
  await ask('approve', { do: decision('tour-c') });
  await ask('reject', { do: decision('tour-b') });

  const { platformId } = (await ask('group', { group: 'tour-b' })).status;
  await ask('release', { do: { group: 'tour-b' } });
  await ask('platformGroups', {});
  // No group of the tour waits because of its name, so this action reads the group and changes nothing.
  used.add('create-namesake');
  const namesake = await browser.ask('/api/create-namesake?connection=default', { group: 'tour-a' });
  expect(namesake.status).toBe(409);
  const pairs = [{ group: 'tour-b', platformId }];
  await ask('preview-adoptions', { do: { pairs } });
  await ask('adopt', { do: { pairs } });
  await ask('sync', { do: { groups: ['tour-b'] } });
  await ask('pause', { do: { groups: ['tour-b'], reason: 'tour' } });
  await ask('resume', { do: { groups: ['tour-b'] } });
  await ask('pause-all', { do: { reason: 'tour' } });
  await ask('resume-all', { do: {} });
  await ask('acknowledge', { do: { item: 'hold:tour-a', version: 'x', days: 1 } });

  await ask('people', { text: 'p1' });
  await ask('person', { member: 'm-p1' });
  await ask('explain', { group: 'tour-a', member: 'm-p1' });
  await ask('rebind', { do: { member: 'm-p1', role: 'role-p2' } });
  await ask('block', { do: { person: 'm-p1', reason: 'tour' } });
  await ask('unblock', { do: { person: 'm-p1', reason: 'tour' } });
  await ask('forget', { do: { member: 'm-p3' } });
  await ask('activity', { text: 'tour' });

  expect((await ask('connection', {})).scimUrl).toContain('/scim/v2');
  const { checks } = await ask('doctor', {});
  expect(checks.filter(({ detail }: Check) => /cannot be|AccessDenied/.test(detail))).toEqual([]);
  const { token } = await ask('make-token', { do: { days: 1 } });
  await ask('revoke-token', { do: { prefix: token.slice(0, 12) } });
  const fourEyes = { changes: [{ key: 'fourEyes', value: true }] };
  await ask('preview-settings', { do: fourEyes });
  await ask('settings', { do: fourEyes });
  await ask('settings', {
    do: { changes: [{ key: 'match', value: ['email=workEmail', 'id=employeeNumber'] }] },
  });
  await ask('settings', { do: { changes: [{ key: 'guard', value: null }] } });
  const { requests } = await ask('connection', {});
  await ask('decide-requests', { do: { isConfirmed: true, shown: requests } }, second);

  await running.deadLetter(snapshot('tour-e', ['p1']), 'groupsync-events-okta');
  const { messages } = await ask('deadLetters', {});
  const { id, code } = messages[0];
  await ask('deadLetter', { id });
  const body = snapshot('tour-d', ['p1']);
  await ask('validate', { do: { id, body } });
  await ask('amend', { do: { id, body, reason: 'tour' } });
  await ask('discard', { do: { code, reason: 'tour' } });
  const replayed = await ask('replay', { do: {} });
  expect(JSON.parse(replayed.trim().split('\n').at(-1))).toMatchObject({ failed: 0, remaining: 0 });
  // The latest session belongs to the second person.
  for (const name of ['deliveries', 'deliverySurvey', 'unmatched']) await ask(name, {});
  const { sessions } = await ask('sessions', {});
  expect(await ask('end-sessions', { do: { whose: sessions[0].id } })).toEqual({ ended: 1 });
  expect([...used].sort()).toEqual([...Object.keys(QUERIES), ...Object.keys(ACTIONS)].sort());
  expect((await browser.ask('/auth/sign-out', {})).status).toBe(204);
}
