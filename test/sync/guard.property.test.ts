import fc from 'fast-check';
import { expect } from 'vitest';
import { NO_GROUP } from '../../shared/domain/group.ts';
import { groupId, memberId } from '../../shared/domain/ids.ts';
import { makeStamp } from '../../shared/domain/stamp.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { seededRandom } from '../../simulate/random.ts';
import { ALL_TABLE_FAULTS, Chaos } from '../support/engine/chaos.ts';
import { drive } from '../support/engine/drive.ts';
import type { CallFault } from '../support/engine/platform.ts';
import { always } from '../support/engine/runs.ts';
import { Scheduler } from '../support/engine/scheduler.ts';
import { CONNECTION, createWorld, START_MS, takeWoken, type World } from '../support/engine/world.ts';

const HOUR_MS = 3_600_000;
const GUARD = { minSize: 3, maxRemovedShare: 0.9, maxRemovedCount: 3, perHourCount: 4 };
const GROUPS = ['g1', 'g2'].map(groupId);
const MEMBERS = Array.from({ length: 5 }, (_, index) => `m${index}`);

/** Removals of members from one group, and the time that passes after the removals. */
interface Departure {
  readonly group: number;
  readonly members: readonly number[];
  readonly afterMinutes: number;
  readonly rounds: number;
  readonly comeBack: boolean;
}

const departure: fc.Arbitrary<Departure> = fc.record({
  group: fc.nat({ max: GROUPS.length - 1 }),
  members: fc.uniqueArray(fc.nat({ max: MEMBERS.length - 1 }), { minLength: 1, maxLength: 3 }),
  afterMinutes: fc.constantFrom(0, 0, 0.1, 1, 59, 61),
  rounds: fc.integer({ min: 0, max: 12 }),
  comeBack: fc.boolean(),
});

const FAULTS: readonly CallFault[] = ['lost_before', 'lost_after', 'lost_late', 'unreached', 'throttled'];

/** Creates two groups of five members. The platform equals the directory. */
async function settledWorld(seed: number, budget: number) {
  const random = seededRandom(seed);
  const faults = new Chaos({ budget: 0, random, platform: FAULTS, table: ALL_TABLE_FAULTS, lateness: 0.01 });
  const people = MEMBERS.map((member) => ({ role: `r-${member}`, email: `${member}@acme.test` }));
  const world = await createWorld({
    random,
    faults,
    people,
    settings: { guard: GUARD, match: ['id=workEmail'] },
  });
  const scheduler = new Scheduler({
    random,
    onEffect: () => {
      world.advance(1);
      faults.meddle(world);
    },
  });
  for (const group of GROUPS) await emit(world, group, { members: MEMBERS, value: 'present' });
  for (const ref of takeWoken(world)) await applyGroup(ref, world.toolPorts);
  faults.left = budget;
  return { world, scheduler };
}

/** Writes registers directly. The attributes of a member are the attributes that the directory would send. */
async function emit(
  world: World,
  group: (typeof GROUPS)[number],
  { members, value }: { readonly members: readonly string[]; readonly value: 'present' | 'absent' },
) {
  const { desired, applyQueue } = world.toolPorts;
  const ref = { connection: CONNECTION, group };
  const stamp = makeStamp({ time: new Date(world.nowMs()).toISOString(), id: group, source: 'test' });
  for (const member of members) {
    const id = memberId(`${member}@acme.test`);
    await desired.noteMembership(ref, id);
    await desired.joinMember(ref, { member: id, register: { value, stamp } }, world.nowMs());
  }
  const since = makeStamp({ time: new Date(START_MS - 1).toISOString(), id: group, source: 'test' });
  const now = { nowMs: world.nowMs(), wakeAtMs: world.nowMs(), isAtOnce: true };
  const named = { ...NO_GROUP, upserted: since, name: { value: `Group ${group}`, stamp: since } };
  await desired.markDirty(ref, now, named);
  await applyQueue.wake([ref]);
}

/** Runs a number of rounds. The next event then arrives while the engine still has work. */
async function work(world: World, scheduler: Scheduler, maxRounds: number) {
  await drive({ world, scheduler, twins: 0.5, skewMs: 900, maxRounds }).catch((error: unknown) => {
    if (!String(error).includes('still busy')) throw error;
  });
}

/** Returns the largest number of removals within an hour, once for the connection and once for one group. */
function worstHour(world: World) {
  const removals = world.platform.writes.flatMap(({ atMs, spokeId, removed }) =>
    removed.map(() => ({ atMs, spokeId })),
  );
  let connection = 0;
  let group = 0;
  for (const { atMs: end } of removals) {
    const within = removals.filter(({ atMs }) => atMs > end - HOUR_MS && atMs <= end);
    connection = Math.max(connection, within.length);
    for (const each of GROUPS) {
      group = Math.max(group, within.filter(({ spokeId }) => spokeId === each).length);
    }
  }
  return { connection, group };
}

always(
  'the limits of the guard are not exceeded in any hour, despite many plans, workers, lost answers and retries',
  fc.asyncProperty(
    fc.array(departure, { minLength: 1, maxLength: 6 }),
    fc.nat(),
    fc.nat({ max: 6 }),
    async (departures, seed, budget) => {
      const { world, scheduler } = await settledWorld(seed, budget);
      for (const { group, members, afterMinutes, rounds, comeBack } of departures) {
        const names = members.map((index) => MEMBERS[index] ?? '');
        await emit(world, GROUPS[group] as never, { members: names, value: 'absent' });
        await work(world, scheduler, rounds);
        world.advance(1 + afterMinutes * 60_000);
        if (comeBack) await emit(world, GROUPS[group] as never, { members: names, value: 'present' });
        await work(world, scheduler, rounds);
      }
      await drive({ world, scheduler, twins: 0.5, skewMs: 900 });
      while (world.platform.lateCount > 0) world.platform.doLate(0);
      const worst = worstHour(world);
      expect(worst.connection).toBeLessThanOrEqual(GUARD.perHourCount);
      expect(worst.group).toBeLessThanOrEqual(GUARD.maxRemovedCount);
    },
  ),
  400,
);
