import { expect, it } from 'vitest';
import { takeOverGroups } from '../../shared/directory/operate/takeover.ts';
import { blockPerson } from '../../shared/operate/block.ts';
import { explainMember } from '../../shared/operate/explain.ts';
import { approveHold, listHolds, rejectHold } from '../../shared/operate/holds.ts';
import { adoptGroup, releaseGroup } from '../../shared/operate/ownership.ts';
import {
  pauseConnection,
  pauseGroup,
  readPause,
  resumeConnection,
  resumeGroup,
} from '../../shared/operate/pausing.ts';
import { acceptRestored } from '../../shared/operate/restated.ts';
import { changeSettings, planSettings } from '../../shared/operate/settings.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { planGroup } from '../../shared/sync/apply/plan-group.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { continueMove } from '../../shared/sync/moves.ts';
import { refreshPeople } from '../../shared/sync/people.ts';
import { requeueDue } from '../../shared/sync/requeue.ts';
import { platformGroupsOf } from '../directory/reading/fixture.ts';
import { calledBy } from '../support/engine/test-engine.ts';
import { CONNECTION, DAY_MS, MINUTE_MS, takeEvents } from '../support/engine/world.ts';
import { nativeEvent } from '../support/events.ts';
import {
  directory,
  dyingAfter,
  openWith,
  PEOPLE,
  plan,
  resume,
  scimOf,
  takeOver,
} from '../support/operate/takeovers.ts';
import { remove, replace } from '../support/scim-operations.ts';

const HOLDS_ALL = { minSize: 1, maxRemovedCount: 0, maxRemovedShare: 1 };

/** A group of the events, and the actions of persons. */
async function open(
  settings: Readonly<Record<string, unknown>>,
  groups: Readonly<Record<string, readonly string[]>> = {},
) {
  const reader = await openWith(groups, settings);
  const { world } = reader;
  const as = (by: string) => ({ ...world.toolPorts, vault: {} as never, ...calledBy(by) }) as never;
  await reader.deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a', 'b', 'c'] });
  return {
    ...reader,
    as,
    scim: await scimOf(reader),
    set: async (by: string, key: string, value: unknown) =>
      changeSettings(await planSettings(CONNECTION, [{ key, value }], as(by)), as(by)),
    users: () => platformGroupsOf(reader)[0]?.users,
    kinds: async () =>
      (await listHolds(CONNECTION, world.toolPorts)).map(({ group, hold }) => [group, hold.decision.kind]),
  };
}

/** Reads the employees again. The employment of these people has ended. */
async function refresh({ world }: Awaited<ReturnType<typeof openWith>>, ended: readonly string[]) {
  world.platform.employees = PEOPLE.map((role) => ({
    ...{ role, email: `${role}@acme.test`, userId: `u-${role}` },
    state: ended.includes(role) ? 'TERMINATED' : 'ACTIVE',
  }));
  await refreshPeople(await world.connection(), world.toolPorts);
}

it.each([false, true])(
  'the author of a change of mode before a pause of 20 days may not approve its removals; moved meanwhile: %s',
  async (isMoved) => {
    const company = await open({ fourEyes: true, mode: 'additive', guard: {} });
    const { world, as, set, pass, kinds, ref } = company;
    world.platform.changeAsOther(platformGroupsOf(company)[0]?.id ?? '', {
      users: ['u-a', 'u-b', 'u-c', 'u-d'],
    });
    await pauseConnection(CONNECTION, undefined, as('zed'));
    await set('ann', 'mode', 'authoritative');
    await pass(10 * MINUTE_MS);
    world.advance(20 * DAY_MS);
    let owner = 'okta-1';
    if (isMoved) {
      owner = await company.scim.group('Group rowing', ['a', 'b', 'c']);
      await takeOverGroups(await world.connection(), await plan(company, 'scim'), as('carl'));
      await requeueDue(CONNECTION, world.toolPorts);
    }
    await resumeConnection(CONNECTION, as('carl'));
    await pass(60 * MINUTE_MS);
    expect(await kinds()).toEqual([[owner, 'waiting']]);
    await expect(approveHold(ref(owner), { reason: 'ok' }, as('ann'))).rejects.toThrow('other than');
  },
);

