import type { ConnectionName } from '../domain/ids.ts';
import type { OrderChange, ScimOrder, ScimResource } from '../sync/ports/scim.ts';
import { keyPart } from './keys.ts';
import { orderKey, resourcePartition } from './scim-keys.ts';
import { type Item, itemsOf, type Table } from './table.ts';

/** A crash may have come between a removal and the generation that tells of it: none is missed for longer. */
const REMEMBERED_MS = 60_000;
/** A request ends within API Gateway's 30 seconds; the rest is for clocks that differ. */
const MAX_REQUEST_MS = 60_000;

/** Removals of this process that are kept until the order is read; past this it is read again. */
const MAX_CHANGES = 1_000;

/** After every id of a resource. */
const LAST_KEY = '\uffff';

interface Entry {
  readonly id: string;
  readonly isLive: boolean;
  readonly createdMs: number;
}

/** Entries, and when the query began that read the newest of them. */
interface Listing {
  readonly entries: readonly Entry[];
  readonly readAtMs: number;
}

interface Known {
  readonly generation: number;
  readonly loadedMs: number;
  listing: Listing;
  /** What this process removed since then, by the generation that it made. */
  readonly changes: Map<number, OrderChange>;
}

/**
 * Which resources there are, remembered in this process, so that a page of many thousands costs two small reads next to its own:
 *
 *     removed    a generation in the table rises. What other processes removed makes this one read all of them again
 *     new        ids sort by creation time, so new ones are at the end: those of the last minute are read each time
 */
export function createScimOrders(table: Table) {
  const known = new Map<string, Known>();
  const nameOf = (connection: ConnectionName, type: ScimResource['type']) => `${connection}#${type}`;

  async function entriesFrom(connection: ConnectionName, type: ScimResource['type'], after?: string) {
    const partition = resourcePartition(connection, type);
    // No id goes on with a space.
    const range = after === undefined ? {} : { between: [`${keyPart(after)} `, LAST_KEY] as const };
    const items = await itemsOf(table, { partition, ...range, only: ['id', 'state', 'createdMs'] });
    return items.map(entryOf);
  }

  const generationOf = async (connection: ConnectionName, type: ScimResource['type']) =>
    Number((await table.get(orderKey(connection, type)))?.['generation'] ?? 0);

  return {
    async read(connection: ConnectionName, type: ScimResource['type'], nowMs: number): Promise<ScimOrder> {
      const name = nameOf(connection, type);
      const found = known.get(name);
      if (found !== undefined && nowMs - found.loadedMs < REMEMBERED_MS) {
        const before = settledOf(found.listing);
        const [generation, recent] = await Promise.all([
          generationOf(connection, type),
          entriesFrom(connection, type, before.at(-1)?.id),
        ]);
        if (isCurrent(found, generation)) {
          found.listing = { entries: [...before, ...recent], readAtMs: nowMs };
          return orderOf(found);
        }
      }
      // Before the resources: a removal after it is told by a later generation.
      const generation = await generationOf(connection, type);
      const entries = await entriesFrom(connection, type);
      const listing = { entries, readAtMs: nowMs };
      const loaded: Known = { generation, loadedMs: nowMs, listing, changes: new Map() };
      known.set(name, loaded);
      return orderOf(loaded);
    },

    /** After one was removed, before its client gets an answer. */
    async note(connection: ConnectionName, change: OrderChange): Promise<void> {
      const noted = await table.update(orderKey(connection, change.type), { add: { generation: 1 } });
      const { changes } = known.get(nameOf(connection, change.type)) ?? {};
      if (!noted.written || changes === undefined) return;
      changes.set(Number(noted.item['generation']), change);
      if (changes.size > MAX_CHANGES) known.delete(nameOf(connection, change.type));
    },
  };
}

const entryOf = ({ id, state, createdMs }: Item): Entry => ({
  id: String(id),
  isLive: state === 'live',
  createdMs: Number(createdMs),
});

function orderOf({ listing, changes }: Known): ScimOrder {
  const removed = new Set([...changes.values()].map(({ id }) => id));
  const entries = listing.entries.filter(({ id }) => !removed.has(id));
  return {
    ids: entries.filter(({ isLive }) => isLive).map(({ id }) => id),
    deleting: entries.filter(({ isLive }) => !isLive).map(({ id }) => id),
  };
}

/** The first ones: every request that could add one between them had ended when they were read. */
function settledOf({ entries, readAtMs }: Listing): readonly Entry[] {
  const recent = entries.findIndex(({ createdMs }) => createdMs > readAtMs - MAX_REQUEST_MS);
  return recent === -1 ? entries : entries.slice(0, recent);
}

/** Whether every removal since it was read is one of this process. */
function isCurrent({ generation: known, changes }: Known, generation: number): boolean {
  for (let next = known + 1; next <= generation; next += 1) if (!changes.has(next)) return false;
  return true;
}
