import type { Change, Condition, Item, Key, QueryRequest, Table } from '../../../shared/store/table.ts';
import type { Worker } from './scheduler.ts';

/** What may go wrong with a write. `echo`: it was done, and done again by the client, which had heard no answer. */
export type TableFault = 'none' | 'refused' | 'unheard' | 'echo';

/** The table as one worker sees it: each operation waits its turn, and may fail before or after it was done. */
export function gatedTable(table: Table, worker: Worker, faultOf: () => TableFault): Table {
  const gate = (operation: string, { sk }: Key) => worker.effect(`${operation} ${itemKind(sk)}`);

  const write = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    const fault = faultOf();
    if (fault === 'refused') throw new Error('the table refused a write');
    const result = await run();
    if (fault === 'unheard') throw new Error('the answer of the table was lost');
    return fault === 'echo' ? run() : result;
  };

  return {
    async get(key) {
      await gate('get', key);
      return table.get(key);
    },
    async getMany(keys) {
      if (keys.length > 0) await gate('getMany', keys[0] as Key);
      return table.getMany(keys);
    },
    async *query(request: QueryRequest) {
      const range = request.prefix ?? request.between?.[0] ?? '';
      await worker.effect(`query ${request.index ? 'index' : itemKind(range)}`);
      yield* table.query(request);
    },
    async put(item: Item, when?: Condition) {
      await gate('put', item);
      return write(() => table.put(item, when));
    },
    async update(key: Key, change: Change, when?: Condition) {
      await gate('update', key);
      return write(() => table.update(key, change, when));
    },
    async delete(key: Key, when?: Condition) {
      await gate('delete', key);
      return write(() => table.delete(key, when));
    },
  };
}

const itemKind = (sk: string): string => /^[A-Z]+#?/.exec(sk)?.[0] ?? 'pointer';
