import * as z from 'zod';
import { groupText, number } from '../domain/forms.ts';
import { type ConnectionName, type GroupId, groupId } from '../domain/ids.ts';
import { ReaderGroup } from '../domain/reader-group.ts';
import { SOURCES } from '../domain/source.ts';
import { type MovedGroup, ReaderPosition, type ReaderStore } from '../sync/ports/directory.ts';
import { OF_THIS_SCHEMA, plain, understood } from './item-form.ts';
import {
  READER_GROUP_PREFIX,
  READER_MOVE_PREFIX,
  READER_PUSHED_PREFIX,
  readerGroupKey,
  readerKey,
  readerMoveKey,
  readerPushedKey,
} from './keys.ts';
import { any, equal, type Item, itemsOf, less, missing, type Table } from './table.ts';

/**
 * Each new holder of the lease has a greater token than all earlier holders. A holder first stores its token. After
 * that, the writes of earlier holders are refused.
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
      const [items, moves] = await Promise.all([
        itemsOf(table, { partition, prefix: READER_GROUP_PREFIX }),
        readMoves(table, connection),
      ]);
      const groups = items.map((item) =>
        understood(ReaderGroup, item, `a group of a directory at ${item.pk}`),
      );
      return moves.length === 0 ? groups : withMoves(groups, moves);
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
        readerMoveKey(connection, group),
      ]);
      const bySort = new Map((await table.getMany(keys)).map((item) => [item.sk, item]));
      return new Map(
        groups.flatMap((group): (readonly [GroupId, GroupId])[] => {
          const moved = bySort.get(readerMoveKey(connection, group).sk);
          if (moved !== undefined) {
            const { to, source } = moveOf(moved);
            return source === 'directory' ? [[group, to]] : [];
          }
          const own = bySort.get(readerGroupKey(connection, group).sk);
          return own === undefined || own['other'] !== undefined ? [] : [[group, group]];
        }),
      );
    },

    noteMove: async (connection, move) => {
      await table.put({ ...readerMoveKey(connection, move.from), ...OF_THIS_SCHEMA, ...move });
    },

    async endMove(connection, { openSinceMs = 0, ...move }, isMoved) {
      const key = readerMoveKey(connection, move.from);
      const isAsSeen = equal('openSinceMs', openSinceMs);
      if (!isMoved) return void (await table.delete(key, isAsSeen));
      await table.delete(readerMoveKey(connection, move.to), missing('openSinceMs'));
      await table.put({ ...key, ...OF_THIS_SCHEMA, ...move }, isAsSeen);
    },

    dropMove: async (connection, from) => {
      await table.delete(readerMoveKey(connection, from), missing('openSinceMs'));
    },

    moves: (connection) => readMoves(table, connection),

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

    async forget(connection) {
      const partition = readerKey(connection).pk;
      const items = await itemsOf(table, { partition, prefix: READER_GROUP_PREFIX });
      for (const { pk, sk } of items) await table.delete({ pk, sk });
      await table.delete(readerKey(connection));
    },
  };
}

const Move = z.lazy(() =>
  z.object({
    from: groupText,
    to: groupText,
    source: z.enum(SOURCES),
    openSinceMs: number.exactOptional(),
    yields: z.enum(['name', 'id']).exactOptional(),
  }),
);

const moveOf = (item: Item): MovedGroup => understood(Move, item, `a moved group at ${item.pk}`);

async function readMoves(table: Table, connection: ConnectionName): Promise<readonly MovedGroup[]> {
  const partition = readerKey(connection).pk;
  return (await itemsOf(table, { partition, prefix: READER_MOVE_PREFIX })).map(moveOf);
}

function withMoves(groups: readonly ReaderGroup[], moves: readonly MovedGroup[]): readonly ReaderGroup[] {
  const byGroup = new Map(moves.map((move) => [move.from, move]));
  return groups.map((group) => {
    const last = lastMove(group.group, byGroup);
    if (last === undefined || (last.source === 'directory' && last.to === group.group)) return group;
    return { ...group, other: last.to };
  });
}

/**
 * Returns the last move of a group that may have moved several times; undefined if it has not moved. The last move
 * names the group that replaces it now.
 */
function lastMove(group: GroupId, byGroup: ReadonlyMap<GroupId, MovedGroup>): MovedGroup | undefined {
  const passed = new Set<GroupId>();
  let last: MovedGroup | undefined;
  let next = byGroup.get(group);
  while (next !== undefined && !passed.has(next.from)) {
    passed.add(next.from);
    last = next;
    next = byGroup.get(next.to);
  }
  return last;
}

const noLaterThan = (token: number) => any(missing('token'), less('token', token), equal('token', token));

/** Returns undefined if the item has no position, because the first run stores its token before it has a position. */
function positionOf(item: Item): ReaderPosition | undefined {
  if (item['cursor'] === undefined) return undefined;
  return understood(ReaderPosition, item, `a position in a directory at ${item.pk}`);
}
