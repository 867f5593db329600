import * as z from 'zod';
import { overStored, readStored } from '../contract/change-setting.ts';
import type { ContractReport } from '../contract/contract-report.ts';
import { CONNECTIONS_PARTITION } from '../contract/topology.ts';
import { number, text } from '../domain/forms.ts';
import { type ConnectionName, connectionName } from '../domain/ids.ts';
import { Connection, InvalidSettingsError } from '../sync/ports/connections.ts';
import { CorruptItemError } from '../sync/ports/store-errors.ts';
import { OF_THIS_SCHEMA, plain, storedAt, understood } from './item-form.ts';
import { connectionKey, tombstoneKey } from './keys.ts';
import { type Change, equal, exists, type Item, missing, type Table, type TableIdentity } from './table.ts';

type OnUnreadable = (name: ConnectionName, error: Error) => void;

/** A running function notices a restored table within this time. */
const IDENTITY_REMEMBERED_MS = 3_600_000;

/** The parsed form of each item, by the item as JSON. Each pass of apply reads an item that seldom changes. */
const PARSED = new Map<string, Connection>();

const Tombstone = z.lazy(() =>
  z.object({
    company: text,
    removedMs: number,
    /** The time at which the data of the connection was erased. */
    erasedMs: number.optional(),
    /** The restore of the table after which groups still waited. The next connection with the name waits too. */
    restoredAtMs: number.optional(),
    /** Whether the connection observed. The next connection with the name observes too. */
    observing: z.boolean().optional(),
    /** The settings with which the next connection with the name begins. */
    settings: z.unknown().optional(),
  }),
);
type Tombstone = z.infer<typeof Tombstone>;

/**
 * Creates a store that caches connections for `rememberMs`, because connections change rarely and every batch reads
 * them. A missing connection is not cached. Otherwise ingest would reject the first events after `connect`.
 * @param onUnknown called at the first read, and again after a write, with the stored settings that this release does
 * not know
 */
