import { expect, it } from 'vitest';
import { suspectChanged } from '../support/engine/look-over.ts';
import { allOf, createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION, failFirst, HOUR_MS } from '../support/engine/world.ts';

/** Creates the group `g` with the users a and b, in sync, and a user guest that another client added. */
async function withGuest(settings: Readonly<Record<string, unknown>>) {
  const engine = await createTestEngine({ settings });
  const { world } = engine;
  await engine.hire('a', 'b', 'c', 'd');
  await engine.deliver({ snapshot: 'x', of: ['a'] }, { snapshot: 'g', of: ['a', 'b'] });
  world.advance(HOUR_MS);
  const id = (await engine.state('g'))?.link?.id ?? '';
  const users = world.platform.groups.get(id)?.users ?? [];
  world.platform.changeAsOther(id, { users: [...users, 'u-guest'] });
  await suspectChanged(world);
  await engine.deliver();
  world.advance(HOUR_MS);
  return {
    ...engine,
    id,
    /** After this call, fetches show only the first user. Lists show all users. */
    showOnlyFirst() {
      world.platform.showing = (kind, all) => (kind === 'get' ? all.slice(0, 1) : all);
    },
    showAll() {
      world.platform.showing = (_, all) => all;
    },
    drift: async () => (await allOf(world.toolPorts.drift.list(CONNECTION))).map(({ kind }) => kind),
  };
}

it('the next write keeps every user that the list shows for the fetched version', async () => {
  const { world, id, deliver, shown, showOnlyFirst, showAll, drift } = await withGuest({
    mode: 'additive',
  });
  world.platform.changeAsOther(id, { name: 'Theirs' });
  showOnlyFirst();
  await suspectChanged(world);
  await deliver();
  world.advance(HOUR_MS);
  await deliver({ add: ['d'], to: 'g' });
  showAll();
  world.advance(HOUR_MS);
  await deliver();
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-d', 'u-guest']]);
  expect(await drift()).not.toContain('members_removed');
});

it('in the mode additive, the next write keeps the users of a group whose creation got no answer', async () => {
  const { world, troubles, hire, deliver, emit, pass, shown } = await createTestEngine({
    settings: { mode: 'additive' },
  });
  await hire('a', 'b', 'c', 'd');
  await deliver({ snapshot: 'x', of: ['a'] });
  world.advance(HOUR_MS);
  const isLost = failFirst(troubles, 'create', 'lost_after');
  world.platform.showing = (kind, users) => (kind === 'get' ? users.slice(0, 1) : users);
  emit({ snapshot: 'g', of: ['a', 'b', 'c'] });
  await pass(2 * HOUR_MS, 10);
  expect(isLost()).toBe(true);
  await deliver({ add: ['d'], to: 'g' });
  world.platform.showing = (_, users) => users;
  world.advance(HOUR_MS);
  await deliver();
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c', 'u-d']]);
});

it('an adoption keeps a user of another client if the group changed between the list and the fetch', async () => {
  const { world, hire, deliver, shown } = await createTestEngine({
    settings: { mode: 'additive' },
  });
  const { platform } = world;
  await hire('a', 'b', 'd');
  await deliver({ snapshot: 'x', of: ['a'] });
  const id = platform.addForeign({ name: 'Group g', spokeId: 'g', users: ['u-a', 'u-guest'] });
  platform.adopted.add(id);
  world.advance(HOUR_MS);
  let isListed = false;
  platform.showing = (kind, users) => {
    if (kind === 'list' && !isListed) {
      isListed = true;
      queueMicrotask(() => platform.changeAsOther(id, { name: 'Renamed' }));
    }
    return kind === 'get' ? users.slice(0, 1) : users;
  };
  await deliver({ snapshot: 'g', of: ['a', 'b'] });
  platform.showing = (_, users) => users;
  world.advance(HOUR_MS);
  await deliver({ add: ['d'], to: 'g' });
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-d', 'u-guest']]);
});
