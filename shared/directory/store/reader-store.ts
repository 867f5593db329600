import * as z from 'zod';
import { groupText, number, stampText } from '../../domain/forms.ts';
import type { MovedGroup } from '../../domain/group-state.ts';
import { type ConnectionName, type GroupId, groupId } from '../../domain/ids.ts';
import { SOURCES } from '../../domain/source.ts';
import { createPositionStore, noLaterThan } from '../../store/connection-states.ts';
import { OF_THIS_SCHEMA, plain, understood } from '../../store/item-form.ts';
import {
  READER_GROUP_PREFIX,
  READER_MOVE_PREFIX,
  READER_PUSHED_PREFIX,
  readerGroupKey,
  readerKey,
  readerMoveKey,
  readerPushedKey,
} from '../../store/keys.ts';
import { equal, type Item, itemsOf, missing, type Table } from '../../store/table.ts';
import type { Lease } from '../../sync/ports/reconcile.ts';
import { type PushedGroup, ReaderPosition } from '../ports.ts';
import { ReaderGroup } from '../rules/reader-group.ts';

/**
 * The stored state of the reader. Each new holder of the lease has a greater token than all earlier holders. A holder
 * first stores its token. After that, the position and each group refuse the writes of earlier holders.
 */
export function createReaderStore(table: Table) {
  /** Returns the last move of each moved group, which names the owner now. A group of the reader owns itself. */
  async function owners(connection: ConnectionName, groups: readonly GroupId[]) {
    const keys = groups.flatMap((group) => [
      readerGroupKey(connection, group),
      readerMoveKey(connection, group),
    ]);
    const bySort = new Map((await table.getMany(keys)).map((item) => [item.sk, item]));
    const isMoved = groups.some((group) => bySort.has(readerMoveKey(connection, group).sk));
    const moves = byGroup(isMoved ? await readMoves(table, connection) : []);
    return new Map(
      groups.flatMap((group): (readonly [GroupId, Pick<MovedGroup, 'to' | 'source'>])[] => {
        const last = lastMove(group, moves);
        if (last !== undefined) return [[group, last]];
        const own = bySort.get(readerGroupKey(connection, group).sk);
        const isOwned = own !== undefined && own['other'] === undefined;
        return isOwned ? [[group, { to: group, source: 'directory' }]] : [];
      }),
    );
  }

  const { read, begin, write } = createPositionStore<ReaderPosition>(table, {
    keyOf: readerKey,
    form: ReaderPosition,
    required: 'cursor',
    what: 'a position in a directory',
  });

  return {
    position: read,
    begin,
    write,

    /** Returns all known groups. If a group has moved to another source, `other` has its id in that source. */
    async groups(connection: ConnectionName): Promise<readonly ReaderGroup[]> {
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

    putGroup: (connection: ConnectionName, group: ReaderGroup, { token }: Lease) =>
      table.put(
        { ...readerGroupKey(connection, group.group), ...OF_THIS_SCHEMA, ...plain(group), token },
        noLaterThan(token),
      ),

    removeGroup: (connection: ConnectionName, group: GroupId, { token }: Lease): Promise<boolean> =>
      table.delete(readerGroupKey(connection, group), noLaterThan(token)),

    owners,

    /**
     * Returns the groups whose source is the reader, each with its id in the directory. This id differs from the group's
     * own id if the reader took the group over from a source that uses another id.
     */
    async owned(connection: ConnectionName, groups: readonly GroupId[]) {
      const found = [...(await owners(connection, groups))];
      return new Map(
        found.flatMap(([group, { to, source }]) => (source === 'directory' ? [[group, to] as const] : [])),
      );
    },

    /** Records that the group `from` moved to another source, with the id `to`. Replaces an earlier move of `from`. */
    noteMove: async (connection: ConnectionName, move: MovedGroup): Promise<void> => {
      await table.put({ ...readerMoveKey(connection, move.from), ...OF_THIS_SCHEMA, ...move });
    },

    /** Ends an open move. Its record replaces the record of an earlier move of the group `to`, if the group has moved. */
    async endMove(
      connection: ConnectionName,
      { openSinceMs = 0, floor: _, ...move }: MovedGroup,
      isMoved: boolean,
    ) {
      const key = readerMoveKey(connection, move.from);
      const isAsSeen = equal('openSinceMs', openSinceMs);
      if (!isMoved) return void (await table.delete(key, isAsSeen));
      await table.delete(readerMoveKey(connection, move.to), missing('openSinceMs'));
      await table.put({ ...key, ...OF_THIS_SCHEMA, ...move }, isAsSeen);
    },

    /** Removes the record of the group's move. An open move stays. */
    dropMove: async (connection: ConnectionName, from: GroupId): Promise<void> => {
      await table.delete(readerMoveKey(connection, from), missing('openSinceMs'));
    },

    moves: (connection: ConnectionName): Promise<readonly MovedGroup[]> => readMoves(table, connection),

    /** Notes that another source has sent an event about the group. The next run reads the group. */
    notePushed: async (connection: ConnectionName, group: GroupId, atMs: number): Promise<void> => {
      await table.put({ ...readerPushedKey(connection, group), ...OF_THIS_SCHEMA, group, atMs });
    },

    async pushed(connection: ConnectionName): Promise<readonly PushedGroup[]> {
      const partition = readerKey(connection).pk;
      const items = await itemsOf(table, { partition, prefix: READER_PUSHED_PREFIX });
      return items.map(({ group, atMs }) => ({ group: groupId(String(group)), atMs: Number(atMs) }));
    },

    /** Removes the note, if no later event has replaced it. */
    dropPushed: async (connection: ConnectionName, { group, atMs }: PushedGroup): Promise<void> => {
      await table.delete(readerPushedKey(connection, group), equal('atMs', atMs));
    },

    /** Removes the position and the groups of a directory that is no longer read. The records of moves stay. */
    async forget(connection: ConnectionName): Promise<void> {
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
    floor: stampText.exactOptional(),
    yields: z.enum(['name', 'id']).exactOptional(),
  }),
);

const moveOf = (item: Item): MovedGroup => understood(Move, item, `a moved group at ${item.pk}`);

async function readMoves(table: Table, connection: ConnectionName): Promise<readonly MovedGroup[]> {
  const partition = readerKey(connection).pk;
  return (await itemsOf(table, { partition, prefix: READER_MOVE_PREFIX })).map(moveOf);
}

function withMoves(groups: readonly ReaderGroup[], moves: readonly MovedGroup[]): readonly ReaderGroup[] {
  const earlier = byGroup(moves);
  return groups.map((group) => {
    const last = lastMove(group.group, earlier);
    if (last === undefined || (last.source === 'directory' && last.to === group.group)) return group;
    return { ...group, other: last.to };
  });
}

const byGroup = (moves: readonly MovedGroup[]) => new Map(moves.map((move) => [move.from, move]));

/**
 * Returns the last move of a group that may have moved several times; undefined if it has not moved. The last move
 * names the group that replaces it now.
 */
function lastMove(group: GroupId, moves: ReadonlyMap<GroupId, MovedGroup>): MovedGroup | undefined {
  const passed = new Set<GroupId>();
  let last: MovedGroup | undefined;
  let next = moves.get(group);
  while (next !== undefined && !passed.has(next.from)) {
    passed.add(next.from);
    last = next;
    next = moves.get(next.to);
  }
  return last;
}
