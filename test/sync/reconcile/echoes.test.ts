import { describe, expect, it } from 'vitest';
import { groupId } from '../../../shared/domain/ids.ts';
import { applyGroup } from '../../../shared/sync/apply/apply.ts';
import { ingest } from '../../../shared/sync/ingest/ingest.ts';
import { suspectTouched } from '../../../shared/sync/reconcile/suspect.ts';
import { seededRandom } from '../../../simulate/random.ts';
import { messagesOf } from '../../support/engine/directory.ts';
import { Scheduler } from '../../support/engine/scheduler.ts';
import { CONNECTION, createWorld, START_MS, takeWoken, type World } from '../../support/engine/world.ts';

const GROUPS = Array.from({ length: 25 }, (_, n) => `g${n}`);
const ROUNDS = 40;

/** One worker per group writes, while the feed, read at any moment, tells of those very writes. */
async function writeAndFollow(world: World, round: number): Promise<void> {
  const scheduler = new Scheduler({ random: world.random });
  const applies = GROUPS.map((group) => () => {
    const worker = scheduler.worker('apply');
    return applyGroup({ connection: CONNECTION, group: groupId(group) }, world.portsFor(worker));
  });
  await scheduler.run([
    ...applies,
    () => follow(world, scheduler, round),
    () => follow(world, scheduler, round + 0.5),
  ]);
}

async function follow(world: World, scheduler: Scheduler, round: number): Promise<void> {
  const ports = world.portsFor(scheduler.worker('feed'));
  const connection = await ports.connections.find(CONNECTION);
  if (connection === undefined) throw new Error('no connection');
  const platform = await ports.platforms.open(connection);
  const own = { initiator: 'EXTERNAL', type: 'EXTERNAL_GROUP_MEMBER_ADD', at: null };
  const touched = [...world.platform.groups.keys()].map(
    (id) => [id as never, [{ ...own, id: `${id}-${round}` }]] as const,
  );
  await suspectTouched(connection, new Map(touched), { platform, ports: ports as never });
}

describe('a thousand writes of our own', () => {
  it('that the feed tells of while they happen leave no record of drift, and no suspicion', async () => {
    const people = Array.from({ length: ROUNDS }, (_, n) => ({ role: `m${n}`, email: `m${n}@acme.test` }));
    const world = await createWorld({ random: seededRandom(7), people });
    for (let round = 0; round < ROUNDS; round += 1) {
      const events = GROUPS.map((id) => ({
        specversion: '1.0' as const,
        id: `${id}-${round}`,
        source: 'test',
        type: round === 0 ? 'directory.group.snapshot' : 'directory.group.member.added',
        time: new Date(START_MS - 60_000 + round * 1_000).toISOString(),
        data: {
          group: { id, ...(round === 0 ? { name: id } : {}) },
          members: [{ id: `m${round}`, email: `m${round}@acme.test` }],
        },
      }));
      await ingest(messagesOf(events), world.onlooker);
      takeWoken(world);
      await writeAndFollow(world, round);
      // What was suspected meanwhile is looked at.
      for (const group of GROUPS) {
        await applyGroup({ connection: CONNECTION, group: groupId(group) }, world.onlooker);
      }
      world.advance(1_000);
    }
    expect(world.platform.writes.length).toBeGreaterThanOrEqual(1_000);
    for await (const page of world.onlooker.drift.list(CONNECTION)) expect(page).toEqual([]);
    for (const group of GROUPS) {
      const state = await world.onlooker.groups.read({ connection: CONNECTION, group: groupId(group) });
      expect(state?.suspect).toBeUndefined();
      expect(state?.unattributed).toEqual([]);
    }
  });
});
