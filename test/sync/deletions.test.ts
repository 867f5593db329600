import { expect, it } from 'vitest';
import { explainMember } from '../../shared/operate/explain.ts';
import { reportGroup } from '../../shared/operate/report.ts';
import { sweep } from '../../shared/sync/reconcile/sweep.ts';
import { reportedGroups } from '../local/support/expected.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { failFirst, HOUR_MS, MINUTE_MS } from '../support/engine/world.ts';

async function company(options: Parameters<typeof createTestEngine>[0] = {}) {
  const engine = await createTestEngine(options);
  const { world } = engine;
  await engine.hire('a', 'b');
  await engine.deliver({ snapshot: 'g', of: ['a', 'b'] }, { snapshot: 'h', of: ['a'] });
  world.advance(HOUR_MS);
  const deletes = () => world.platform.calls.filter(({ method }) => method === 'DELETE').length;
  return {
    ...engine,
    deletes,
    async sweeps(hours: number) {
      for (let hour = 0; hour < hours; hour += 1) {
        world.advance(HOUR_MS);
        await sweep(await world.connection(), world.toolPorts);
        await engine.pass(1);
      }
    },
  };
}

it.each([
  [404, 'the platform hides a missing permission'],
  [200, 'the platform fails to delete the group later'],
])('a deletion without effect is tried three times, and again later (answer %i: %s)', async (status) => {
  const { world, deliver, shown, state, sweeps } = await company();
  let deletes = 0;
  world.platform.failing = (kind) => {
    if (kind !== 'delete') return undefined;
    deletes += 1;
    return status;
  };
  await deliver({ remove: 'g' });
  expect(shown('g')).toEqual([['u-a', 'u-b']]);
  expect(deletes).toBe(3);
  expect(await state('g')).toMatchObject({ lastError: { code: 'platform_rejected' } });
  expect(world.deadLetters).toMatchObject([{ code: 'platform_rejected', group: { group: 'g' } }]);
  await sweeps(22);
  expect(deletes).toBe(3);
  world.platform.failing = () => undefined;
  await sweeps(4);
  expect(shown('g')).toEqual([]);
  expect(await state('g')).toMatchObject({ settled: 'deleted' });
});

it('a deletion that is answered 503 at its daily attempt is repeated without a second report', async () => {
  const { world, deliver, shown, state, sweeps } = await company();
  let answer: number | undefined = 404;
  world.platform.failing = (kind) => (kind === 'delete' ? answer : undefined);
  await deliver({ remove: 'g' });
  expect(world.deadLetters).toHaveLength(1);
  answer = 503;
  await sweeps(24);
  expect((await state('g'))?.failedAtMs).toBeUndefined();
  answer = undefined;
  await deliver();
  expect(shown('g')).toEqual([]);
  expect(await state('g')).toMatchObject({ settled: 'deleted' });
  expect(world.deadLetters).toHaveLength(1);
});

it.each([
  ['and the list is empty', true],
  ['and the list shows the group', false],
])('a lost deletion is sent again after ten minutes without a read (404 %s)', async (_, hidesFromList) => {
  const { world, troubles, emit, pass, shown, state, deliver } = await company();
  let isWrong = false;
  world.platform.hidesFromList = hidesFromList;
  world.platform.hidden = () => isWrong;
  troubles.platform = (call) => {
    if (call !== 'delete' || isWrong) return 'none';
    isWrong = true;
    return 'unavailable_before';
  };
  emit({ remove: 'g' });
  await pass(10 * MINUTE_MS, 50);
  expect(await state('g')).toMatchObject({ lastError: { code: 'missing' } });
  isWrong = false;
  troubles.platform = () => 'none';
  world.advance(HOUR_MS);
  await deliver();
  expect(shown('g')).toEqual([]);
  expect(await state('g')).toMatchObject({ settled: 'deleted' });
});

it('a deletion without an answer is complete after two 404s and a list that shows other managed groups', async () => {
  const { world, troubles, deliver, shown, state, deletes } = await company();
  troubles.platform = (call) => (call === 'delete' ? 'lost_after' : 'none');
  const atMs = world.nowMs();
  await deliver({ remove: 'g' });
  expect(shown('g')).toEqual([]);
  expect(deletes()).toBe(1);
  expect(world.nowMs() - atMs).toBeGreaterThanOrEqual(MINUTE_MS);
  expect(await state('g')).toMatchObject({ settled: 'deleted' });
});

it('the report shows a deleted group that is read once more as dirty, without a platform group, and as deleted later', async () => {
  const { world, troubles, emit, pass, work, shown, state } = await company();
  const isLost = failFirst(troubles, 'patch', 'unavailable_before');
  const report = async () => {
    const found = await state('g');
    if (found === undefined) throw new Error('expected the item of the group');
    return reportGroup(found, world.toolPorts);
  };
  emit({ take: ['b'], from: 'g' });
  await pass(1);
  emit({ remove: 'g' });
  await work(4);
  expect(isLost()).toBe(true);
  expect(shown('g')).toEqual([]);
  expect(await report()).toMatchObject({
    state: 'dirty',
    platformId: null,
    users: [],
    waiting: {
      code: 'as_wanted',
      reason: 'the platform group is deleted as wanted, but an earlier write may still take effect',
    },
  });
  expect(reportedGroups([await report()])).toEqual([]);
  await pass(20 * MINUTE_MS);
  expect(await report()).toMatchObject({ state: 'deleted', waiting: null });
});