export function createConnectionStore(
  table: Table,
  { clock, rememberMs }: { readonly clock: () => number; readonly rememberMs: number },
  onUnknown: (connection: ConnectionName, settings: readonly string[]) => void = () => {},
) {
  const remembered = new Map<ConnectionName, { readonly connection: Connection; readonly untilMs: number }>();
  let identity: { readonly of: TableIdentity; readonly untilMs: number } | undefined;
  const readIdentity = async (): Promise<TableIdentity> => {
    if (identity === undefined || clock() >= identity.untilMs)
      identity = { of: await table.identity(), untilMs: clock() + IDENTITY_REMEMBERED_MS };
    return identity.of;
  };
  const current = async (name: ConnectionName): Promise<Connection | undefined> => {
    const item = await table.get(connectionKey(name));
    if (item === undefined) {
      remembered.delete(name);
      return undefined;
    }
    const here = item['tableId'] === undefined ? undefined : await readIdentity();
    const text = JSON.stringify([item, here]);
    const connection = PARSED.get(text) ?? parsed(item, here);
    if (PARSED.size > 100) PARSED.clear();
    PARSED.set(text, connection);
    const { unknownSettings: unknown } = connection;
    if (unknown && !remembered.get(name)?.connection.unknownSettings) onUnknown(name, unknown);
    remembered.set(name, { connection, untilMs: clock() + rememberMs });
    return connection;
  };
  const tombstoneOf = (name: ConnectionName) =>
    storedAt(table, tombstoneKey(name), Tombstone, 'the tombstone of a removed connection');
  const currentOr = async (name: ConnectionName, onUnreadable: OnUnreadable | undefined) => {
    try {
      return await current(name);
    } catch (error) {
      if (onUnreadable === undefined || !(error instanceof CorruptItemError)) throw error;
      onUnreadable(name, error);
      return undefined;
    }
  };
  return {
    /** Returns the connection without a cache. A caller needs this before it concludes that a group is in sync. */
    current,

    /** Returns the connection, from a cache of at most 30 seconds; undefined if the connection does not exist. */
    async find(name: ConnectionName): Promise<Connection | undefined> {
      const known = remembered.get(name);
      return known !== undefined && clock() < known.untilMs ? known.connection : current(name);
    },

    /**
     * @param onUnreadable called for each unreadable item. The result omits this item. Without this callback, an
     * unreadable item causes an error
     */
    async list(onUnreadable?: (name: ConnectionName, error: Error) => void) {
      const connections: Connection[] = [];
      for await (const page of table.query({ partition: CONNECTIONS_PARTITION, index: true })) {
        // The table combines these reads into batches.
        const names = page.map((item) => connectionName(String(item['name'])));
        const found = await Promise.all(names.map((name) => currentOr(name, onUnreadable)));
        connections.push(...found.filter((connection) => connection !== undefined));
      }
      return connections;
    },

    /** Overwrites the stored connection, for the setup of a stage. An operator's change uses `replace` instead. */
    async save(connection: Connection): Promise<void> {
      remembered.delete(connection.name);
      const { id } = await readIdentity();
      await table.update(connectionKey(connection.name), changeTo(connection, id));
    },

    /** Replaces `seen` (undefined for a new connection). Returns false if the stored connection differs. */
    async replace(next: Connection, seen: Connection | undefined): Promise<boolean> {
      remembered.delete(next.name);
      const unchanged = seen === undefined ? missing('name') : equal('revision', seen.revision ?? 0);
      const key = connectionKey(next.name);
      const stored = seen?.unknownSettings && (await table.get(key))?.['settings'];
      const settings = overStored(stored, seen?.settings, next.settings) as Connection['settings'];
      const ended = seen === undefined ? await tombstoneOf(next.name) : undefined;
      const { erasedMs: eventsSinceMs, restoredAtMs, observing = false } = ended ?? {};
      const { id } = await readIdentity();
      const kept = { settings, observing: next.observing || observing, ...plain({ restoredAtMs }) };
      const { set, ...change } = changeTo({ ...next, ...kept }, id);
      const whole = { ...change, set: { ...set, ...plain({ eventsSinceMs }) } };
      return (await table.update(key, whole, unchanged)).written;
    },

    /** Notes that all groups are marked dirty for the change at `sinceMs`. Has no effect after a later change. */
    async replanned(name: ConnectionName, sinceMs: number): Promise<void> {
      remembered.delete(name);
      const change = { remove: ['replanSinceMs'] };
      await table.update(connectionKey(name), change, equal('replanSinceMs', sinceMs));
    },

    async remove(name: ConnectionName): Promise<void> {
      remembered.delete(name);
      await table.delete(connectionKey(name));
    },

    /** Stores the report of `probe`. Only this method changes the stored report. */
    async keepContract(name: ConnectionName, contract: ContractReport): Promise<void> {
      remembered.delete(name);
      await table.update(connectionKey(name), { set: { contract } }, exists('name'));
    },

    /**
     * Reserves the name for its company forever. The caller must call this method before it removes the connection.
     * Without `erasedMs`, a stored time stays.
     */
    async keepName(name: ConnectionName, ended: Tombstone): Promise<void> {
      const kept = ['restoredAtMs', 'observing', 'settings'] as const;
      const remove = kept.filter((field) => ended[field] === undefined);
      await table.update(tombstoneKey(name), { set: { ...OF_THIS_SCHEMA, ...plain(ended) }, remove });
    },

    /** Returns the settings of the removed connection with this name, without invalid settings. */
    async formerSettings(name: ConnectionName): Promise<object | undefined> {
      const { settings } = (await tombstoneOf(name)) ?? {};
      return settings === undefined ? undefined : readStored(settings).known;
    },

    /**
     * Returns the company of the connection with this name, which may have been removed. All stored items under the name
     * belong to this company.
     */
    async companyOf(name: ConnectionName): Promise<string | undefined> {
      // The order of the two reads matters. `keepName` stores the company before `remove` deletes the connection, so
      // one of the reads finds the company.
      return ((await current(name)) ?? (await tombstoneOf(name)))?.company;
    },
  };
}

/**
 * Returns the connection as it is in this table. If it was written to another table, this table was restored from the
 * other, and lacks the changes since. Then nothing is written to the platform until an operator resumes the connection.
 */
function parsed(item: Item, here: TableIdentity | undefined): Connection {
  const { known, unknown, problems } = readStored(item['settings']);
  const read = understood(Connection, { ...item, settings: plain(known) }, `a connection at ${item.pk}`);
  if (problems.length > 0) throw new InvalidSettingsError({ ...read, invalid: problems });
  const connection = unknown.length > 0 ? { ...read, unknownSettings: unknown } : read;
  if (here === undefined || here.id === read.tableId) return connection;
  return { ...connection, observing: true, restoredAtMs: here.createdAtMs };
}

/** @param tableId the id of this table, which the connection takes over when it may write */
const changeTo = (
  {
    name,
    company,
    settings,
    observing,
    connectedMs,
    replanSinceMs,
    restoredAtMs,
    requests = [],
    blocks = [],
    ...stored
  }: Connection,
  tableId: string,
): Change => ({
  set: {
    ...OF_THIS_SCHEMA,
    name,
    company,
    settings: plain(settings),
    observing,
    tableId: observing ? (stored.tableId ?? tableId) : tableId,
    gpk: CONNECTIONS_PARTITION,
    gsk: name,
    ...plain({ connectedMs, replanSinceMs, restoredAtMs }),
    ...(requests.length === 0 ? {} : { requests: requests.map(plain) }),
    ...(blocks.length === 0 ? {} : { blocks: blocks.map(plain) }),
  },
  remove: [
    ...(restoredAtMs === undefined ? ['restoredAtMs'] : []),
    ...(requests.length === 0 ? ['requests'] : []),
    ...(blocks.length === 0 ? ['blocks'] : []),
  ],
  add: { revision: 1 },
});
