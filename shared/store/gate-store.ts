import * as z from 'zod';
import { number } from '../domain/forms.ts';
import { Gate, OPEN_GATE } from '../domain/gate.ts';
import { type GateStore, Health, type HealthStore } from '../sync/ports/connections.ts';
import { OF_THIS_SCHEMA, plain, understood } from './item-form.ts';
import { gateKey, healthKey } from './keys.ts';
import { equal, missing, type Table } from './table.ts';

/** `change` counts changes, so that one made from an old reading is refused. */
const GateItem = z.lazy(() => Gate.unwrap().extend({ change: number }));

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

export function createHealthStore(table: Table): HealthStore {
  return {
    async read(connection) {
      const item = await table.get(healthKey(connection));
      return item && understood(Health, item, `a connection health at ${item.pk}`);
    },

    async write(connection, health) {
      await table.put({ ...healthKey(connection), ...OF_THIS_SCHEMA, ...plain(health) });
    },
  };
}