it('after a DELETE, apply sends one more request, which confirms the deletion', async () => {
  const { world, deliver, state } = await company();
  const from = world.platform.calls.length;
  await deliver({ remove: 'g' });
  expect(world.platform.calls.slice(from).map(({ method, route }) => `${method} ${route}`)).toEqual([
    'GET /me',
    'GET /groups/{id}',
    'DELETE /groups/{id}',
    'GET /groups/{id}',
  ]);
  expect(await state('g')).toMatchObject({ settled: 'deleted', previousLink: { isGone: true } });
});

it.each([true, false])(
  'a deleted group is linked and deleted again if a sweep finds it in the list (spokeIds shown: %s)',
  async (echoSpokeId) => {
    const { world, deliver, state, shown, sweeps } = await company({ platform: { echoSpokeId } });
    const platformId = (await state('g'))?.link?.id ?? '';
    let isHidden = false;
    world.platform.hidden = (id) => isHidden && id === platformId;
    // The platform answers the deletion with success, ignores it, and does not show the group for a while.
    world.platform.failing = (kind) => {
      if (kind !== 'delete' || isHidden) return undefined;
      isHidden = true;
      return 200;
    };
    await deliver({ remove: 'g' });
    expect(await state('g')).toMatchObject({ settled: 'deleted' });
    isHidden = false;
    world.platform.failing = () => undefined;
    await sweeps(3);
    expect(shown('g')).toEqual([]);
    expect(await state('g')).toMatchObject({ settled: 'deleted' });
  },
);

it('apply sends no call about a deleted group when the directory adds a member to the group', async () => {
  const { world, deliver } = await company();
  await deliver({ remove: 'g' });
  const from = world.platform.calls.length;
  await deliver({ add: ['a'], to: 'g' });
  const asked = world.platform.calls.slice(from).filter(({ route }) => route !== '/me');
  expect(asked).toEqual([]);
});

it.each([
  ['the wanted external id', { name: 'Theirs', spokeId: 'n' }],
  ['the wanted external id in another form', { name: 'Theirs', spokeId: 'N' }],
])('an adoption candidate is adopted despite one 404 if it has %s', async (_, fields) => {
  const { world, troubles, deliver, shown, state } = await company();
  const id = world.platform.addForeign({ ...fields, users: [] });
  world.platform.adopted.add(id);
  world.platform.hidesFromList = false;
  let answered = 0;
  troubles.platform = (call) => {
    if (call === 'get') answered += 1;
    return 'none';
  };
  world.platform.hidden = (one) => one === id && answered < 2;
  const before = world.platform.groups.size;
  await deliver({ snapshot: 'n', of: ['a'] });
  world.advance(HOUR_MS);
  await deliver();
  expect(world.platform.groups.size).toBe(before);
  expect(await state('n')).toMatchObject({ link: { id }, settled: 'in_sync' });
  expect(shown('n')).toEqual([['u-a']]);
});

it('an adoption candidate that answers 404 for hours prevents a second group, and explain names the candidate', async () => {
  const { world, emit, pass, state, ref } = await company();
  const id = world.platform.addForeign({ name: 'Theirs', spokeId: 'n', users: [] });
  world.platform.hidesFromList = false;
  world.platform.hidden = (one) => one === id;
  emit({ snapshot: 'n', of: ['a'] });
  await pass(5 * HOUR_MS, 50);
  expect(world.platform.groups.size).toBe(3);
  const { lastError } = (await state('n')) ?? {};
  expect(lastError).toMatchObject({ code: 'missing' });
  expect(lastError?.message).toContain(id);
  const asked = { connection: await world.connection(), ports: world.toolPorts };
  const explained = await explainMember(ref('n'), 'a', asked);
  expect(explained.decision.detail).toContain(id);
  expect(explained.waiting).toMatchObject({ code: 'missing' });
  expect(explained.waiting?.reason).toContain('still lists it');
});

it('apply creates a new group if the adoption candidate leaves the list within a minute', async () => {
  const { world, deliver, shown, state } = await company();
  const id = world.platform.addForeign({ name: 'Theirs', spokeId: 'n', users: [] });
  world.platform.hidesFromList = false;
  world.platform.hidden = (one) => one === id;
  const unlisted = world.nowMs() + MINUTE_MS / 2;
  world.platform.listing = () => {
    if (world.nowMs() > unlisted) world.platform.notInList.add(id);
    return undefined;
  };
  await deliver({ snapshot: 'n', of: ['a'] });
  expect(shown('n')).toEqual([[], ['u-a']]);
  expect(await state('n')).toMatchObject({ settled: 'in_sync' });
});
