import type { Table } from '../../../../shared/store/table.ts';
import { tableOf } from '../../../../simulate/engine.ts';
import type { MemoryTable } from '../../../../simulate/table.ts';
import { Crash, type Worker } from '../../../../simulate/worker.ts';

/** A process that dies before its n-th effect, counted from 1, and does nothing after it. */
export function mortalWorker(diesAt: number): Worker {
  let effects = 0;
  return {
    name: 'mortal',
    skewMs: 0,
    isDead: () => effects >= diesAt,
    effect: async (kind) => {
      effects += 1;
      if (effects >= diesAt) throw new Crash(kind);
    },
  };
}

/** The table as such a process sees it. */
export const mortal = (table: MemoryTable, diesAt: number): Table =>
  tableOf(table, mortalWorker(diesAt), () => 'none');
