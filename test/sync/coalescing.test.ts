import { describe, expect, it } from 'vitest';
import { applyDelaySeconds } from '../../shared/contract/topology.ts';
import { groupId } from '../../shared/domain/ids.ts';
import { createApplyQueue } from '../../shared/queues/apply-queue.ts';
import { createQueues, queueUrl } from '../../simulate/queues.ts';
import { seededRandom } from '../../simulate/random.ts';
import { story } from '../support/engine/story.ts';
import { CONNECTION, START_MS } from '../support/engine/world.ts';

const WINDOW_MS = 5_000;
const REF = { connection: CONNECTION, group: groupId('g') };

/** Sends at a true time, by a sender whose clock is off. */
async function sendAll(sends: readonly (readonly [atMs: number, skewMs: number])[]) {
  let nowMs = 0;
  const queues = createQueues({
    nowMs: () => nowMs,
    random: seededRandom(1),
    applyDelaySeconds: applyDelaySeconds(WINDOW_MS / 1_000),
  });
  for (const [atMs, skewMs] of sends) {
    nowMs = START_MS + atMs;
    const sender = createApplyQueue(queues.client(), {
      queueUrl: queueUrl('apply'),
      coalesceMs: WINDOW_MS,
      clock: () => nowMs + skewMs,
      newId: () => 'never used',
    });
    await sender.wake([REF]);
  }
  return queues.of.apply.messages.map(({ visibleAtMs }) => visibleAtMs - START_MS);
}

describe('a window', () => {
  it('makes one message of all that is sent within it, delivered after its end', async () => {
    expect(
      await sendAll([
        [0, 0],
        [1, 0],
        [WINDOW_MS - 1, 0],
      ]),
    ).toEqual([WINDOW_MS + 2_000]);
    expect(
      await sendAll([
        [WINDOW_MS - 1, 0],
        [WINDOW_MS, 0],
      ]),
    ).toHaveLength(2);
  });

  /** Whatever is dropped was written before it was sent; the message that was kept must come after that. */
  it('delivers after everything that it covers was written, while clocks differ by less than two seconds', async () => {
    const random = seededRandom(3);
    for (let run = 0; run < 2_000; run += 1) {
      const skew = () => Math.round((random.next() * 2 - 1) * 999);
      const sends = Array.from({ length: 6 }, () => [random.below(4 * WINDOW_MS), skew()] as const).sort(
        ([a], [b]) => a - b,
      );
      const deliveries = await sendAll(sends);
      const [last = 0] = sends.at(-1) ?? [];
      expect(Math.max(...deliveries)).toBeGreaterThan(last);
      for (const [sentMs] of sends) expect(deliveries.some((atMs) => atMs > sentMs)).toBe(true);
    }
  });

  it('with clocks further apart may miss a change, which the pump then finds', async () => {
    expect(
      await sendAll([
        [0, 4_000],
        [WINDOW_MS + 2_500, -4_000],
      ]),
    ).toEqual([WINDOW_MS + 2_000]);
    const { world, tell, shown, hire, ref } = await story({ coalesceMs: WINDOW_MS });
    await hire('a', 'b');
    await tell({ snapshot: 'g', of: ['a'] });
    // A message that SQS dropped: written and marked, but nothing in the queue.
    const { desired } = world.onlooker;
    const stamp = (await world.onlooker.groups.members(ref('g')))[0]?.stamp;
    if (stamp === undefined) throw new Error('expected a member');
    await desired.joinGroup(ref('g'), {
      upserted: stamp,
      deleted: stamp,
      snapshot: stamp,
    });
    await desired.markDirty(ref('g'), { nowMs: world.nowMs(), dueMs: world.nowMs() });
    expect(world.applyQueue.messages).toEqual([]);
    await tell();
    expect(shown('g')).toEqual([]);
  });

  it('turns a burst of changes into one write', async () => {
    const { world, say, tell, shown, hire } = await story({ coalesceMs: WINDOW_MS });
    await hire('a', 'b', 'c');
    say(
      { snapshot: 'g', of: ['a'] },
      { add: ['b'], to: 'g' },
      { add: ['c'], to: 'g' },
      { take: ['a'], from: 'g' },
    );
    await tell();
    expect(shown('g')).toEqual([['u-b', 'u-c']]);
    expect(world.platform.writes).toHaveLength(1);
  });

  it('makes one difference of a deletion and a creation', async () => {
    const { world, tell, shown, hire } = await story({ coalesceMs: WINDOW_MS });
    await hire('a', 'b');
    await tell({ snapshot: 'g', of: ['a'] });
    await tell({ remove: 'g' }, { snapshot: 'g', of: ['b'] });
    expect(shown('g')).toEqual([['u-b']]);
    expect(world.platform.writes.map(({ action }) => action)).toEqual(['create', 'patch']);
  });
});
