import { expect, it } from 'vitest';
import { capacityMeter } from '../../bench/memory/capacity.ts';
import { fairOrder } from '../../bench/memory/fair-queue.ts';
import { createThroughput, NEW_TABLE, tableWithin, type Units } from '../../bench/memory/throughput.ts';
import { createTotals } from '../../bench/memory/totals.ts';
import { equal, missing } from '../../shared/store/table.ts';
import { createQueues, type QueuedMessage } from '../../simulate/queues.ts';
import { seededRandom } from '../../simulate/random.ts';
import { MemoryTable } from '../../simulate/table.ts';

/** A table with limits, whose clock stands still. */
function limitedTable(units: Units | undefined) {
  const waits: number[] = [];
  const time = { nowMs: 1_000_000 };
  const totals = createTotals();
  const throughput = units && createThroughput(() => time.nowMs, units);
  const memory = new MemoryTable({ meter: capacityMeter(totals, () => throughput) });
  const table = tableWithin(memory, {
    effect: async () => {},
    sleep: async (ms) => void waits.push(ms),
    random: () => 0.1,
    onThrottled: () => totals.add('throttled'),
    throughput: () => throughput,
  });
  return { table, time, totals, waits };
}

const keyOf = (n: number, partition = `p${n}`) => ({ pk: partition, sk: `s${n}` });

it('the table in memory accepts 4,000 write units a second, and throttles the next write in the same second', async () => {
  const { table, time, totals, waits } = limitedTable(NEW_TABLE);
  for (let n = 0; n < 4_000; n += 1) await table.put(keyOf(n), missing('pk'));
  expect(totals.take()['throttled']).toBeUndefined();
  const refused = await table.put(keyOf(4_000), missing('pk')).catch((error: Error) => error);
  expect(refused).toMatchObject({
    name: 'StoreError',
    cause: { name: 'ProvisionedThroughputExceededException' },
  });
  expect(totals.take()['throttled']).toBe(15);
  expect(waits).toEqual([50, 100, 100, 50, 100, 200, 50, 100, 400, 50, 100, 800, 50, 100]);
  time.nowMs += 1_000;
  expect(await table.put(keyOf(4_000), missing('pk'))).toBe(true);
});

it('the table in memory accepts 1,000 write units a second for one partition key, while other keys have units left', async () => {
  const { table } = limitedTable(NEW_TABLE);
  for (let n = 0; n < 1_000; n += 1) await table.put(keyOf(n, 'hot'), missing('pk'));
  await expect(table.update(keyOf(0, 'hot'), { set: { a: 1 } }, equal('a', 2))).rejects.toThrow('throttled');
  expect((await table.update(keyOf(0, 'cold'), { set: { a: 1 } })).written).toBe(true);
});

it('the table in memory throttles a write whose index partition has no units left', async () => {
  const { table } = limitedTable(NEW_TABLE);
  for (let n = 0; n < 1_000; n += 1) await table.update(keyOf(n), { set: { gpk: 'index', gsk: `s${n}` } });
  await expect(table.update(keyOf(1_001), { set: { gpk: 'index', gsk: 'last' } })).rejects.toThrow(
    'throttled',
  );
  expect((await table.update(keyOf(1_001), { set: { a: 1 } })).written).toBe(true);
});

const NOW_MS = 1_000_000;
const IMPORT = Array.from({ length: 20 }, () => 'import');
const received = (count: number, groups: readonly (string | undefined)[]) => {
  const order = (visible: QueuedMessage[], all: readonly QueuedMessage[]) => fairOrder(visible, all, NOW_MS);
  const { events } = createQueues({ nowMs: () => NOW_MS, random: seededRandom(1), order }).of;
  for (let n = 0; n < count; n += 1) events.send({ body: 'first', group: 'import' });
  events.receive(count);
  for (const group of groups) events.send({ body: '{}', group });
  return events.receive(1)[0]?.group;
};

it('the queue in memory takes the message of another group first while one group has more than 30 messages in flight', () => {
  // A receive takes any of the first three messages.
  const groups = [...IMPORT, 'quiet', 'quiet', 'quiet'];
  expect(received(31, groups)).toBe('quiet');
  expect(received(30, groups)).toBe('import');
});
