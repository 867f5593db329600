import { describe, expect, it } from 'vitest';
import { NO_GROUP } from '../../shared/domain/group.ts';
import type { GroupState } from '../../shared/domain/group-state.ts';
import { intentId, memberId, platformUserId } from '../../shared/domain/ids.ts';
import { makeStamp } from '../../shared/domain/stamp.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { story } from '../support/engine/story.ts';
import { START_MS } from '../support/engine/world.ts';

const HUNDRED_THOUSAND = 100_000;

/** Fills the table directly: what is tested is apply, not how the members came to be. */
async function filledGroup(size: number) {
  const told = await story({ settings: { match: ['id=workEmail'] } });
  const ref = told.ref('g');
  const stamp = makeStamp({ time: new Date(START_MS).toISOString(), id: 'e', source: 's' });
  const { onlooker } = told.world;
  await onlooker.hire(
    Array.from({ length: size }, (_, index) => ({ role: `r${index}`, email: `m${index}@acme.test` })),
  );
  for (let index = 0; index < size; index += 1) {
    const member = memberId(`m${index}@acme.test`);
    await onlooker.desired.joinMember(ref, { member, register: { value: 'present', stamp } }, START_MS);
  }
  const named = { ...NO_GROUP, upserted: stamp, name: { value: 'Everybody', stamp } };
  await onlooker.desired.markDirty(ref, { nowMs: START_MS, wakeAtMs: START_MS, isAtOnce: true }, named);
  return { ...told, onlooker, stamp, at: ref };
}

describe('a group of 100,000 members', () => {
  it('keeps its view in chunks under the limit of an item, and reads it back as it was', async () => {
    const { world, ref } = await story();
    const { groups } = world.onlooker;
    const users = new Map(
      Array.from({ length: HUNDRED_THOUSAND }, (_, index) => [
        platformUserId(`00000000-0000-4000-8000-${String(index).padStart(12, '0')}`),
        index % 2 === 0,
      ]),
    );
    const view = { name: 'Every\nbody', spokeId: 'g', users };
    const pointer = await groups.prepareView({ ref: ref('g') } as GroupState, intentId('i1'), view);
    expect(pointer.size).toBe(HUNDRED_THOUSAND);
    const sizes = [...world.table.items.values()].map((item) =>
      Buffer.byteLength(String(item['text'] ?? '')),
    );
    expect(Math.max(...sizes)).toBeLessThanOrEqual(350_000);
    expect(await groups.readView(ref('g'), pointer)).toEqual(view);
  });

  it('is applied in one write, the next change in one more, and loses nobody with a chunk of its view', async () => {
    const size = 2_000;
    const { world, at, onlooker, shown } = await filledGroup(size);
    const marked = async () => {
      const nowMs = world.nowMs();
      await onlooker.desired.markDirty(at, { nowMs, wakeAtMs: nowMs, isAtOnce: true });
      return applyGroup(at, onlooker);
    };
    expect(await applyGroup(at, onlooker)).toMatchObject({ outcome: 'written', writes: [{ added: size }] });
    const late = makeStamp({ time: new Date(START_MS + 1_000).toISOString(), id: 'f', source: 's' });
    const register = { value: 'absent', stamp: late } as const;
    await onlooker.desired.joinMember(at, { member: memberId('m7@acme.test'), register }, START_MS);
    expect(await marked()).toMatchObject({ outcome: 'written', writes: [{ removed: 1 }] });
    for (const item of world.table.items.values()) if (item.sk.startsWith('VIEW#')) world.table.remove(item);
    await marked();
    expect(shown('g')[0]).toHaveLength(size - 1);
    const counts = { applied: size - 1 };
    expect(await onlooker.groups.read(at)).toMatchObject({ settled: 'in_sync', counts });
  });
});
