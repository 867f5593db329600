import { expect, it } from 'vitest';
import { changeSettings, planSettings } from '../../shared/operate/settings.ts';
import { allOf, createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION, CREATE_SETTLE_MS, failFirst, HOUR_MS, MINUTE_MS } from '../support/engine/world.ts';

/** Creates three groups in sync, and loses the answer to the creation of `g`, which may have taken effect. */
async function lostCreation({ isMade, limit = 3 }: { readonly isMade: boolean; readonly limit?: number }) {
  const engine = await createTestEngine();
  const { world, troubles, deliver, emit, hire, pass } = engine;
  await hire('a', 'b');
  await deliver(...['x', 'y', 'z'].map((snapshot) => ({ snapshot, of: ['a'] })));
  world.advance(CREATE_SETTLE_MS);
  const isLost = failFirst(troubles, 'create', isMade ? 'lost_after' : 'lost_before');
  world.platform.listLimit = limit;
  emit({ snapshot: 'g', of: ['a', 'b'] });
  await pass(2 * HOUR_MS, 10);
  expect(isLost()).toBe(true);
  return engine;
}

interface LostWithMore {
  readonly mode: string;
  readonly echoSpokeId: boolean;
  readonly isMade?: boolean;
}
type World = Awaited<ReturnType<typeof createTestEngine>>['world'];

async function creationWithMore(
  { mode, echoSpokeId, isMade = true }: LostWithMore,
  meanwhile: (world: World) => unknown,
) {
  const engine = await createTestEngine({ platform: { echoSpokeId }, settings: { mode } });
  const { world, troubles, deliver, emit, hire, pass } = engine;
  await hire('a', 'b', 'c', 'd');
  await deliver({ snapshot: 'x', of: ['a'] });
  world.advance(CREATE_SETTLE_MS);
  let calls = 0;
  troubles.platform = (call) => {
    if (call === 'create') calls += 1;
    if (calls === 1 && call !== 'create') {
      calls += 1;
      meanwhile(world);
    }
    if (call !== 'create' || calls > 1) return 'none';
    return isMade ? 'lost_after' : 'lost_before';
  };
  emit({ snapshot: 'g', of: ['a', 'b'], name: 'g' });
  await pass(2 * HOUR_MS, 10);
  return {
    ...engine,
    drift: async () =>
      (await allOf(world.toolPorts.drift.list(CONNECTION))).map(({ kind, after }) => [kind, after]),
  };
}

it('a creation without an answer is repeated although the list always lacks recently created groups', async () => {
  const { world, troubles, deliver, emit, hire, pass, shown } = await createTestEngine({
    platform: { listLagMs: 5 * MINUTE_MS },
  });
  await hire('a');
  await deliver({ snapshot: 'x', of: ['a'] });
  world.advance(HOUR_MS);
  const isLost = failFirst(troubles, 'create', 'lost_before');
  emit({ snapshot: 'g', of: ['a'] });
  await pass(1_000, 2);
  expect(isLost()).toBe(true);
  for (let more = 0; more < 30; more += 1) {
    emit({ snapshot: `more${more}`, of: ['a'] });
    await pass(MINUTE_MS, 2);
  }
  expect(shown('g')).toEqual([['u-a']]);
});

it('the search for an unanswered creation fetches no group with another name', async () => {
  const others: string[] = [];
  const lost = { mode: 'authoritative', echoSpokeId: false, isMade: false };
  const { world, shown } = await creationWithMore(lost, ({ platform }) => {
    others.push(platform.addForeign({ name: 'Other', spokeId: '', users: [] }));
  });
  expect(others).toHaveLength(1);
  expect(world.platform.calls.filter(({ id = '' }) => others.includes(id))).toEqual([]);
  expect(shown('g')).toEqual([['u-a', 'u-b']]);
});

it.each([1, 2])('an unanswered creation is not repeated while the list has %i groups', async (limit) => {
  const { world, deliver, state, shown } = await lostCreation({ isMade: true, limit });
  expect(shown('g')).toHaveLength(1);
  world.platform.listLimit = Number.POSITIVE_INFINITY;
  world.advance(HOUR_MS);
  await deliver();
  expect(shown('g')).toEqual([['u-a', 'u-b']]);
  expect(await state('g')).toMatchObject({ settled: 'in_sync' });
});

it.each([0, 2])(
  'a creation without an answer waits and shows the reason while the list shows only %i managed groups',
  async (limit) => {
    const { state, shown } = await lostCreation({ isMade: false, limit });
    expect(shown('g')).toEqual([]);
    const { lastError } = (await state('g')) ?? {};
    expect(lastError).toMatchObject({ code: 'list_incomplete' });
    expect(lastError?.message).toContain('the list of groups lacks');
  },
);

it('a creation without an answer is repeated within two hours if the list shows every existing group', async () => {
  const { shown } = await lostCreation({ isMade: false, limit: Number.POSITIVE_INFINITY });
  expect(shown('g')).toEqual([['u-a', 'u-b']]);
});

it('a creation without an answer is repeated if a managed group that the list lacks answers 404', async () => {
  const { world, troubles, deliver, emit, hire, pass, shown, state } = await createTestEngine();
  await hire('a');
  await deliver(...['x', 'y', 'z'].map((snapshot) => ({ snapshot, of: ['a'] })));
  world.advance(CREATE_SETTLE_MS);
  world.platform.deleteAsOther((await state('y'))?.link?.id ?? '');
  failFirst(troubles, 'create', 'lost_before');
  emit({ snapshot: 'g', of: ['a'] });
  await pass(2 * HOUR_MS, 10);
  expect(shown('g')).toEqual([['u-a']]);
});

