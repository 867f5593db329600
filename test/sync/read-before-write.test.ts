import { expect, it } from 'vitest';
import { groupKey } from '../../shared/store/keys.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { dirtyNow } from '../../shared/sync/wake.ts';
import { allOf } from '../support/engine/test-engine.ts';
import {
  apply,
  deliver,
  event,
  joins,
  leaves,
  REF,
  records,
  settled,
  shown,
  USERS,
} from './reconcile/support/drift.ts';

async function worked(settings: Readonly<Record<string, unknown>>, options = {}) {
  const { world, id } = await settled(settings, options);
  const calls: string[] = [];
  const effect = async (kind: string) => {
    if (/^platform\.(?!me)/.test(kind)) calls.push(kind.slice('platform.'.length));
  };
  const worker = world.portsFor({ effect });
  const change = async (...events: Parameters<typeof deliver>[1][]) => {
    await deliver(world, ...events);
    return applyGroup(REF, worker);
  };
  return { world, id, calls, change, users: () => shown(world, id)?.users };
}

it.each([true, false])(
  'a user that another client adds before the write stays in the group (PATCH compares versions: %s)',
  async (enforceVersionOnPatch) => {
    const { world, id, calls, change, users } = await worked({ mode: 'additive' }, { enforceVersionOnPatch });
    world.platform.changeAsOther(id, { users: [...USERS, 'u-guest'] });
    await change(joins('late'));
    expect(users()).toEqual([...USERS, 'u-guest', 'u-late'].sort());
    expect(calls).toEqual(['get', 'put']);
    const [drift] = await records(world);
    expect(drift).toMatchObject({ kind: 'members_added', after: ['u-guest'], settledBy: 'adopt' });
  },
);

it('apply reads the group with one call before a write, and sends no call without a write', async () => {
  const { world, calls, change, users } = await worked({});
  await change(joins('late'));
  expect(calls).toEqual(['get', 'patch']);
  expect(users()).toEqual([...USERS, 'u-late'].sort());
  await world.toolPorts.desired.markDirty(REF, dirtyNow(world.toolPorts));
  await change();
  expect(calls).toEqual(['get', 'patch']);
});

it('a change by another client is recorded before groupsync deletes the group', async () => {
  const { world, id, calls, change } = await worked({ onGroupDeleted: 'delete', guard: null });
  world.platform.changeAsOther(id, { users: [...USERS, 'u-guest'] });
  await change(event('group.deleted', { group: { id: 'g' } }, 1));
  expect(world.platform.groups.has(id)).toBe(false);
  expect(calls).toEqual(['get', 'delete', 'get']);
  expect(await records(world)).toMatchObject([{ kind: 'members_added', after: ['u-guest'] }]);
});

it('apply does not repeat the read before each part of a write that the platform refuses', async () => {
  const { world, calls, change, users } = await worked({});
  world.platform.unacceptable.add('u-late');
  await change(joins('late'), leaves('m0'));
  world.advance(60_000);
  calls.length = 0;
  await change();
  expect(users()).toEqual(USERS.slice(1));
  // The last read shows whether the refusal was a version conflict.
  expect(calls).toEqual(['get', 'patch', 'patch', 'patch', 'get']);
});

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
