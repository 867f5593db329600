import * as z from 'zod';
import type { FeedStore, Leases } from '../sync/ports/reconcile.ts';
import { CorruptItemError } from './errors.ts';
import { feedKey, leaseKey } from './keys.ts';
import { all, any, equal, less, missing, type Table } from './table.ts';

const FeedItem = z.object({
  cursor: z.string().nullable(),
  recentIds: z.array(z.string()),
  lastEventAt: z.string().nullable(),
  readAtMs: z.number(),
  needsSweep: z.boolean(),
});

/** Tokens only grow, so a position that a later holder wrote refuses an earlier holder for ever. */
export function createFeedStore(table: Table): FeedStore {
  return {
    async read(connection) {
      const item = await table.get(feedKey(connection));
      if (item === undefined) return undefined;
      const parsed = FeedItem.safeParse(item);
      if (!parsed.success) throw new CorruptItemError('expected a feed position', { cause: parsed.error });
      return parsed.data;
    },

    write: (connection, position, { token }) =>
      table.put(
        { ...feedKey(connection), ...position, recentIds: [...position.recentIds], token },
        any(missing('token'), less('token', token), equal('token', token)),
      ),
  };
}

export function createLeases(table: Table): Leases {
  return {
    async take(connection, name, { nowMs, lengthMs }) {
      const outcome = await table.update(
        leaseKey(connection, name),
        { set: { untilMs: nowMs + lengthMs }, add: { token: 1 } },
        any(missing('untilMs'), less('untilMs', nowMs)),
      );
      return outcome.written ? { name, token: Number(outcome.item['token']) } : undefined;
    },

    async release(connection, { name, token }) {
      await table.update(leaseKey(connection, name), { remove: ['untilMs'] }, all(equal('token', token)));
    },
  };
}