it('an excluded person whose removal was rejected stays after a repeated snapshot', async () => {
  const { world, set, pass, kinds, ref, deliver, users } = await open({ guard: HOLDS_ALL });
  await set('ann', 'people.exclude', ['email=b@acme.test']);
  await pass(20 * MINUTE_MS);
  expect(await kinds()).toEqual([['okta-1', 'waiting']]);
  await rejectHold(ref('okta-1'), { reason: 'stays' }, world.toolPorts);
  await set('ann', 'guard', { minSize: 10, maxRemovedCount: 50, maxRemovedShare: 0.5 });
  await deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a', 'b', 'c'] });
  await pass(60 * MINUTE_MS);
  expect(users()).toEqual(['u-a', 'u-b', 'u-c']);
});

it.each([
  ['blocked', 'authoritative', 0, 'u-a,u-c unnamed'],
  ['ended', 'authoritative', 1, 'u-a,u-c unnamed'],
  ['ended', 'additive', 1, 'u-a,u-c unnamed'],
  ['ended', 'authoritative', 0, 'u-a,u-b,u-c held'],
])(
  'a person who is %s leaves a moved group (%s) before its new source names it, if the guard allows %i removals: %s',
  async (how, mode, maxRemovedCount, after) => {
    const guard = { ...HOLDS_ALL, maxRemovedCount };
    const company = await open({ directory, guard, mode }, { rowing: ['a', 'b', 'c'] });
    const { world, users, ref, pass, state } = company;
    const { toolPorts: ports } = world;
    await takeOver(company, 'directory');
    await resume(company);
    const isBlock = how === 'blocked';
    if (isBlock) await blockPerson(CONNECTION, { text: 'u-b', reason: 'stolen laptop' }, ports);
    await refresh(company, isBlock ? [] : ['b']);
    const { decision } = await explainMember(ref('rowing'), 'b', {
      connection: await world.connection(),
      ports,
    });
    expect(decision.detail).toContain(isBlock ? 'stolen laptop' : 'employment has ended');
    expect((await planGroup(ref('rowing'), ports)).changes).toMatchObject([{ before: 'u-b' }]);
    await pass(20 * MINUTE_MS);
    expect(`${users()} ${(await state('rowing'))?.settled}`).toBe(after);
    await company.passMinutes(30);
    expect(users()?.join()).toBe(after.split(' ')[0]);
  },
);

it.each([
  ['scim', 'removes the user', 'u-a,u-c'],
  ['scim', 'lists only the others', 'u-a,u-c'],
  ['scim', 'again lists only the others', 'u-a,u-b,u-c'],
  ['events', 'removes the user', 'u-a,u-c'],
  ['events', 'lists only the others', 'u-a,u-c'],
  ['events', 'again lists only the others', 'u-a,u-b,u-c'],
  ['events', 'deletes the group', undefined],
] as const)(
  'a rejected removal covers no other membership after a takeover to %s: while the connection observes, it %s',
  async (to, how, after) => {
    const guard = { ...HOLDS_ALL, deletedGroups: 0, deletedGroupsShare: 0 };
    const company = await open({ guard });
    const { world, scim, set, pass, ref, users, emit } = company;
    const id = await scim.group('Group rowing', ['a', 'b', 'c']);
    const values = ['a', 'b', 'c'].map(async (one) => ({ value: await scim.user(one) }));
    const [a, b, c] = await Promise.all(values);
    const ofScim = {
      id,
      list: () => scim.patch(`/Groups/${id}`, [replace('members', [a, c])]),
      end: () => scim.delete(`/Groups/${id}`),
      take: () => scim.patch(`/Groups/${id}`, [remove(`members[value eq "${b?.value}"]`)]),
    };
    const ofEvents = {
      id: 'okta-1',
      list: async () => emit({ snapshot: 'okta-1', of: ['a', 'c'] }),
      end: async () => emit({ remove: 'okta-1' }),
      take: async () => emit({ take: ['b'], from: 'okta-1' }),
    };
    const [old, next] = to === 'scim' ? [ofEvents, ofScim] : [ofScim, ofEvents];
    if (to === 'events') await takeOver(company, 'scim');
    await resume(company);
    if (how.startsWith('again')) await next.list();
    const ends = how.startsWith('deletes');
    await (ends ? old.end() : old.take());
    await pass(20 * MINUTE_MS);
    await rejectHold(ref(old.id), { reason: 'stays' }, world.toolPorts);
    const { busy } = await takeOver(company, to);
    // A command may not store decisions about removals, so the requeue job moves the group.
    if (how === 'removes the user') expect(busy).toEqual([old.id]);
    await requeueDue(CONNECTION, world.toolPorts);
    await set('ann', 'guard', null);
    if (ends) await next.end();
    else await (how.startsWith('removes') ? next.take() : next.list());
    await resume(company);
    expect(users()?.join()).toBe(after);
  },
);

