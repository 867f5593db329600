import type { ConnectionName } from '../domain/ids.ts';
import type { ScimOrder, ScimResource } from '../sync/ports/scim.ts';
import { orderKey, resourcePartition } from './scim-keys.ts';
import type { Table } from './table.ts';

/** A crash may have come between a resource and the generation that tells of it: nothing is missed for longer. */
const REMEMBERED_MS = 60_000;

interface Known {
  readonly generation: number;
  readonly readAtMs: number;
  readonly order: Promise<ScimOrder>;
}

/**
 * Which resources there are, remembered in this process: a generation in the table rises whenever one comes or goes, so
 * a page of many thousands costs one small read beside its own.
 */
export function createScimOrders(table: Table) {
  const known = new Map<string, Known>();

  async function load(connection: ConnectionName, type: ScimResource['type']): Promise<ScimOrder> {
    const ids: string[] = [];
    const ending: string[] = [];
    for await (const page of table.query({ partition: resourcePartition(connection, type) })) {
      for (const { id, state } of page) (state === 'live' ? ids : ending).push(String(id));
    }
    return { ids, ending };
  }

  return {
    async read(connection: ConnectionName, type: ScimResource['type'], nowMs: number): Promise<ScimOrder> {
      const item = await table.get(orderKey(connection, type));
      const generation = Number(item?.['generation'] ?? 0);
      const name = `${connection}#${type}`;
      const found = known.get(name);
      const isFresh = found !== undefined && nowMs - found.readAtMs < REMEMBERED_MS;
      if (isFresh && found.generation === generation) return found.order;
      const order = load(connection, type);
      known.set(name, { generation, readAtMs: nowMs, order });
      order.catch(() => known.delete(name));
      return order;
    },

    /** After one came or went, before its client is told. */
    async note(connection: ConnectionName, type: ScimResource['type']): Promise<void> {
      await table.update(orderKey(connection, type), { add: { generation: 1 } });
    },
  };
}
