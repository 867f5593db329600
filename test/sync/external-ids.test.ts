import { expect, it } from 'vitest';
import { releaseGroup } from '../../shared/operate/ownership.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { CREATE_SETTLE_MS, failFirst, HOUR_MS } from '../support/engine/world.ts';

const lowerCase = (spokeId: string) => spokeId.toLowerCase();
const FORMS: readonly (readonly [string, (spokeId: string) => string, string])[] = [
  ['lower case', lowerCase, 'Sales-G1'],
  ['upper case', (spokeId) => spokeId.toUpperCase(), 'sales-g1'],
  ['trimmed form', (spokeId) => spokeId.trim(), ' sales '],
  ['composed Unicode form', (spokeId) => spokeId.normalize('NFC'), 'Ve\u0301rtrieb'],
];

async function company(spokeIdAs: (spokeId: string) => string, settings = {}, platform = {}) {
  const engine = await createTestEngine({ platform: { spokeIdAs, ...platform }, settings });
  await engine.hire('a', 'b');
  const { world } = engine;
  return {
    ...engine,
    groups: () => [...world.platform.groups.values()],
    actions: () => world.platform.writes.map(({ action }) => action),
  };
}

it.each(FORMS)('an external id is written once if the platform stores the %s', async (_, spokeIdAs, id) => {
  const { world, deliver, state, actions, driftKinds, sweepAfter } = await company(spokeIdAs);
  await deliver({ snapshot: id, of: ['a'] });
  world.advance(CREATE_SETTLE_MS);
  for (let hour = 0; hour < 3; hour += 1) {
    await sweepAfter(HOUR_MS);
    await deliver({ upsert: id });
  }
  expect(actions()).toEqual(['create']);
  await deliver({ add: ['b'], to: id });
  for (let hour = 0; hour < 3; hour += 1) await deliver({ upsert: id });
  expect(actions()).toEqual(['create', 'patch']);
  expect(await state(id)).toMatchObject({ settled: 'in_sync' });
  expect(await driftKinds()).toEqual([]);
});

it('after another client changes an external id, groupsync writes the id again once', async () => {
  const { world, deliver, groups, actions, driftKinds, sweepAfter } = await company(lowerCase);
  await deliver({ snapshot: 'G1', of: ['a'] });
  world.advance(CREATE_SETTLE_MS);
  const [group] = groups();
  world.platform.changeAsOther(group?.id ?? '', { spokeId: 'theirs' });
  for (let hour = 0; hour < 3; hour += 1) await sweepAfter(HOUR_MS);
  expect(groups().map(({ spokeId }) => spokeId)).toEqual(['g1']);
  expect(actions()).toHaveLength(2);
  expect(await driftKinds()).toEqual(['spoke_id']);
});

it('groupsync writes an external id once if only later answers show the normalised form', async () => {
  let stored = (spokeId: string) => spokeId;
  const { world, deliver, actions, driftKinds, groups, sweepAfter } = await company((spokeId) =>
    stored(spokeId),
  );
  await deliver({ snapshot: 'G1', of: ['a'] });
  world.advance(CREATE_SETTLE_MS);
  stored = lowerCase;
  world.platform.changeAsOther(groups()[0]?.id ?? '', { spokeId: 'g1' }, 'SYSTEM');
  for (let hour = 0; hour < 3; hour += 1) {
    await sweepAfter(HOUR_MS);
    await deliver({ upsert: 'G1' });
  }
  expect(actions()).toEqual(['create']);
  expect(await driftKinds()).toEqual([]);
});

it.each(FORMS)(
  'a normalised id causes no second group after a POST without an answer (%s)',
  async (_, spokeIdAs, id) => {
    const { world, troubles, deliver, state, actions, driftKinds } = await company(spokeIdAs);
    const isLost = failFirst(troubles, 'create', 'lost_after');
    await deliver({ snapshot: id, of: ['a'] });
    world.advance(HOUR_MS);
    await deliver({ upsert: id });
    expect(isLost()).toBe(true);
    expect(actions()).toEqual(['create']);
    expect(await state(id)).toMatchObject({ settled: 'in_sync' });
    expect(await driftKinds()).toEqual([]);
  },
);

