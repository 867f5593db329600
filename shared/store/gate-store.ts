import * as z from 'zod';
import { type Gate, OPEN_GATE } from '../domain/gate.ts';
import { groupId, platformGroupId } from '../domain/ids.ts';
import type { GateStore, HealthStore } from '../sync/ports/connections.ts';
import { OF_THIS_SCHEMA, plain, understood } from './item-form.ts';
import { gateKey, healthKey } from './keys.ts';
import { equal, missing, type Table } from './table.ts';

const GateItem = z.lazy(() =>
  z.object({
    state: z.enum(['open', 'backoff', 'unauthorized', 'paused']),
    reason: z.string().exactOptional(),
    sinceMs: z.number().exactOptional(),
    untilMs: z.number().exactOptional(),
    closings: z.number(),
    secretVersion: z.string().exactOptional(),
    refusedAtMs: z.number().exactOptional(),
    failing: z.array(z.string().transform(groupId)).exactOptional(),
    canary: z.string().transform(groupId).exactOptional(),
    witness: z.string().transform(platformGroupId).exactOptional(),
    backlog: z.boolean().exactOptional(),
    /** Counts changes, so that one made from an old reading is refused. */
    change: z.number(),
  }),
);

export function createGateStore(table: Table): GateStore {
  return {
    async read(connection) {
      const item = await table.get(gateKey(connection));
      return item === undefined ? OPEN_GATE : understood(GateItem, item, `a gate at ${item.pk}`);
    },

    write: (connection, seen, next) => {
      const { change = 0 }: Gate & { readonly change?: number } = seen;
      return table.put(
        { ...gateKey(connection), ...plain(next), ...OF_THIS_SCHEMA, change: change + 1 },
        change === 0 ? missing('pk') : equal('change', change),
      );
    },
  };
}

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

    async write(connection, health) {
      await table.put({ ...healthKey(connection), ...OF_THIS_SCHEMA, ...plain(health) });
    },
  };
}
