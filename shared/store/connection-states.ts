import * as z from 'zod';
import { number } from '../domain/forms.ts';
import { Gate, OPEN_GATE } from '../domain/gate.ts';
import type { ConnectionName } from '../domain/ids.ts';
import { type Episode, SUBJECTS, type Subject } from '../domain/notice.ts';
import { Health, Trend } from '../sync/ports/connections.ts';
import type { NoticeBoard } from '../sync/ports/notices.ts';
import { FeedPosition, type Lease } from '../sync/ports/reconcile.ts';
import { OF_THIS_SCHEMA, plain, storedAt, understood } from './item-form.ts';
import { feedKey, gateKey, healthKey, noticesKey, trendKey } from './keys.ts';
import { any, equal, type Item, type Key, less, missing, type Table } from './table.ts';

/** `change` counts the writes. If `change` differs from the value that a worker read, the worker's write is refused. */
const GateItem = z.lazy(() => Gate.unwrap().extend({ change: number }));

export function createGateStore(table: Table) {
  return {
    read: async (connection: ConnectionName): Promise<Gate> =>
      (await storedAt(table, gateKey(connection), GateItem, 'a gate')) ?? OPEN_GATE,

    /** Replaces the `seen` gate. Returns false if the stored gate differs from `seen`. */
    write: (connection: ConnectionName, seen: Gate, next: Gate): Promise<boolean> => {
      const { change = 0 }: Gate & { readonly change?: number } = seen;
      // The record of failing calls stays: a change of the gate does not prove that calls succeed.
      const { failingCalls = seen.failingCalls ?? [], ...gate } = next;
      const stored = failingCalls.length === 0 ? gate : { ...gate, failingCalls };
      return table.put(
        { ...gateKey(connection), ...plain(stored), ...OF_THIS_SCHEMA, change: change + 1 },
        change === 0 ? missing('pk') : equal('change', change),
      );
    },
  };
}

export function createHealthStore(table: Table) {
  return {
    read: (connection: ConnectionName): Promise<Health | undefined> =>
      storedAt(table, healthKey(connection), Health, 'a connection health'),

    async write(connection: ConnectionName, health: Health): Promise<void> {
      await table.put({ ...healthKey(connection), ...OF_THIS_SCHEMA, ...plain(health) });
    },
  };
}

export function createTrendStore(table: Table) {
  return {
    /** Returns the counts of the last hours, the newest last. An hour in which nothing ran is missing. */
    read: async (connection: ConnectionName): Promise<Trend['hours']> =>
      (await storedAt(table, trendKey(connection), Trend, 'a trend'))?.hours ?? [],

    async write(connection: ConnectionName, hours: Trend['hours']): Promise<void> {
      await table.put({ ...trendKey(connection), ...OF_THIS_SCHEMA, hours });
    },
  };
}

/** If this release does not know a stored subject, it drops all episodes. The next check reports the problems again. */
const KnownEpisode = z.custom<Episode>((value) =>
  SUBJECTS.includes((value as Partial<Episode>)?.subject as Subject),
);
const NoticesItem = z.lazy(() =>
  z.object({
    episodes: z.array(KnownEpisode).catch([]),
    lastFailure: z.object({ atMs: z.number(), message: z.string() }).exactOptional(),
    change: z.number(),
  }),
);

export function createNoticeStore(table: Table) {
  return {
    read: async (connection?: ConnectionName): Promise<NoticeBoard> =>
      (await storedAt(table, noticesKey(connection), NoticesItem, 'notices')) ?? { episodes: [], change: 0 },

    /** Writes the board and raises its change counter. Returns undefined if the stored board has changed. */
    async write(board: NoticeBoard, connection?: ConnectionName): Promise<NoticeBoard | undefined> {
      const next = { ...board, change: board.change + 1 };
      const item = { ...noticesKey(connection), ...OF_THIS_SCHEMA, ...plain(next) };
      const isSame = board.change === 0 ? missing('pk') : equal('change', board.change);
      return (await table.put(item, isSame)) ? next : undefined;
    },
  };
}

export const createFeedStore = (table: Table) =>
  createPositionStore<FeedPosition>(table, {
    keyOf: feedKey,
    form: FeedPosition,
    required: 'readAtMs',
    what: 'a feed position',
  });

interface StoredPosition<Position> {
  readonly keyOf: (connection: ConnectionName) => Key;
  readonly form: z.ZodType<Position>;
  /** An attribute of every position. The first run stores its token before it has a position. */
  readonly required: string;
  readonly what: string;
}

/**
 * Each new holder of the lease has a greater token than all earlier holders. A holder first stores its token. After
 * that, the writes of earlier holders are refused.
 */
export function createPositionStore<Position extends object>(
  table: Table,
  { keyOf, form, required, what }: StoredPosition<Position>,
) {
  const positionOf = (item: Item): Position | undefined =>
    item[required] === undefined ? undefined : understood(form, item, `${what} at ${item.pk}`);
  return {
    /** Returns undefined before the first write of the first run. */
    async read(connection: ConnectionName): Promise<Position | undefined> {
      const item = await table.get(keyOf(connection));
      return item && positionOf(item);
    },

    /**
     * Begins a run. The store then refuses writes of all earlier holders of the lease.
     * @returns undefined if a later holder has already begun
     */
    async begin(connection: ConnectionName, { token }: Lease) {
      const fenced = await table.update(keyOf(connection), { set: { token } }, noLaterThan(token));
      return fenced.written ? { position: positionOf(fenced.item) } : undefined;
    },

    /** Returns false if a later holder of the lease has begun. This run must then stop. */
    write: (connection: ConnectionName, position: Position, { token }: Lease) =>
      table.put({ ...keyOf(connection), ...OF_THIS_SCHEMA, ...plain(position), token }, noLaterThan(token)),
  };
}

/** The condition of each write under a lease: no later holder has begun. */
export const noLaterThan = (token: number) =>
  any(missing('token'), less('token', token), equal('token', token));