it.each(FORMS)('a normalised id identifies a group that is adopted (%s)', async (_, spokeIdAs, id) => {
  const { world, deliver, groups, state, actions } = await company(spokeIdAs);
  const platformId = world.platform.addForeign({ name: 'Before', spokeId: id, users: [] });
  world.platform.adopted.add(platformId);
  await deliver({ snapshot: id, of: ['a'] });
  for (let hour = 0; hour < 3; hour += 1) await deliver({ upsert: id });
  expect(groups()).toHaveLength(1);
  expect(await state(id)).toMatchObject({ link: { id: platformId }, settled: 'in_sync' });
  expect(actions()).toEqual(['put']);
});

it('a deleted group that appears in the list with its normalised external id is deleted again', async () => {
  const { world, deliver, state, groups, sweepAfter } = await company(lowerCase);
  await deliver({ snapshot: 'G1', of: ['a'] }, { snapshot: 'other', of: ['a'] });
  world.advance(CREATE_SETTLE_MS);
  const platformId = (await state('G1'))?.link?.id ?? '';
  world.platform.hidden = (id) => id === platformId;
  await deliver({ remove: 'G1' });
  world.advance(HOUR_MS);
  await deliver();
  expect(await state('G1')).toMatchObject({ settled: 'deleted' });
  world.platform.hidden = () => false;
  await sweepAfter(HOUR_MS);
  expect(groups().map(({ spokeId }) => spokeId)).toEqual(['other']);
});

it('a copied group with a normalised external id is recorded as a duplicate, and the id is cleared by a release', async () => {
  const { world, deliver, groups, driftKinds, ref, sweepAfter } = await company(lowerCase);
  await deliver({ snapshot: 'G1', of: ['a'] });
  world.advance(CREATE_SETTLE_MS);
  world.platform.copyAsOther(groups()[0]?.id ?? '');
  await sweepAfter(HOUR_MS);
  expect(await driftKinds()).toEqual(['duplicate_spoke_id']);
  await releaseGroup(ref('G1'), world.toolPorts);
  await deliver();
  expect(groups().map(({ spokeId }) => spokeId)).toEqual([null, 'g1']);
});

it.each([
  ['one after the other', true, (spokeId: string) => spokeId],
  ['at the same time', false, (spokeId: string) => spokeId],
  ['one after the other, and the platform stores lower case', true, lowerCase],
])(
  'two directory groups whose ids differ only by case get separate platform groups (%s)',
  async (_, isInTurn, spokeIdAs) => {
    const { world, deliver, emit, groups, state, actions } = await company(spokeIdAs);
    if (isInTurn) await deliver({ snapshot: 'g1', of: ['a'] });
    else emit({ snapshot: 'g1', of: ['a'] });
    await deliver({ snapshot: 'G1', of: ['b'], name: 'Other' });
    world.advance(HOUR_MS);
    await deliver({ upsert: 'g1' }, { upsert: 'G1', name: 'Other' });
    const shown = groups().map(({ spokeId, users }) => `${spokeId}: ${users.join()}`);
    expect(shown.sort()).toEqual([`${spokeIdAs('G1')}: u-b`, 'g1: u-a'].sort());
    for (const id of ['g1', 'G1']) expect(await state(id)).toMatchObject({ settled: 'in_sync' });
    expect(actions()).toEqual(['create', 'create']);
    // With lower case, both groups have the same spokeId, which the test platform records as a violation.
    expect(world.platform.violations.splice(0)).toHaveLength(spokeIdAs === lowerCase ? 1 : 0);
  },
);

it('of two directory groups whose ids differ only by case, only the group with the exact id adopts a platform group', async () => {
  const { world, deliver, emit, state } = await company((spokeId) => spokeId);
  const theirs = world.platform.addForeign({ name: 'B', spokeId: 'G1', users: [] });
  world.platform.adopted.add(theirs);
  emit({ snapshot: 'g1', of: ['a'], name: 'A' });
  await deliver({ snapshot: 'G1', of: ['b'], name: 'B' });
  expect((await state('G1'))?.link?.id).toBe(theirs);
  expect((await state('g1'))?.link?.id).not.toBe(theirs);
  expect(world.platform.groups.get(theirs)?.users).toEqual(['u-b']);
});
