import { expect, it } from 'vitest';
import { CALM_SETTINGS } from '../../../../directory-simulator/engine/settings.ts';
import { NOW_MS } from '../../../directory-simulator/okta/fixture.ts';
import { openOkta } from './reader.ts';
import { next, openScripted, self } from './scripted.ts';

const MINUTE_MS = 60_000;

/** Opens an organisation whose log was already polled, so that the next poll uses a link. */
async function openPolled(options: Parameters<typeof openOkta>[0] = {}) {
  const okta = await openOkta(options);
  const first = await okta.directory.changesSince(await okta.directory.cursorAt(NOW_MS));
  let { cursor } = first;
  const takeChanges = async () => {
    const changes = await okta.directory.changesSince(cursor);
    ({ cursor } = changes);
    return changes;
  };
  return { ...okta, takeChanges, cursor: () => cursor };
}

it('a run without changes makes three calls after the sign-in', async () => {
  const { takeChanges, requests, clock } = await openPolled();
  const before = (await requests()).length;
  clock.ms += 5 * MINUTE_MS;
  expect(await takeChanges()).toMatchObject({ groups: [], users: [], isReset: false });
  const after = (await requests()).slice(before).map(({ path }) => path);
  expect(after.sort()).toEqual(['/api/v1/groups', '/api/v1/logs', '/api/v1/users']);
});

it('a group with a new name or changed members is reported even if the log does not show the change', async () => {
  const { takeChanges, control, clock } = await openPolled({ settings: { lostLogEntries: 1 } });
  clock.ms += 5 * MINUTE_MS;
  await control('changes', [
    { kind: 'addMember', group: '00gnone', member: '00uann' },
    { kind: 'changeGroup', group: '00gapp', name: 'Builders' },
  ]);
  clock.ms += 5 * MINUTE_MS;
  const { groups } = await takeChanges();
  expect(groups.map(({ key, isDeletion }) => [key, isDeletion]).sort()).toEqual([
    ['00gapp', false],
    ['00gnone', false],
  ]);
});

it('a group with only changed members is marked as a change of memberships, and a group with a new name is not', async () => {
  const { takeChanges, control, clock } = await openPolled();
  clock.ms += 10 * MINUTE_MS;
  await control('changes', [
    { kind: 'addMember', group: '00gnone', member: '00uann' },
    { kind: 'addMember', group: '00gapp', member: '00uliz' },
    { kind: 'changeGroup', group: '00gapp', name: 'Builders' },
  ]);
  clock.ms += MINUTE_MS;
  const { groups } = await takeChanges();
  expect(groups.map(({ key, isMembership }) => [key, isMembership]).sort()).toEqual([
    ['00gapp', false],
    ['00gnone', true],
  ]);
});

it('only the log reports a deleted group or user', async () => {
  const { takeChanges, control, clock } = await openPolled();
  clock.ms += 5 * MINUTE_MS;
  await control('changes', [
    { kind: 'deleteGroup', group: '00gnone' },
    { kind: 'deleteUser', user: '00udep' },
  ]);
  const changedMs = clock.ms;
  clock.ms += MINUTE_MS;
  const { groups, users } = await takeChanges();
  const deletion = { atMs: changedMs, isDeletion: true, isFinal: true, isMembership: false };
  expect(groups).toMatchObject([{ key: '00gnone', ...deletion }]);
  expect(users).toMatchObject([{ key: '00udep', ...deletion }]);
});

it.each([
  ['with the new state', 'suspendUser', 0],
  ['from the log while the list of users is late', 'archiveUser', 3_600],
])('a changed user is reported %s', async (_, kind, lag) => {
  const { takeChanges, control, clock } = await openPolled();
  await control('settings', { lagSeconds: { users: lag } });
  clock.ms += 5 * MINUTE_MS;
  await control('changes', [{ kind, user: '00uliz' }]);
  clock.ms += MINUTE_MS;
  const { users } = await takeChanges();
  const found = { user: { isActive: false }, asOfMs: clock.ms };
  expect(users).toMatchObject([{ key: '00uliz', ...(lag === 0 && { found }) }]);
});

it('each event of the log is read once, even if it is stored late', async () => {
  const { takeChanges, control, clock } = await openPolled({
    settings: { lagSeconds: { ...CALM_SETTINGS.lagSeconds, log: 7_200 } },
  });
  const deleted: string[] = [];
  for (let index = 0; index < 20; index += 1) {
    const id = `00gtemp${index}`;
    await control('changes', [{ kind: 'addGroup', group: { id, email: `${id}@x.example`, name: id } }]);
    await control('changes', [{ kind: 'deleteGroup', group: id }]);
  }
  for (let run = 0; run < 30; run += 1) {
    clock.ms += 5 * MINUTE_MS;
    const { groups } = await takeChanges();
    deleted.push(...groups.filter(({ isDeletion }) => isDeletion).map(({ key }) => key));
  }
  expect(new Set(deleted).size).toBe(20);
  expect(deleted).toHaveLength(20);
});

it('a refused cursor is reported, and the log is read again from the time of the last poll', async () => {
  const { takeChanges, control, clock } = await openPolled();
  clock.ms += 5 * MINUTE_MS;
  await control('changes', [{ kind: 'deleteGroup', group: '00gnone' }]);
  clock.ms += MINUTE_MS;
  await control('page-tokens/expire');
  const { groups, isReset } = await takeChanges();
  expect(isReset).toBe(true);
  expect(groups).toMatchObject([{ key: '00gnone', isDeletion: true }]);
  clock.ms += 5 * MINUTE_MS;
  expect(await takeChanges()).toMatchObject({ isReset: false });
});

it('a cursor of another vendor gives a reset', async () => {
  const { directory } = await openOkta();
  const { isReset, cursor } = await directory.changesSince('1763632800000');
  expect(isReset).toBe(true);
  expect(await directory.changesSince(cursor)).toMatchObject({ isReset: false });
});

it.each([
  ['SUCCESS', true],
  ['FAILURE', false],
])('a deletion with the result %s proves that the object is gone: %s', async (result, isDeletion) => {
  const event = {
    published: new Date(NOW_MS).toISOString(),
    eventType: 'group.lifecycle.delete',
    outcome: { result, reason: null },
    target: [{ id: '00gnone', type: 'UserGroup', alternateId: 'unknown' }],
  };
  const { directory, paths } = openScripted([
    { body: [event], headers: { link: [self, next('/api/v1/logs?after=1')] } },
    { body: [], headers: { link: [self, next('/api/v1/logs?after=2')] } },
    { headers: { link: self } },
    { headers: { link: self } },
  ]);
  const { groups, cursor } = await directory.changesSince(await directory.cursorAt(NOW_MS));
  expect(groups).toMatchObject([{ key: '00gnone', isDeletion }]);
  expect(paths[1]).toBe('/api/v1/logs?after=1');
  expect(cursor).toContain('/api/v1/logs?after=2');
});

it('a log that repeats a cursor gives an error', async () => {
  const event = { published: new Date(NOW_MS).toISOString(), eventType: 'group.lifecycle.create' };
  const answer = { body: [event], headers: { link: [self, next('/api/v1/logs?after=1')] } };
  const { directory, paths } = openScripted([answer, answer, answer]);
  const read = directory.changesSince(await directory.cursorAt(NOW_MS));
  await expect(read).rejects.toMatchObject({ kind: 'invalid' });
  expect(paths).toHaveLength(2);
});
