import { ReaderGroup } from '../domain/reader-group.ts';
import { ReaderPosition, type ReaderStore } from '../sync/ports/directory.ts';
import { OF_THIS_SCHEMA, plain, understood } from './item-form.ts';
import { READER_GROUP_PREFIX, readerGroupKey, readerKey } from './keys.ts';
import { any, equal, type Item, itemsOf, less, missing, type Table } from './table.ts';

/** Tokens only grow: once a later holder has begun, the items refuse every earlier one for ever. */
export function createReaderStore(table: Table): ReaderStore {
  return {
    async begin(connection, { token }) {
      const fenced = await table.update(readerKey(connection), { set: { token } }, noLaterThan(token));
      return fenced.written ? { position: positionOf(fenced.item) } : undefined;
    },

    async position(connection) {
      const item = await table.get(readerKey(connection));
      return item && positionOf(item);
    },

    write: (connection, position, { token }) =>
      table.put(
        { ...readerKey(connection), ...OF_THIS_SCHEMA, ...plain(position), token },
        noLaterThan(token),
      ),

    async groups(connection) {
      const partition = readerKey(connection).pk;
      const items = await itemsOf(table, { partition, prefix: READER_GROUP_PREFIX });
      return items.map((item) => understood(ReaderGroup, item, `a group of a directory at ${item.pk}`));
    },

    putGroup: (connection, group, { token }) =>
      table.put(
        { ...readerGroupKey(connection, group.group), ...OF_THIS_SCHEMA, ...plain(group), token },
        noLaterThan(token),
      ),

    removeGroup: (connection, group, { token }) =>
      table.delete(readerGroupKey(connection, group), noLaterThan(token)),
  };
}

const noLaterThan = (token: number) => any(missing('token'), less('token', token), equal('token', token));

/** The first run writes its token before it has a position. */
function positionOf(item: Item): ReaderPosition | undefined {
  if (item['cursor'] === undefined) return undefined;
  return understood(ReaderPosition, item, `a position in a directory at ${item.pk}`);
}