it('an event that arrives after a takeover with an earlier time leaves a removal that can be decided', async () => {
  const company = await open({ guard: HOLDS_ALL });
  const { world, scim, pass, ref, users, kinds } = company;
  await scim.group('Group rowing', ['a', 'b', 'c']);
  await takeOver(company, 'scim');
  await resume(company);
  const data = { group: { id: 'okta-1' }, members: [{ id: 'a' }, { id: 'c' }] };
  const time = new Date(world.nowMs()).toISOString();
  const late = nativeEvent('group.snapshot', data, { time });
  world.advance(5 * MINUTE_MS);
  await takeOver(company, 'events');
  await requeueDue(CONNECTION, world.toolPorts);
  await resume(company);
  world.eventsQueue.send({ body: late, attributes: {} });
  await pass(20 * MINUTE_MS);
  expect([users(), await kinds()]).toEqual([['u-a', 'u-b', 'u-c'], [['okta-1', 'waiting']]]);
  await approveHold(ref('okta-1'), { reason: 'ok' }, world.toolPorts);
  await pass(20 * MINUTE_MS);
  expect(users()).toEqual(['u-a', 'u-c']);
});

it('an additive group keeps a user of another client that the new source had before the takeover', async () => {
  const company = await open({ mode: 'additive' });
  const { world, scim, pass, users } = company;
  const id = await scim.group('Group rowing', ['a', 'b', 'c', 'd']);
  await scim.group('Group other', ['d']);
  await pass(5 * MINUTE_MS);
  await scim.patch(`/Groups/${id}`, [remove(`members[value eq "${await scim.user('d')}"]`)]);
  await pass(5 * MINUTE_MS);
  world.platform.changeAsOther(platformGroupsOf(company)[0]?.id ?? '', {
    users: ['u-a', 'u-b', 'u-c', 'u-d'],
  });
  await takeOver(company, 'scim');
  await resume(company);
  await scim.patch(`/Groups/${id}`, [remove(`members[value eq "${await scim.user('c')}"]`)]);
  await pass(20 * MINUTE_MS);
  expect(users()).toEqual(['u-a', 'u-b', 'u-d']);
});

it('a worker that is late with a move to the directory keeps the name that the reader has sent', async () => {
  const company = await openWith({ rowing: ['a', 'b'] }, { directory, guard: null });
  const { world, deliver, passMinutes, state } = company;
  await deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a', 'b', 'c'] });
  await takeOver(company, 'directory');
  await resume(company);
  await passMinutes(60);
  expect(platformGroupsOf(company)).toMatchObject([{ name: 'Group rowing', users: ['u-a', 'u-b'] }]);
  const { movedAt: openSinceMs, movedFloor: floor } = (await state('rowing')) ?? {};
  const move = { from: 'okta-1', to: 'rowing', source: 'directory', openSinceMs, floor } as never;
  expect(await continueMove(await world.connection(), move, world.toolPorts)).toBe(true);
  expect((await state('rowing'))?.registers.name?.value).toBe('Group rowing');
});

