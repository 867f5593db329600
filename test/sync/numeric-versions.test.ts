import { expect, it } from 'vitest';
import { groupKey } from '../../shared/store/keys.ts';
import { allOf } from '../support/engine/test-engine.ts';
import { apply, deliver, joins, leaves, REF, settled, shown, USERS } from './reconcile/support/drift.ts';

const NUMERIC = { numericVersions: true };

it('a group stays in sync if versions are numbers, and apply sends each version as a number', async () => {
  const { world, id } = await settled({}, NUMERIC);
  await deliver(world, joins('late'));
  await apply(world);
  await deliver(world, leaves('m0', 2));
  await apply(world);
  expect(shown(world, id)?.users).toEqual(['u-late', ...USERS.slice(1)]);
  expect(world.platform.calls.filter(({ isStale }) => isStale)).toEqual([]);
  const { version } = world.platform.groups.get(id) ?? {};
  expect(version).toEqual(expect.any(Number));
  expect(await world.table.get(groupKey(REF))).toMatchObject({ link: { version } });
  const written = (await allOf(world.toolPorts.audit.read(REF))).map(({ versionAfter }) => versionAfter);
  expect(written).toContain(version);
  expect(written.every((one) => typeof one === 'number')).toBe(true);
});

it('apply notices a change by another client if versions are numbers', async () => {
  const { world, id } = await settled({}, NUMERIC);
  world.platform.changeAsOther(id, { users: [...USERS, 'u-guest'] });
  await deliver(world, joins('late'));
  await apply(world);
  expect(shown(world, id)?.users).toEqual(['u-late', ...USERS]);
});
