import type { ConnectionName } from '../domain/ids.ts';
import type { OrderChange, ScimOrder, ScimResource } from '../sync/ports/scim.ts';
import { orderKey, resourcePartition } from './scim-keys.ts';
import { itemsOf, type Table } from './table.ts';

/** A crash may have come between a resource and the generation that tells of it: nothing is missed for longer. */
const REMEMBERED_MS = 60_000;

/** Changes of this process that are kept until somebody asks for the order; past this it is read anew. */
const MAX_CHANGES = 1_000;

interface Known {
  generation: number;
  order: Promise<ScimOrder>;
  readonly readAtMs: number;
  /** What this process changed, by the generation that it made. */
  readonly changes: Map<number, (order: ScimOrder) => ScimOrder>;
}

/**
 * Which resources there are, remembered in this process: a generation in the table rises whenever one comes or goes, so
 * a page of many thousands costs one small read beside its own. Only what others changed has all of them read anew.
 */
export function createScimOrders(table: Table) {
  const known = new Map<string, Known>();
  const nameOf = (connection: ConnectionName, type: ScimResource['type']) => `${connection}#${type}`;

  async function load(connection: ConnectionName, type: ScimResource['type']): Promise<ScimOrder> {
    const partition = resourcePartition(connection, type);
    const items = await itemsOf(table, { partition, only: ['id', 'state'] });
    const idsOf = (isLive: boolean) =>
      items.filter(({ state }) => (state === 'live') === isLive).map(({ id }) => String(id));
    return { ids: idsOf(true), ending: idsOf(false) };
  }

  return {
    async read(connection: ConnectionName, type: ScimResource['type'], nowMs: number): Promise<ScimOrder> {
      const item = await table.get(orderKey(connection, type));
      const generation = Number(item?.['generation'] ?? 0);
      const name = nameOf(connection, type);
      const found = known.get(name);
      if (found !== undefined && nowMs - found.readAtMs < REMEMBERED_MS) {
        while (found.generation < generation) {
          const change = found.changes.get(found.generation + 1);
          if (change === undefined) break;
          found.order = found.order.then(change);
          found.order.catch(() => known.delete(name));
          found.generation += 1;
          found.changes.delete(found.generation);
        }
        if (found.generation === generation) return found.order;
      }
      const order = load(connection, type);
      known.set(name, { generation, readAtMs: nowMs, order, changes: new Map() });
      order.catch(() => known.delete(name));
      return order;
    },

    /** After one came or went, before its client is told. */
    async note(connection: ConnectionName, { type, id, state }: OrderChange): Promise<void> {
      const noted = await table.update(orderKey(connection, type), { add: { generation: 1 } });
      const { changes } = known.get(nameOf(connection, type)) ?? {};
      if (!noted.written || changes === undefined) return;
      changes.set(Number(noted.item['generation']), ({ ids, ending }) => {
        const without = (some: readonly string[]) => some.filter((one) => one !== id);
        const others = without(ids);
        return { ids: state === 'live' ? [...others, id].sort() : others, ending: without(ending) };
      });
      if (changes.size > MAX_CHANGES) known.delete(nameOf(connection, type));
    },
  };
}
