import { expect, it } from 'vitest';
import { createTrendStore } from '../../../shared/store/connection-states.ts';
import { recordTrend } from '../../../shared/sync/reconcile/levels.ts';
import { MemoryTable } from '../../../simulate/table.ts';
import { CONNECTION } from './support/world.ts';

const HOUR_MS = 3_600_000;
const GROUPS = [
  { holdWaits: true, dirtySinceMs: 1 },
  { failedAtMs: 1, dirtySinceMs: 1 },
  { dirtySinceMs: 1 },
  {},
];

it('the trend has one entry for each hour of the last day, and no entry for an hour in which nothing ran', async () => {
  const trends = createTrendStore(new MemoryTable());
  let nowMs = 1_000 * HOUR_MS;
  const pages = async function* (page: readonly unknown[]) {
    yield page;
  };
  const index = { all: () => pages(GROUPS), pending: () => pages([1, 2]) } as never;
  const record = () => recordTrend(CONNECTION, { index, trends, clock: () => nowMs });
  await record();
  nowMs += HOUR_MS / 2;
  await record();
  nowMs += 3 * HOUR_MS;
  await record();
  const counts = { held: 1, failed: 1, waiting: 1, pending: 2 };
  expect(await trends.read(CONNECTION)).toEqual([
    { atMs: 1_000 * HOUR_MS, ...counts },
    { atMs: 1_003 * HOUR_MS, ...counts },
  ]);
  nowMs += 22 * HOUR_MS;
  await record();
  expect((await trends.read(CONNECTION)).map(({ atMs }) => atMs / HOUR_MS)).toEqual([1_003, 1_025]);
});
