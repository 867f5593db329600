import type { GroupRef } from '../domain/ids.ts';
import type { GuardStore } from '../sync/ports/holds.ts';
import { connectionKey, GUARD_PREFIX, guardKey, guardMinute } from './keys.ts';
import type { Table } from './table.ts';

const HOUR_MS = 3_600_000;

/** Reservations of the rolling hour, one item per write; see guardRemovals for why they are put before they are read. */
export function createGuardStore(table: Table): GuardStore {
  const recentBeside = async ({ connection, group }: GroupRef, atMs: number, ownKey?: string) => {
    const recent = { group: 0, connection: 0 };
    const { pk } = connectionKey(connection);
    const from = `${GUARD_PREFIX}${guardMinute(atMs - HOUR_MS)}`;
    for await (const page of table.query({ partition: pk, between: [from, `${GUARD_PREFIX}~`] })) {
      for (const item of page) {
        if (item.sk === ownKey || Number(item['atMs']) <= atMs - HOUR_MS) continue;
        recent.connection += Number(item['removals']);
        if (item['group'] === group) recent.group += Number(item['removals']);
      }
    }
    return recent;
  };

  return {
    async reserve({ connection, group, intent, atMs, removals }) {
      const own = guardKey(connection, atMs, intent);
      await table.put({
        ...own,
        group,
        removals,
        atMs,
        expiresAt: Math.ceil((atMs + 2 * HOUR_MS) / 1_000),
      });
      return recentBeside({ connection, group }, atMs, own.sk);
    },

    recent: (ref, atMs) => recentBeside(ref, atMs),

    async cancel({ connection, intent, atMs }) {
      await table.delete(guardKey(connection, atMs, intent));
    },
  };
}
