import type { Table } from '../../shared/store/table.ts';
import type { Engine } from './engine.ts';

/** The stores' table straight over the engine, for sizes at which the SDK's own work would hide ours. */
export const createMemoryTable = (engine: Engine): Table => ({
  get: async (key) => engine.get(key),
  getMany: async (keys) => {
    const distinct = new Map(keys.map((key) => [`${key.pk}\n${key.sk}`, key]));
    return [...distinct.values()].flatMap((key) => engine.get(key) ?? []);
  },
  async *query({ pageSize, ...request }) {
    let after: string | undefined;
    do {
      const { items, last } = engine.page({ ...request, limit: pageSize, after });
      yield items;
      after = last;
    } while (after !== undefined);
  },
  put: async (item, when) => engine.put(item, when),
  update: async (key, change, when) => {
    const item = engine.update(key, change, when);
    return item === undefined ? { written: false } : { written: true, item };
  },
  delete: async (key, when) => engine.delete(key, when),
});
