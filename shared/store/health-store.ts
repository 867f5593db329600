import * as z from 'zod';
import type { HealthStore } from '../sync/ports/connections.ts';
import { OF_THIS_SCHEMA, understood } from './item-form.ts';
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
      return item && understood(HealthItem, item, `a connection health at ${item.pk}`);
    },

    async write(connection, { checkedAtMs, goodAtMs, lastFailure }) {
      await table.put({
        ...healthKey(connection),
        ...OF_THIS_SCHEMA,
        checkedAtMs,
        ...(goodAtMs === undefined ? {} : { goodAtMs }),
        ...(lastFailure === undefined ? {} : { lastFailure: { ...lastFailure } }),
      });
    },
  };
}
