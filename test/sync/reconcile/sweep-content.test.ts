import { expect, it } from 'vitest';
import { sweep } from '../../../shared/sync/reconcile/sweep.ts';
import { allOf, createTestEngine } from '../../support/engine/test-engine.ts';
import { CONNECTION, HOUR_MS } from '../../support/engine/world.ts';

/** Creates groups g0, g1, … with the members a and b. They have been in sync for an hour. */
async function company(count: number, settings = {}, platform = {}) {
  const engine = await createTestEngine({ settings, platform });
  const { world, deliver, hire } = engine;
  await hire('a', 'b');
  await deliver(...Array.from({ length: count }, (_, n) => ({ snapshot: `g${n}`, of: ['a', 'b'] })));
  world.advance(HOUR_MS);
  return {
    ...engine,
    drift: async () => (await allOf(world.toolPorts.drift.list(CONNECTION))).map(({ kind }) => kind),
    /** Runs one sweep, and then the engine until no work is left. Returns the calls about groups. */
    async sweepAfter(ms = HOUR_MS) {
      world.advance(ms);
      const from = world.platform.calls.length;
      await sweep(await world.connection(), world.toolPorts);
      await deliver();
      return world.platform.calls
        .slice(from)
        .map(({ method, route }) => `${method} ${route}`)
        .filter((call) => call.includes('groups'));
    },
  };
}

it.each([
  ['an additional user', (users: readonly string[]) => [...users, 'u-guest'], ['members_added']],
  ['a missing user that no client removed', (users: readonly string[]) => users.slice(0, 1), []],
])('a sweep finds and corrects changed content under a stored version (%s)', async (_, changed, kinds) => {
  const { world, troubles, sweepAfter, shown, drift, state } = await company(1);
  world.platform.showing = (_call, users) => changed(users);
  troubles.platform = (call) => {
    if (call === 'patch' || call === 'put') world.platform.showing = (_call, users) => users;
    return 'none';
  };
  await sweepAfter();
  expect(await drift()).toEqual(kinds);
  expect(world.platform.writes).toHaveLength(2);
  expect(shown('g0')).toEqual([['u-a', 'u-b']]);
  expect(await state('g0')).toMatchObject({ settled: 'in_sync' });
});

it.each([true, false])(
  'a sweep reads only the list if all contents are unchanged (spokeIds shown: %s)',
  async (echoSpokeId) => {
    const { world, sweepAfter } = await company(3, {}, { echoSpokeId });
    world.platform.showing = (kind, users) => (kind === 'list' ? users.toReversed() : users);
    for (let hour = 0; hour < 3; hour += 1) expect(await sweepAfter()).toEqual(['GET /groups']);
  },
);

it('one sweep finds both of two groups with changed content under the stored versions, in a company of ten groups', async () => {
  const { world, deliver, hire, sweepAfter, drift } = await company(10, { mode: 'additive' });
  await hire('c');
  await deliver({ add: ['c'], to: 'g3' }, { add: ['c'], to: 'g7' });
  world.advance(HOUR_MS);
  world.platform.showing = (_call, users) => (users.includes('u-c') ? [...users, 'u-guest'] : users);
  await sweepAfter();
  expect(await drift()).toEqual(['members_added', 'members_added']);
});

it('a group stays unchanged if only the list shows other users, and is fetched about once a day', async () => {
  const { world, sweepAfter, drift } = await company(40);
  world.platform.showing = (kind, users) => (kind === 'list' ? users.slice(0, 1) : users);
  let fetched = 0;
  for (let hour = 0; hour < 24; hour += 1) fetched += (await sweepAfter()).length - 1;
  expect(fetched).toBeGreaterThan(0);
  expect(fetched).toBeLessThanOrEqual(41);
  expect(world.platform.writes).toHaveLength(40);
  expect(await drift()).toEqual([]);
});

it('a sweep fetches no group if the platform lost an external member during a write of groupsync', async () => {
  const { world, deliver, hire, sweepAfter, shown, drift } = await company(1, { mode: 'additive' });
  const [group] = world.platform.groups.values();
  world.platform.changeAsOther(group?.id ?? '', { users: [...(group?.users ?? []), 'u-guest'] });
  await sweepAfter();
  expect(await drift()).toEqual(['members_added']);
  world.advance(HOUR_MS);
  world.platform.refused.add('u-guest');
  await hire('c');
  await deliver({ add: ['c'], to: 'g0' });
  expect(shown('g0')).toEqual([['u-a', 'u-b', 'u-c']]);
  for (let hour = 0; hour < 4; hour += 1) expect(await sweepAfter()).toEqual(['GET /groups']);
});
