import { expect, it } from 'vitest';
import type { SettledState } from '../../../shared/domain/group-state.ts';
import { memberId, type PlatformGroupId } from '../../../shared/domain/ids.ts';
import { STAMP_ZERO } from '../../../shared/domain/stamp.ts';
import { memberKey, viewChunkKey } from '../../../shared/store/keys.ts';
import { sweep } from '../../../shared/sync/reconcile/sweep.ts';
import { COMPANY } from '../../support/engine/world.ts';
import { createWorld, START_MS, type World } from './support/world.ts';

const HOUR_MS = 3_600_000;
const run = (world: World) => sweep(world.connection, world.ports);

async function withGroups(count: number, settings = {}) {
  const world = await createWorld({ settings });
  for (let n = 0; n < count; n += 1) await world.link(`g${n}`);
  return world;
}
const suspects = async (world: World, count: number) => {
  const found: string[] = [];
  for (let n = 0; n < count; n += 1) if ((await world.state(`g${n}`)).suspectedChange) found.push(`g${n}`);
  return found;
};

it('a sweep marks exactly the groups with a changed version as suspected', async () => {
  const world = await withGroups(4);
  world.change('g2');
  const { report, halted } = await run(world);
  expect(report).toMatchObject({ groupsTouched: 4, echoes: 3, missing: 0, orphans: 0 });
  expect(halted).toBe(false);
  expect(await suspects(world, 4)).toEqual(['g2']);
  expect(world.woken).toEqual(['g2']);
  expect(world.calls()).toEqual(['list']);
});

it('a sweep skips a group with an invalid item, and reports its id', async () => {
  const world = await withGroups(3);
  await world.link('g1', { rev: 'seven' });
  world.change('g2');
  const { report, unreadable } = await run(world);
  expect(report).toMatchObject({ groupsTouched: 2, orphans: 0, missing: 0 });
  expect(unreadable).toEqual(['g1']);
  expect(world.woken).toEqual(['g2']);
});

it('a sweep does not count a managed group as missing or changed if the list shows it malformed', async () => {
  const world = await withGroups(3);
  world.platform.malformed.add(world.idOf('g1'));
  world.stranger('g2');
  const { report } = await run(world);
  expect(report).toMatchObject({ missing: 0, echoes: 2, orphans: 1 });
  expect(await world.drift()).toMatchObject([{ kind: 'duplicate_spoke_id', group: 'g2' }]);
  expect(world.woken).toEqual([]);
  expect(world.calls()).toEqual(['list']);
});

it('a sweep ignores a group whose last write has no answer yet', async () => {
  const world = await createWorld();
  const intent = { id: 'i1', action: 'patch', atMs: START_MS, name: 'g', spokeId: 'g' };
  await world.link('g0', { intent });
  world.change('g0');
  await run(world);
  expect(await suspects(world, 1)).toEqual([]);
});

it('a sweep reads a group that the list lacks by its id, and marks it as suspected only if it is gone', async () => {
  const world = await withGroups(40);
  world.platform.notInList.add(world.idOf('g1'));
  world.lose('g2');
  const { report, halted } = await run(world);
  expect(report.missing).toBe(2);
  expect(halted).toBe(false);
  expect(
    world
      .calls()
      .filter((call) => call.startsWith('get'))
      .sort(),
  ).toEqual([`get ${world.idOf('g1')}`, `get ${world.idOf('g2')}`]);
  expect(await suspects(world, 40)).toEqual(['g2']);
  expect((await world.state('g2')).suspectedChange?.version).toBeNull();
});

it.each([
  ['no group', 'every group', 20, 20],
  ['no group', 'one group in ten', 20, 2],
  ['the missing groups', 'only one group', 3, 1],
  ['the missing groups', 'one group in twenty', 40, 2],
])('a sweep marks %s as suspected if the list lacks %s', async (marked, _, links, missing) => {
  const world = await withGroups(links);
  for (let n = 0; n < missing; n += 1) world.lose(`g${n}`);
  const { report, halted } = await run(world);
  const isHalted = marked === 'no group';
  expect({ halted, missing: report.missing }).toEqual({ halted: isHalted, missing });
  expect(await suspects(world, links)).toHaveLength(isHalted ? 0 : missing);
  if (isHalted) expect(world.calls()).toEqual(['list']);
});

it.each([
  ['written after the start of the list', { lastWriteAt: START_MS }],
  ['created so recently that the platform may not list them', { link: { createdAtMs: START_MS - 60_000 } }],
])('a sweep does not count a group as missing if the group was %s', async (_, made) => {
  const world = await withGroups(5);
  for (let n = 5; n < 15; n += 1) await world.link(`g${n}`, made);
  const { report, halted } = await run(world);
  expect({ halted, missing: report.missing }).toEqual({ halted: false, missing: 0 });
  expect(await suspects(world, 15)).toEqual([]);
});