it('a creation without an answer is not repeated while the list is empty and every group answers 404', async () => {
  const { world, troubles, deliver, emit, hire, pass, shown } = await createTestEngine();
  await hire('a');
  await deliver(...['x', 'y', 'z'].map((snapshot) => ({ snapshot, of: ['a'] })));
  world.advance(CREATE_SETTLE_MS);
  troubles.platform = (call) => {
    if (call !== 'create') return 'none';
    world.platform.hidden = () => true;
    return 'lost_after';
  };
  emit({ snapshot: 'g', of: ['a'] });
  await pass(HOUR_MS, 10);
  expect(shown('g')).toHaveLength(1);
  troubles.platform = () => 'none';
  world.platform.hidden = () => false;
  world.advance(HOUR_MS);
  await deliver();
  expect(shown('g')).toEqual([['u-a']]);
  expect(world.platform.groups.size).toBe(4);
});

const MORE = ['u-a', 'u-b', 'u-c', 'u-d'];

it.each([
  { mode: 'authoritative', echoSpokeId: true, users: ['u-a', 'u-b'] },
  { mode: 'authoritative', echoSpokeId: false, users: ['u-a', 'u-b'] },
  { mode: 'additive', echoSpokeId: true, users: MORE },
  { mode: 'additive', echoSpokeId: false, users: MORE },
])('users that another client added to the created group are recorded as drift (%o)', async (expected) => {
  const { shown, drift } = await creationWithMore(expected, ({ platform }) => {
    const [made] = [...platform.groups.values()].filter(({ name }) => name === 'g');
    platform.changeAsOther(made?.id ?? '', { users: MORE });
  });
  expect(shown('g')).toEqual([expected.users]);
  expect(await drift()).toEqual([['members_added', ['u-c', 'u-d']]]);
});

it('in the mode additive, an external group with the same name as a creation without an answer keeps its users', async () => {
  const given = { mode: 'additive', echoSpokeId: false, isMade: false };
  const engine = await creationWithMore(given, ({ platform }) =>
    platform.addForeign({ name: 'g', users: MORE, spokeId: 'g' }),
  );
  expect(engine.shown('g')).toEqual([MORE]);
  expect(await engine.drift()).toEqual([['members_added', ['u-c', 'u-d']]]);
});

it('a creation without an answer is repeated within four hours if the only managed group is excluded and deleted', async () => {
  const { world, troubles, deliver, emit, hire, pass, shown, state } = await createTestEngine();
  await hire('a');
  await deliver({ snapshot: 'x', of: ['a'] });
  world.advance(HOUR_MS);
  const plan = await planSettings(CONNECTION, [{ key: 'groups.exclude', value: ['x'] }], world.toolPorts);
  await changeSettings(plan, { ...world.toolPorts, vault: {} as never });
  world.advance(HOUR_MS);
  await deliver();
  world.platform.deleteAsOther((await state('x'))?.link?.id ?? '');
  const isLost = failFirst(troubles, 'create', 'lost_before');
  emit({ snapshot: 'g', of: ['a'] });
  await pass(4 * HOUR_MS, 10);
  expect(isLost()).toBe(true);
  expect(shown('g')).toEqual([['u-a']]);
});

it('a creation without an answer is not repeated on a platform that hides external ids and drops a user', async () => {
  const { world, troubles, deliver, emit, hire, pass } = await createTestEngine({
    platform: { echoSpokeId: false },
  });
  await hire('a', 'b');
  await deliver({ snapshot: 'x', of: ['a'] });
  world.advance(HOUR_MS);
  const isLost = failFirst(troubles, 'create', 'lost_after');
  world.platform.refused.add('u-b');
  emit({ snapshot: 'g', of: ['a', 'b'], name: 'g' });
  await pass(2 * HOUR_MS, 10);
  expect(isLost()).toBe(true);
  expect([...world.platform.groups.values()].filter(({ name }) => name === 'g')).toHaveLength(1);
});

const incomplete = async (hours: number) => {
  const engine = await createTestEngine();
  const { world, hire, deliver, emit, pass } = engine;
  await hire('a', 'b');
  await deliver(...['x', 'y', 'z'].map((snapshot) => ({ snapshot, of: ['a'] })));
  const existing = world.platform.addForeign({ name: 'g', spokeId: 'g', users: ['u-a'] });
  world.platform.adopted.add(existing);
  world.advance(HOUR_MS);
  world.platform.listLimit = 1;
  emit({ snapshot: 'g', of: ['a', 'b'], name: 'g' });
  await pass(hours * HOUR_MS, 10);
  return { ...engine, existing };
};

it('a new group waits while the list is incomplete, and adopts the existing group when the list shows it', async () => {
  const { world, deliver, state, existing } = await incomplete(0.5);
  expect((await state('g'))?.lastError).toMatchObject({ code: 'list_incomplete' });
  world.platform.listLimit = Number.POSITIVE_INFINITY;
  world.advance(HOUR_MS);
  await deliver();
  expect((await state('g'))?.link?.id).toBe(existing);
});

it('a new group is created within four hours although the list stays incomplete', async () => {
  const { state, existing } = await incomplete(4);
  const id = (await state('g'))?.link?.id;
  expect([id, id === existing]).toEqual([expect.any(String), false]);
});
