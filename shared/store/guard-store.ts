import { defined } from '../domain/defined.ts';
import type { GuardRecord } from '../domain/group-state.ts';
import { grouped } from '../domain/grouped.ts';
import { type ConnectionName, type PlatformGroupId, platformGroupId } from '../domain/ids.ts';
import { AT_WORK_MS } from '../domain/wake-up.ts';
import type { GuardReservation, RecentReservations } from '../sync/ports/guard.ts';
import { connectionKey, GUARD_PREFIX, guardKey, guardMinute, UNLINK_PREFIX, unlinkKey } from './keys.ts';
import { type Item, itemsOf, type Table } from './table.ts';

/**
 * A reservation counts for an hour and 15 minutes. The hour of the guard begins when the removal takes effect, which is
 * less than 15 minutes after the reservation.
 */
const COUNTS_MS = 3_600_000 + 15 * 60_000;
const KEPT_MS = 2 * COUNTS_MS;
const UNLINK_COUNTS_MS = 3_600_000;

type Counted = Pick<GuardReservation, 'connection' | 'group' | 'platformId'>;

/**
 * Stores the reservations of the rolling hour, one item per write. The reservations of a group are its own and those of
 * its platform group, because a takeover may have moved the platform group. A worker stores its reservation before it
 * reads the other reservations. The comment of `reserve` in `sync/apply/perform.ts` explains the reason.
 */
export function createGuardStore(table: Table) {
  const put = async (reservation: GuardReservation) => {
    const { connection, group, platformId, intent, atMs, removals, size, deletes } = reservation;
    const own = guardKey(connection, atMs, intent);
    await table.put({
      ...own,
      group,
      removals,
      size,
      atMs,
      expiresAt: Math.ceil((atMs + KEPT_MS) / 1_000),
      ...defined({ platformId, deletes }),
    });
  };
  const cancel = async ({
    connection,
    intent,
    atMs,
  }: Pick<GuardReservation, 'connection' | 'intent' | 'atMs'>) => {
    await table.delete(guardKey(connection, atMs, intent));
  };

  const recent = async (
    { connection, group, platformId }: Counted,
    atMs: number,
    excluded: readonly (GuardRecord | undefined)[],
    writtenAtMs = 0,
  ) => {
    const own = excluded.flatMap((record) =>
      record ? [guardKey(connection, record.atMs, record.intent).sk] : [],
    );
    const { pk } = connectionKey(connection);
    const from = `${GUARD_PREFIX}${guardMinute(atMs - COUNTS_MS)}`;
    const items = await itemsOf(table, { partition: pk, between: [from, `${GUARD_PREFIX}~`] });
    const counted = items.filter((item) => !own.includes(item.sk) && Number(item['atMs']) > atMs - COUNTS_MS);
    const isOfGroup = (item: Item) =>
      item['group'] === group || (platformId !== undefined && item['platformId'] === platformId);
    const ofGroup = counted.filter(isOfGroup);
    const atWork = Math.max(writtenAtMs, atMs - AT_WORK_MS);
    return {
      group: removalsIn(ofGroup),
      connection: removalsIn(counted),
      largestSize: largestSizeIn(ofGroup),
      concurrent: removalsIn(ofGroup.filter((item) => Number(item['atMs']) > atWork)),
      deleted: new Set(counted.flatMap(deletedIn)),
      losses: lossesIn(counted.filter((item) => !isOfGroup(item) && item['deletes'] === undefined)),
    };
  };

  return {
    /** Returns the removals of the rolling hour, without the records in `excluded`. For `writtenAtMs` see `reserve`. */
    recent,

    /**
     * Stores the reservation. After that, reads all other reservations of the rolling hour, for the group and for the
     * connection.
     * @param instead a record that the new reservation replaces, so that it is not counted
     * @param writtenAtMs the time of the group's last write. Only later reservations count as concurrent
     */
    async reserve(reservation: GuardReservation, instead?: GuardRecord, writtenAtMs?: number) {
      await put(reservation);
      return recent(reservation, reservation.atMs, [reservation, instead], writtenAtMs);
    },

    /** Reduces a reservation to the removals that happened. With 0 removals, the record is deleted. */
    async reduce(reservation: GuardReservation, removals: number): Promise<void> {
      await (removals === 0 ? cancel(reservation) : put({ ...reservation, removals }));
    },

    /** Deletes the reservation of a write that will certainly not happen. */
    cancel,

    /**
     * Records that the link to a missing platform group ends.
     * @returns the number of other links that the connection ended within the last hour
     */
    async unlink(connection: ConnectionName, id: PlatformGroupId, atMs: number): Promise<number> {
      const own = unlinkKey(connection, id);
      await table.put({ ...own, atMs, expiresAt: Math.ceil((atMs + UNLINK_COUNTS_MS) / 1_000) });
      const unlinked = await itemsOf(table, { partition: own.pk, prefix: UNLINK_PREFIX });
      const isRecent = (item: Item) => Number(item['atMs']) > atMs - UNLINK_COUNTS_MS;
      return unlinked.filter((item) => item.sk !== own.sk && isRecent(item)).length;
    },

    /** Deletes the record of `unlink`, because the link stays. */
    async keepLink(connection: ConnectionName, id: PlatformGroupId): Promise<void> {
      await table.delete(unlinkKey(connection, id));
    },
  };
}

const removalsIn = (items: readonly Item[]): number =>
  items.reduce((sum, item) => sum + Number(item['removals']), 0);

const largestSizeIn = (items: readonly Item[]): number =>
  Math.max(0, ...items.map((item) => Number(item['size'])));

function lossesIn(items: readonly Item[]): RecentReservations['losses'] {
  const groups = grouped(items, (item) => item['platformId'] ?? item['group']);
  return [...groups.values()].map((ofGroup) => ({
    removals: removalsIn(ofGroup),
    largestSize: largestSizeIn(ofGroup),
  }));
}

const deletedIn = ({ deletes }: Item): readonly PlatformGroupId[] =>
  deletes === undefined ? [] : [platformGroupId(String(deletes))];
