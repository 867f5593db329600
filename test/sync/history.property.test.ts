import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groupId, type PlatformUserId } from '../../shared/domain/ids.ts';
import { readPast } from '../../shared/operate/past.ts';
import { seededRandom } from '../../simulate/random.ts';
import { ALL_CALL_FAULTS } from '../support/engine/chaos.ts';
import { directoryEvents } from '../support/engine/directory.ts';
import { runEvents } from '../support/engine/run-events.ts';
import { PATIENCE_MS, runs } from '../support/engine/runs.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION, START_MS, type World } from '../support/engine/world.ts';

type Groups = ReadonlyMap<string, ReadonlySet<PlatformUserId>>;

/** Records the members of every group of the platform after each effect of a worker. */
function createTruth() {
  const samples: { readonly atMs: number; readonly groups: Groups }[] = [
    { atMs: START_MS, groups: new Map() },
  ];
  return {
    samples,
    sample({ platform, nowMs }: World) {
      const groups = new Map(
        [...platform.groups.values()].map(({ spokeId, users }) => [
          spokeId ?? '',
          new Set(users as PlatformUserId[]),
        ]),
      );
      samples.push({ atMs: nowMs(), groups });
    },
    /** Whether the user was a member, for each state of the group between the two times. */
    between(group: string, user: PlatformUserId, sinceMs: number, untilMs: number) {
      const from = samples.findLastIndex(({ atMs }) => atMs <= sinceMs);
      const within = samples.filter(({ atMs }, index) => index >= from && atMs <= untilMs);
      return within.map(({ groups }) => groups.get(group)?.has(user) === true);
    },
    users: () =>
      new Set<PlatformUserId>(
        samples.flatMap(({ groups }) => [...groups.values()].flatMap((users) => [...users])),
      ),
  };
}

async function checkMoments(world: World, truth: ReturnType<typeof createTruth>, seed: number) {
  const random = seededRandom(seed);
  const counts = { certain: 0, uncertain: 0, unknown: 0 };
  for (const group of ['g1', 'g2']) {
    const ref = { connection: CONNECTION, group: groupId(group) };
    if ((await world.toolPorts.groups.read(ref)) === undefined) continue;
    const times = Array.from({ length: 20 }, () => random.pick(truth.samples).atMs + random.below(3));
    const { pasts } = await readPast(ref, times, world.toolPorts);
    for (const [index, past] of pasts.entries()) {
      const atMs = times[index] ?? 0;
      if ('knownSinceMs' in past) {
        counts.unknown += 1;
        continue;
      }
      for (const user of truth.users()) {
        const isMember = past.members?.has(user) === true;
        const interval = past.members?.get(user);
        if (interval !== undefined) {
          counts.uncertain += 1;
          expect(interval.sinceMs <= atMs && atMs <= interval.untilMs).toBe(true);
          continue;
        }
        counts.certain += 1;
        const seen = truth.between(group, user, atMs - 1, atMs + 1);
        expect(seen, `${user} in ${group} at ${atMs}`).toContain(isMember);
      }
    }
  }
  return counts;
}

describe('history of a platform group', () => {
  it.each<[string, object]>([
    ['without other faults', {}],
    [
      'with lost answers and a second worker',
      { twins: 0.3, chaos: { budget: 4, platform: ALL_CALL_FAULTS } },
    ],
  ])(
    'at any moment of a run, the replayed members are those of the platform, also after a crash, %s',
    async (_, faults) => {
      const totals = { certain: 0, uncertain: 0, unknown: 0 };
      await fc.assert(
        fc.asyncProperty(directoryEvents(8), fc.nat(), fc.nat(), async (events, seed, point) => {
          const { effects } = (await runEvents({ events, seed, skewMs: 0, ...faults })).scheduler;
          const truth = createTruth();
          const crashAt = 1 + (point % effects.length);
          const { world } = await runEvents({
            events,
            seed,
            skewMs: 0,
            ...faults,
            crashAt,
            onEffect: truth.sample,
          });
          const counts = await checkMoments(world, truth, seed);
          for (const kind of ['certain', 'uncertain', 'unknown'] as const) totals[kind] += counts[kind];
        }),
        runs(200),
      );
      expect(totals.certain).toBeGreaterThan(9 * totals.uncertain);
    },
    PATIENCE_MS,
  );
});

it('the users of a write of more than 32 users are stored in chunks that expire with the audit entry', async () => {
  const engine = await createTestEngine();
  const many = Array.from({ length: 40 }, (_, index) => `m${index}`);
  await engine.hire(...many);
  await engine.deliver({ snapshot: 'g', of: many });
  const [created] = await engine.audit('g');
  const chunks = [...engine.world.table.items.values()].filter(({ sk }) => sk.startsWith('STEP#'));
  expect(created?.step).toMatchObject({ before: '-', chunks: { chunks: 1 } });
  expect(chunks.map(({ text, expiresAt }) => [String(text).split('\n').length, typeof expiresAt])).toEqual([
    [40, 'number'],
  ]);
});
