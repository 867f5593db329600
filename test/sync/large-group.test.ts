import { expect, it } from 'vitest';
import { NO_GROUP } from '../../shared/domain/group.ts';
import type { GroupState, ViewPointer } from '../../shared/domain/group-state.ts';
import {
  intentId,
  memberId,
  platformGroupId,
  platformUserId,
  versionToken,
} from '../../shared/domain/ids.ts';
import { makeStamp } from '../../shared/domain/stamp.ts';
import { readChunks, writeChunks } from '../../shared/store/chunks.ts';
import { createGroupStore } from '../../shared/store/group-store.ts';
import type { Item } from '../../shared/store/table.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { itemBytes } from '../../simulate/table/values.ts';
import { MemoryTable } from '../../simulate/table.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { START_MS } from '../support/engine/world.ts';

/** Writes registers directly to the table, because these tests are not about ingest. */
async function filledGroup(size: number, domain = 'acme.test') {
  const engine = await createTestEngine({ settings: { match: ['id=workEmail'] } });
  const ref = engine.ref('g');
  const stamp = makeStamp({ time: new Date(START_MS).toISOString(), id: 'e', source: 's' });
  const { toolPorts } = engine.world;
  await toolPorts.hire(
    Array.from({ length: size }, (_, index) => ({ role: `r${index}`, email: `m${index}@${domain}` })),
  );
  for (let index = 0; index < size; index += 1) {
    const member = memberId(`m${index}@${domain}`);
    await toolPorts.desired.joinMember(ref, { member, register: { value: 'present', stamp } }, START_MS);
  }
  const named = { ...NO_GROUP, upserted: stamp, name: { value: 'Everybody', stamp } };
  await toolPorts.desired.markDirty(ref, { nowMs: START_MS, wakeAtMs: START_MS, isAtOnce: true }, named);
  return { ...engine, toolPorts, stamp, at: ref };
}

it('the audit lists as many users as an entry can hold, even with ids of the maximum length', async () => {
  const { at, toolPorts, audit } = await filledGroup(1_000, 'x'.repeat(507));
  expect(await applyGroup(at, toolPorts)).toMatchObject({ outcome: 'written' });
  const [entry] = await audit('g');
  expect(entry).toMatchObject({ outcome: 'written', changeCount: 1_001 });
  expect(entry?.changes.length).toBeGreaterThan(200);
});

it('a view of 100,000 members is stored in small items, an addition writes two items, and lost items are replaced', async () => {
  const { world, ref } = await createTestEngine();
  const { table } = world;
  const groups = createGroupStore(table);
  const ids = Array.from({ length: 100_001 }, (_, n) =>
    platformUserId(`${String(n).padStart(12, '0')}-4000`),
  );
  const seen = { ref: ref('g') } as GroupState;
  const write = async (name: string, count: number, view?: ViewPointer) => {
    const before = new Set(table.items.keys());
    const users = new Map(ids.slice(0, count).map((id) => [id, true]));
    const shown = { name, spokeId: 'g', users };
    const linked = view && { link: { id: platformGroupId('p'), version: versionToken('v1'), view } };
    const pointer = await groups.prepareView({ ...seen, ...linked }, intentId(name), shown);
    expect(await groups.readView(ref('g'), pointer)).toEqual(shown);
    const made = [...table.items].filter(([key]) => !before.has(key));
    expect(Math.max(...made.map(([, item]) => itemBytes(item)))).toBeLessThan(16_000);
    return { pointer, made: made.length };
  };
  const first = await write('Every\nbody', 100_000);
  const second = await write('One more', 100_001, first.pointer);
  expect([first.made, second.made]).toEqual([129, 2]);
  const [bucket] = [...table.items.values()].filter(({ sk }) => sk.startsWith('VIEW#~'));
  table.remove(bucket as Item);
  expect(await groups.readView(ref('g'), second.pointer)).toBeUndefined();
  await write('Whole again', 100_001, second.pointer);
});

it('a group of 2,000 members is created in one write, and keeps its members after its view is lost', async () => {
  const size = 2_000;
  const { world, at, toolPorts, shown } = await filledGroup(size);
  const marked = async () => {
    const nowMs = world.nowMs();
    await toolPorts.desired.markDirty(at, { nowMs, wakeAtMs: nowMs, isAtOnce: true });
    return applyGroup(at, toolPorts);
  };
  expect(await applyGroup(at, toolPorts)).toMatchObject({ outcome: 'written', writes: [{ added: size }] });
  const late = makeStamp({ time: new Date(START_MS + 1_000).toISOString(), id: 'f', source: 's' });
  const register = { value: 'absent', stamp: late } as const;
  await toolPorts.desired.joinMember(at, { member: memberId('m7@acme.test'), register }, START_MS);
  expect(await marked()).toMatchObject({ outcome: 'written', writes: [{ removed: 1 }] });
  for (const item of world.table.items.values()) if (item.sk.startsWith('VIEW#')) world.table.remove(item);
  await marked();
  expect(shown('g')[0]).toHaveLength(size - 1);
  const counts = { applied: size - 1 };
  expect(await toolPorts.groups.read(at)).toMatchObject({ settled: 'in_sync', counts });
});

it('lines that are too long for one item are stored in several, and are all read again', async () => {
  const table = new MemoryTable();
  const keyOf = (index: number) => ({ pk: 'p', sk: `C#${index}` });
  const lines = Array.from({ length: 1_000 }, (_, index) => `${index}`.padEnd(507, 'x'));
  const stored = await writeChunks(table, keyOf, lines);
  expect([stored.chunks, table.largest.bytes < 400_000]).toEqual([2, true]);
  expect(await readChunks(table, keyOf, stored)).toEqual(lines);
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
