import type { ConnectionName } from '../../domain/ids.ts';
import { keyPart, resourcePartition } from '../../store/keys.ts';
import { type Item, itemsOf, type Table } from '../../store/table.ts';
import type { OrderChange, ScimOrder, ScimResource } from '../ports.ts';
import { orderKey } from './scim-keys.ts';

/**
 * All processes notice a removal within this time, even if the removing process dies before it raises the generation.
 */
const REMEMBERED_MS = 60_000;
/** The maximum duration of a request: 30 seconds in API Gateway, and 30 seconds for differences between clocks. */
const MAX_REQUEST_MS = 60_000;

/** This process remembers at most this many of its own removals. After more removals, it reads all resources again. */
const MAX_CHANGES = 1_000;

const LAST_KEY = '\uffff';

interface Entry {
  readonly id: string;
  readonly isLive: boolean;
  readonly createdMs: number;
}

/** The entries, and the start time of the latest query for entries. */
interface Listing {
  readonly entries: readonly Entry[];
  readonly readAtMs: number;
}

interface Known {
  readonly generation: number;
  readonly loadedMs: number;
  listing: Listing;
  /** The removals by this process since it read all resources, by the generation after the removal. */
  readonly changes: Map<number, OrderChange>;
}

/**
 * Remembers in this process which resources exist. So a request for one page of many thousand resources needs only two
 * small reads in addition:
 *
 *     removals   A removal raises a generation in the table. If another process raised the generation, this process
 *                reads all resources again.
 *     additions  Ids sort by creation time. Each request reads the ids since a minute before the previous request.
 */
export function createScimOrders(table: Table) {
  const known = new Map<string, Known>();
  const latest = new Map<string, Promise<ScimOrder>>();
  /** The names whose latest read has not begun. */
  const waiting = new Set<string>();
  const nameOf = (connection: ConnectionName, type: ScimResource['type']) => `${connection}#${type}`;

  async function entriesFrom(connection: ConnectionName, type: ScimResource['type'], after?: string) {
    const partition = resourcePartition(connection, type);
    // A range includes both ends. The space leaves out `after` itself, and no id lies between the two texts.
    const range = after === undefined ? {} : { between: [`${keyPart(after)} `, LAST_KEY] as const };
    const items = await itemsOf(table, { partition, ...range, only: ['id', 'state', 'createdMs'] });
    return items.map(entryOf);
  }

  const generationOf = async (connection: ConnectionName, type: ScimResource['type']) =>
    Number((await table.get(orderKey(connection, type)))?.['generation'] ?? 0);

  async function readNow(connection: ConnectionName, type: ScimResource['type'], nowMs: number) {
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
    // The generation is read before the resources. A removal after this read raises the generation, and the next
    // request notices that.
    const generation = await generationOf(connection, type);
    const entries = await entriesFrom(connection, type);
    const listing = { entries, readAtMs: nowMs };
    const loaded: Known = { generation, loadedMs: nowMs, listing, changes: new Map() };
    known.set(name, loaded);
    return orderOf(loaded);
  }

  return {
    /** Returns the ids of a type. Requests that arrive during a read share the next read, so no answer is outdated. */
    read(connection: ConnectionName, type: ScimResource['type'], nowMs: number): Promise<ScimOrder> {
      const name = nameOf(connection, type);
      const previous = latest.get(name);
      if (previous !== undefined && waiting.has(name)) return previous;
      waiting.add(name);
      const order = Promise.allSettled([previous]).then(() => {
        waiting.delete(name);
        return readNow(connection, type, nowMs);
      });
      latest.set(name, order);
      return order;
    },

    /** Records a removal. The caller must call it after the removal and before it answers the client. */
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

/**
 * Returns the entries that were older than a minute at the time of the read. No running request can add an entry
 * between them.
 */
function settledOf({ entries, readAtMs }: Listing): readonly Entry[] {
  const recent = entries.findIndex(({ createdMs }) => createdMs > readAtMs - MAX_REQUEST_MS);
  return recent === -1 ? entries : entries.slice(0, recent);
}

/** Whether this process itself made all removals since it read the resources. */
function isCurrent({ generation: known, changes }: Known, generation: number): boolean {
  for (let next = known + 1; next <= generation; next += 1) if (!changes.has(next)) return false;
  return true;
}
