import { type GroupId, groupId } from '../domain/ids.ts';
import { ReaderGroup } from '../domain/reader-group.ts';
import { ReaderPosition, type ReaderStore } from '../sync/ports/directory.ts';
import { OF_THIS_SCHEMA, plain, understood } from './item-form.ts';
import {
  READER_ALIAS_PREFIX,
  READER_GROUP_PREFIX,
  READER_PUSHED_PREFIX,
  readerAliasKey,
  readerGroupKey,
  readerKey,
  readerPushedKey,
} from './keys.ts';
import { any, equal, type Item, itemsOf, less, missing, type Table } from './table.ts';

/**
 * The tokens of a lease only grow. A new holder of the lease stores its token first. After that, the writes of earlier
 * holders are refused.
 */
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

    async owned(connection, groups) {
      const keys = groups.flatMap((group) => [
        readerGroupKey(connection, group),
        readerAliasKey(connection, group),
      ]);
      const bySort = new Map((await table.getMany(keys)).map((item) => [item.sk, item]));
      return new Map(
        groups.flatMap((group): (readonly [GroupId, GroupId])[] => {
          const own = bySort.get(readerGroupKey(connection, group).sk);
          if (own !== undefined && own['other'] === undefined) return [[group, group]];
          const alias = bySort.get(readerAliasKey(connection, group).sk);
          return alias === undefined ? [] : [[group, groupId(String(alias['takenOverBy']))]];
        }),
      );
    },

    takeOver: async (connection, group, as) => {
      await table.put({ ...readerAliasKey(connection, group), ...OF_THIS_SCHEMA, group, takenOverBy: as });
    },

    async takenOver(connection) {
      const partition = readerKey(connection).pk;
      const items = await itemsOf(table, { partition, prefix: READER_ALIAS_PREFIX });
      return new Map(
        items.map(({ group, takenOverBy }) => [groupId(String(group)), groupId(String(takenOverBy))]),
      );
    },

    notePushed: async (connection, group, atMs) => {
      await table.put({ ...readerPushedKey(connection, group), ...OF_THIS_SCHEMA, group, atMs });
    },

    async pushed(connection) {
      const partition = readerKey(connection).pk;
      const items = await itemsOf(table, { partition, prefix: READER_PUSHED_PREFIX });
      return items.map(({ group, atMs }) => ({ group: groupId(String(group)), atMs: Number(atMs) }));
    },

    dropPushed: async (connection, { group, atMs }) => {
      await table.delete(readerPushedKey(connection, group), equal('atMs', atMs));
    },
  };
}

const noLaterThan = (token: number) => any(missing('token'), less('token', token), equal('token', token));

/**
 * Returns undefined if the item has a token but no position. The first run writes its token before it has a position.
 */
function positionOf(item: Item): ReaderPosition | undefined {
  if (item['cursor'] === undefined) return undefined;
  return understood(ReaderPosition, item, `a position in a directory at ${item.pk}`);
}
