import * as z from 'zod';
import type { HealthStore } from '../sync/ports/connections.ts';
import { CorruptItemError } from '../sync/ports/store-errors.ts';
import { healthKey } from './keys.ts';
import type { Table } from './table.ts';

const HealthItem = z.lazy(() =>
  z.object({
    checkedAtMs: z.number(),
    goodAtMs: z.number().exactOptional(),
    lastFailure: z.object({ atMs: z.number(), message: z.string() }).exactOptional(),
  }),
);

export function createHealthStore(table: Table): HealthStore {
  return {
    async read(connection) {
      const item = await table.get(healthKey(connection));
      if (item === undefined) return undefined;
      const parsed = HealthItem.safeParse(item);
      if (!parsed.success)
        throw new CorruptItemError('expected a connection health', { cause: parsed.error });
      return parsed.data;
    },

    async write(connection, { checkedAtMs, goodAtMs, lastFailure }) {
      await table.put({
        ...healthKey(connection),
        checkedAtMs,
        ...(goodAtMs === undefined ? {} : { goodAtMs }),
        ...(lastFailure === undefined ? {} : { lastFailure: { ...lastFailure } }),
      });
    },
  };
}
