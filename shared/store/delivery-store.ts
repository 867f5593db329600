import { DELIVERY_LIFETIME_MS, Delivery } from '../domain/delivery.ts';
import { DAY_MS } from '../domain/duration.ts';
import type { ConnectionName } from '../domain/ids.ts';
import { OF_THIS_SCHEMA, plain, understood } from './item-form.ts';
import { deliveryKey } from './keys.ts';
import type { Table } from './table.ts';

/** The size of a page. The size is small, so that a request for the newest records does not read many older records. */
const PAGE_SIZE = 100;

/** Stores the records of deliveries: one partition per connection and day, sorted by time. */
export function createDeliveryStore(table: Table) {
  return {
    /** Stores a record, in one attempt. It replaces the record of an earlier receive of the same message. */
    record: (connection: ConnectionName, delivery: Delivery): Promise<boolean> =>
      table.put(
        {
          ...deliveryKey(connection, delivery.atMs, delivery.id),
          ...OF_THIS_SCHEMA,
          ...plain(delivery),
          expiresAt: Math.ceil((delivery.atMs + DELIVERY_LIFETIME_MS) / 1_000),
        },
        undefined,
        'once',
      ),

    /** Returns the records from `sinceMs` on in pages, without expired records. */
    async *since(
      connection: ConnectionName,
      sinceMs: number,
      { nowMs, newestFirst = true }: { readonly nowMs: number; readonly newestFirst?: boolean },
    ): AsyncGenerator<readonly Delivery[]> {
      const firstMs = Math.max(sinceMs, nowMs - DELIVERY_LIFETIME_MS);
      // The clocks of queues and workers may differ, so the partition of the next day is read shortly before midnight.
      const days: string[] = [];
      for (let dayMs = nowMs + 60_000; dayMs > firstMs - DAY_MS; dayMs -= DAY_MS)
        days.push(deliveryKey(connection, dayMs, '').pk);
      for (const partition of newestFirst ? days : days.reverse()) {
        const between = [new Date(firstMs).toISOString(), '~'] as const;
        for await (const page of table.query({
          partition,
          between,
          newestFirst,
          pageSize: PAGE_SIZE,
        }))
          yield page.map((item) => understood(Delivery, item, `a delivery at ${item.sk}`));
      }
    },
  };
}