it('a sweep marks no group as suspected if the list fails', async () => {
  const world = await withGroups(3);
  world.platform.listing = () => 500;
  await expect(run(world)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await suspects(world, 3)).toEqual([]);
});

it('a sweep counts groups whose spokeId belongs to no linked group, and records each duplicate spokeId once', async () => {
  const world = await withGroups(2);
  await world.link('unlinked', { link: { id: 'platform-gone' } });
  world.lose('unlinked');
  const copy = world.stranger('g0');
  for (const spokeId of ['unlinked', 'no-group-of-ours']) world.stranger(spokeId);
  // A managed group is not counted as an orphan, even if it shows the spokeId of another managed group.
  world.platform.changeAsOther(world.idOf('g1'), { spokeId: 'g0' });
  expect(await run(world)).toMatchObject({ report: { orphans: 2 } });
  expect(await run(world)).toMatchObject({ report: { orphans: 2 } });
  expect(await world.drift()).toMatchObject([{ kind: 'duplicate_spoke_id', group: 'g0', after: copy }]);
});

it('a sweep removes a stale claim only of a clean group that is linked to another platform group', async () => {
  const world = await withGroups(1);
  const claimed: PlatformGroupId[] = [];
  for (const [group, extra] of [
    ['deleted', { link: { id: 'another' } }],
    ['at-work', { link: { id: 'another' }, dirtySince: START_MS }],
    ['excluded', { released: true }],
  ] as const)
    claimed.push(await world.link(group, extra));
  await run(world);
  const { now } = await world.ports.claims.owners(COMPANY, claimed);
  expect([...now.keys()]).toEqual(claimed.slice(1));
});

const MINUTE_MS = 60_000;
const dirtySince = START_MS - 20 * MINUTE_MS;

it.each<[string, number | undefined, number, boolean]>([
  ['has no wake-up is woken', undefined, dirtySince, true],
  ['the requeue job missed is woken', START_MS - 16 * MINUTE_MS, dirtySince, true],
  ['waits for a retry is not woken', START_MS + MINUTE_MS, dirtySince, false],
  ['the requeue job will find is not woken', START_MS - MINUTE_MS, dirtySince, false],
  ['became dirty recently is not woken', undefined, START_MS - MINUTE_MS, false],
])('in a sweep, a dirty group that %s', async (_, dueMs, since, isWoken) => {
  const world = await createWorld();
  await world.link('g', { dirtySince: since }, dueMs);
  const { report } = await run(world);
  expect(report.reenqueued).toBe(isWoken ? 1 : 0);
  expect(world.woken).toEqual(isWoken ? ['g'] : []);
});

it('a sweep wakes at most as many groups at once as the requeue job', async () => {
  const world = await createWorld();
  for (let n = 0; n < 700; n += 1) await world.link(`g${n}`, { dirtySince });
  expect((await run(world)).report.reenqueued).toBe(600);
});

it.each([
  ['waiting', START_MS - 1, true],
  ['waiting', START_MS - 1, false, 'excluded'],
  ['approved', START_MS - 1, true],
  ['waiting', START_MS + 1, false],
  ['rejected', START_MS - 1, true],
  ['rejected', START_MS + 1, false],
] as const)(
  'a sweep wakes the group of a hold that is %s and expires at %i ms: %s %s',
  async (kind, expiresAtMs, isWoken, settled: SettledState = 'held') => {
    const decision = kind === 'waiting' ? { kind } : { kind, by: 'ann', reason: 'r', atMs: 1 };
    const hold = {
      ...{ digest: 'd', rule: 'count', removes: 1, keeps: 1, share: 0.5, createdAtMs: 1, dirtySinceMs: 1 },
      ...{ expiresAtMs, decision, asOf: STAMP_ZERO, chunks: 1, hash: 'h' },
    };
    const world = await createWorld();
    await world.link('g', { settled, removals: { id: 'd', sets: [hold] } });
    await run(world);
    expect(world.woken).toEqual(isWoken ? ['g'] : []);
  },
);

it('24 hourly sweeps delete all old view parts and expired tombstones of a group', async () => {
  const world = await createWorld();
  await world.link('g', {});
  const ref = world.ref('g');
  const dead = `${(START_MS - 9 * HOUR_MS).toString(16).padStart(12, '0')}aa`;
  await world.table.put({ ...viewChunkKey(ref, dead as never, 0), text: '' });
  const past = Math.floor(START_MS / 1_000) - 1;
  for (const [member, expiresAt] of [
    ['gone', past],
    ['kept', past * 2],
  ] as const) {
    const key = memberKey(ref, memberId(member));
    await world.table.put({ ...key, member, stamp: '', presence: 'absent', expiresAt });
  }
  for (let hour = 0; hour < 24; hour += 1) {
    await run(world);
    world.advance(HOUR_MS);
  }
  const left = [...world.table.items.values()].map(({ sk }) => sk);
  expect(left.filter((sk) => /^(VIEW|M)#/.test(sk))).toEqual(['M#kept']);
});