it('a platform group is not created twice if a worker dies during its creation before a takeover', async () => {
  let hasDied = true;
  for (let writes = 0; hasDied; writes += 1) {
    const company = await openWith({}, { guard: null });
    const { world, emit, ref } = company;
    const owner = await (await scimOf(company)).group('Group rowing', ['a', 'b']);
    await ingest(takeEvents(world), world.toolPorts);
    emit({ snapshot: 'okta-1', name: 'Group rowing', of: ['a', 'b'] });
    await ingest(takeEvents(world), world.toolPorts);
    const applied = applyGroup(ref('okta-1'), dyingAfter(company, writes));
    hasDied = await applied.then(() => false).catch(() => true);
    await takeOver(company, 'scim');
    await requeueDue(CONNECTION, world.toolPorts);
    await resume(company);
    await company.pass(60 * MINUTE_MS);
    expect(platformGroupsOf(company), String(writes)).toMatchObject([{ users: ['u-a', 'u-b'] }]);
    expect((await company.state(owner))?.link).toBeDefined();
  }
});

it('a person whose employment ends leaves a group whose platform group has moved twice', async () => {
  const company = await openWith({ rowing: ['a', 'c'] }, { directory, guard: null });
  const { world, deliver, pass } = company;
  await deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a', 'b', 'c'] });
  await (await scimOf(company)).group('Group rowing', ['a', 'c']);
  for (const source of ['scim', 'directory'] as const) {
    await takeOver(company, source);
    await requeueDue(CONNECTION, world.toolPorts);
  }
  await expect(pauseGroup(company.ref('okta-1'), world.toolPorts)).rejects.toThrow('groupsync pause rowing');
  await resume(company);
  await refresh(company, ['b']);
  await pass(20 * MINUTE_MS);
  expect(platformGroupsOf(company)[0]?.users).toEqual(['u-a', 'u-c']);
});

it('a group that moved to another source and back shows the operator of its pause, not of an earlier one', async () => {
  const company = await open({ guard: null });
  const { world, as, ref } = company;
  const owner = await company.scim.group('Group rowing', ['a', 'b', 'c']);
  await pauseGroup(ref('okta-1'), as('ann'));
  world.advance(MINUTE_MS);
  await resumeGroup(ref('okta-1'), as('ann'));
  await takeOver(company, 'scim');
  await resume(company);
  await pauseGroup(ref(owner), as('bob'));
  await takeOver(company, 'events');
  const pause = await readPause(ref('okta-1'), world.toolPorts);
  expect(pause).toMatchObject({ entry: { actor: { id: 'bob' } } });
});

it('pause, resume, release, restated and adopt of a former group are refused, and name the group that owns the platform group', async () => {
  const company = await open({ guard: null });
  const { world, as, ref, pass, state, users } = company;
  const owner = await company.scim.group('Group rowing', ['a', 'b', 'c']);
  await takeOver(company, 'scim');
  await resume(company);
  const former = ref('okta-1');
  const connection = { ...(await world.connection()), restoredAtMs: world.nowMs() };
  for (const [verb, act] of [
    ['pause', () => pauseGroup(former, as('ann'))],
    ['resume', () => resumeGroup(former, as('ann'))],
    ['release', () => releaseGroup(former, as('ann'))],
    ['restated', () => acceptRestored(former, connection, as('ann'))],
  ] as const)
    await expect(act()).rejects.toThrow(`for that group: groupsync ${verb} ${owner}`);
  expect(await state('okta-1')).toMatchObject({ released: true, movedTo: owner });
  const other = world.platform.copyAsOther(platformGroupsOf(company)[0]?.id ?? '');
  expect(await adoptGroup(former, other as never, world.toolPorts)).toEqual({
    kind: 'owned',
    owner: ref(owner),
  });
  expect(await pauseGroup(ref(owner), as('ann'))).toBe(true);
  const gone = await company.scim.user('c');
  await company.scim.patch(`/Groups/${owner}`, [remove(`members[value eq "${gone}"]`)]);
  await pass(60 * MINUTE_MS);
  expect(users()).toEqual(['u-a', 'u-b', 'u-c']);
});
