import type { ConnectionName } from '../domain/ids.ts';
import type { IndexedValue, OrderChange, ScimOrder, ScimStore, ScimTokenStore } from '../sync/ports/scim.ts';
import { ScimResource, ScimToken } from '../sync/ports/scim.ts';
import { parseMember } from './group-item.ts';
import { OF_THIS_SCHEMA, understood } from './item-form.ts';
import { groupKey, keyPart, MEMBER_PREFIX, sha256 } from './keys.ts';
import {
  all,
  any,
  eachOf,
  equal,
  exists,
  type Item,
  itemsOf,
  type Key,
  less,
  missing,
  type Table,
} from './table.ts';

export function createScimStore(table: Table): ScimStore {
  const orders = createScimOrders(table);
  return {
    order: orders.read,
    noteOrder: orders.note,

    async read(connection, type, ids) {
      // No resource has an empty id, and DynamoDB refuses an empty key.
      const named = ids.filter((id) => id !== '');
      const items = await table.getMany(named.map((id) => resourceKey(connection, type, id)));
      return items.map(parseResource);
    },

    list(connection, type, between) {
      const partition = resourcePartition(connection, type);
      const range = between && { between: [keyPart(between[0]), keyPart(between[1])] as const };
      return eachOf(table.query({ partition, ...range }), parseResource);
    },

    async save(connection, resource, seen) {
      const { settled, version, writes, listedAt, ...kept } = resource;
      const key = resourceKey(connection, resource.type, resource.id);
      const set = {
        ...OF_THIS_SCHEMA,
        ...kept,
        idle: kept.revision - version,
        ...(settled ? {} : { open: true }),
      };
      if (seen === undefined) return table.put({ ...key, ...set }, missing('pk'));
      // Writes of members may end at any moment, so the other writes on the item are not changed.
      const begun = [...writes].filter(([id]) => !seen.writes.has(id));
      const forgotten = [...seen.writes.keys()].filter((id) => !writes.has(id));
      const change = {
        set: { ...set, ...Object.fromEntries(begun.map(([id, atMs]) => [writeName(id), atMs])) },
        remove: [...removals(forgotten), ...(settled ? ['open'] : [])],
      };
      return (await table.update(key, change, equal('revision', seen.revision))).written;
    },

    async advance(connection, { type, id }, { nowMs, isChange, seen, begins, forgets = [] }) {
      const begun = begins === undefined ? {} : { [writeName(begins)]: nowMs };
      const remove = removals(forgets);
      const outcome = await table.update(
        resourceKey(connection, type, id),
        isChange
          ? { add: { revision: 1 }, set: { idle: 0, modifiedMs: nowMs, changedMs: nowMs, ...begun }, remove }
          : { add: { revision: 1, idle: 1 }, set: { modifiedMs: nowMs, ...begun }, remove },
        all(
          equal('state', 'live'),
          any(less('modifiedMs', nowMs), equal('modifiedMs', nowMs)),
          ...(seen === undefined ? [] : [equal('revision', seen)]),
        ),
      );
      return outcome.written ? parseResource(outcome.item) : undefined;
    },

    async settle(connection, { type, id, revision }) {
      const key = resourceKey(connection, type, id);
      await table.update(key, { remove: ['open'] }, equal('revision', revision));
    },

    async endWrite(connection, { type, id, revision, settled }, { id: write, supersedes, listedAt }) {
      const key = resourceKey(connection, type, id);
      const remove = removals([write, ...supersedes]);
      const set = listedAt === undefined ? {} : { listedAt };
      if (!settled) {
        const change = { set, remove: ['open', ...remove] };
        if ((await table.update(key, change, equal('revision', revision))).written) return;
      }
      // The item may be gone, or a later whole list may have ended first.
      const isLatest =
        listedAt === undefined
          ? exists('revision')
          : all(exists('revision'), any(missing('listedAt'), less('listedAt', listedAt)));
      if ((await table.update(key, { set, remove }, isLatest)).written || listedAt === undefined) return;
      await table.update(key, { remove }, exists('revision'));
    },

    async remove(connection, { type, id, revision }) {
      await table.delete(resourceKey(connection, type, id), equal('revision', revision));
      await orders.note(connection, { type, id, state: 'gone' });
    },

    async holder(connection, value) {
      const claim = await table.get(claimKey(connection, value));
      return claim === undefined ? undefined : String(claim['holder']);
    },

    claim: (connection, value, id, from) =>
      table.put(
        { ...claimKey(connection, value), holder: id },
        any(missing('pk'), equal('holder', id), ...(from === undefined ? [] : [equal('holder', from)])),
      ),

    async release(connection, value, id) {
      await table.delete(claimKey(connection, value), equal('holder', id));
    },

    async point(connection, value, id) {
      await table.put({ ...pointerKey(connection, value, id), id });
    },

    async unpoint(connection, value, id) {
      await table.delete(pointerKey(connection, value, id));
    },

    async pointedAt(connection, value) {
      const partition = valuePartition(connection, value);
      const pointers = await itemsOf(table, { partition, prefix: POINTER_PREFIX });
      return pointers.map(({ id }) => String(id));
    },

    async memberships(ref) {
      const only = ['member', 'presence', 'stamp'];
      const { pk: partition } = groupKey(ref);
      return (await itemsOf(table, { partition, prefix: MEMBER_PREFIX, only })).map(parseMember);
    },
  };
}

/** Each write of members has its own attribute, so that it begins and ends without a condition on other writes. */
const WRITE_PREFIX = 'write_';
const writeName = (id: string): string => `${WRITE_PREFIX}${id}`;

/** DynamoDB takes expressions of at most 4 KB: about 600 removals. */
const MAX_REMOVALS = 100;
/** Attributes of the first ids. Each write begins at most one, so the next writes remove the rest. */
const removals = (ids: readonly string[]): readonly string[] => ids.slice(0, MAX_REMOVALS).map(writeName);

function parseResource(item: Item): ScimResource {
  const names = Object.keys(item).filter((name) => name.startsWith(WRITE_PREFIX));
  const writes = Object.fromEntries(names.map((name) => [name.slice(WRITE_PREFIX.length), item[name]]));
  const held = names.length === 0 ? item : { ...item, writes };
  return understood(ScimResource, held as Item, `a SCIM resource in partition ${item.pk}`);
}

/** A crash may have come between a resource and the generation that tells of it: nothing is missed for longer. */
const REMEMBERED_MS = 60_000;

/** Changes of this process that are kept until somebody asks for the order; past this it is read anew. */
const MAX_CHANGES = 1_000;

interface Known {
  generation: number;
  order: Promise<ScimOrder>;
  readonly readAtMs: number;
  /** What this process changed, by the generation that it made. */
  readonly changes: Map<number, (order: ScimOrder) => ScimOrder>;
}

/**
 * Which resources there are, remembered in this process: a generation in the table rises whenever one comes or goes, so
 * a page of many thousands costs one small read beside its own. Only what others changed has all of them read anew.
 */
function createScimOrders(table: Table) {
  const known = new Map<string, Known>();
  const nameOf = (connection: ConnectionName, type: ScimResource['type']) => `${connection}#${type}`;

  async function load(connection: ConnectionName, type: ScimResource['type']): Promise<ScimOrder> {
    const partition = resourcePartition(connection, type);
    const items = await itemsOf(table, { partition, only: ['id', 'state'] });
    const idsOf = (isLive: boolean) =>
      items.filter(({ state }) => (state === 'live') === isLive).map(({ id }) => String(id));
    return { ids: idsOf(true), ending: idsOf(false) };
  }

  return {
    async read(connection: ConnectionName, type: ScimResource['type'], nowMs: number): Promise<ScimOrder> {
      const item = await table.get(orderKey(connection, type));
      const generation = Number(item?.['generation'] ?? 0);
      const name = nameOf(connection, type);
      const found = known.get(name);
      if (found !== undefined && nowMs - found.readAtMs < REMEMBERED_MS) {
        while (found.generation < generation) {
          const change = found.changes.get(found.generation + 1);
          if (change === undefined) break;
          found.order = found.order.then(change);
          found.order.catch(() => known.delete(name));
          found.generation += 1;
          found.changes.delete(found.generation);
        }
        if (found.generation === generation) return found.order;
      }
      const order = load(connection, type);
      known.set(name, { generation, readAtMs: nowMs, order, changes: new Map() });
      order.catch(() => known.delete(name));
      return order;
    },

    /** After one came or went, before its client is told. */
    async note(connection: ConnectionName, { type, id, state }: OrderChange): Promise<void> {
      const noted = await table.update(orderKey(connection, type), { add: { generation: 1 } });
      const { changes } = known.get(nameOf(connection, type)) ?? {};
      if (!noted.written || changes === undefined) return;
      changes.set(Number(noted.item['generation']), ({ ids, ending }) => {
        const without = (some: readonly string[]) => some.filter((one) => one !== id);
        const others = without(ids);
        return { ids: state === 'live' ? [...others, id].sort() : others, ending: without(ending) };
      });
      if (changes.size > MAX_CHANGES) known.delete(nameOf(connection, type));
    },
  };
}

/** A token is found by its prefix, before anybody knows whose it is; a list entry written before it finds it again. */
export function createScimTokenStore(table: Table): ScimTokenStore {
  const find = async (prefix: string) => {
    const item = await table.get(tokenKey(prefix));
    return item === undefined ? undefined : parseToken(item);
  };

  return {
    find,

    async list(connection) {
      const listed = await itemsOf(table, { partition: tokensPartition(connection) });
      const items = await table.getMany(listed.map(({ prefix }) => tokenKey(String(prefix))));
      return items.map(parseToken).filter((token) => token.connection === connection);
    },

    async add(token) {
      const listed = { pk: tokensPartition(token.connection), sk: keyPart(token.prefix) };
      await table.put({ ...listed, prefix: token.prefix });
      return table.put({ ...tokenKey(token.prefix), ...OF_THIS_SCHEMA, ...token }, missing('pk'));
    },

    async revoke(connection, prefix, atMs) {
      const change = { setIfMissing: { revokedMs: atMs } };
      return (await table.update(tokenKey(prefix), change, equal('connection', connection))).written;
    },

    async noteUse(prefix, { atMs, unlessSinceMs }) {
      await table.update(
        tokenKey(prefix),
        { set: { lastUsedMs: atMs } },
        all(equal('prefix', prefix), any(missing('lastUsedMs'), less('lastUsedMs', unlessSinceMs))),
      );
    },
  };
}

const parseToken = (item: Item): ScimToken => understood(ScimToken, item, 'a SCIM token');

/*
 * | item                                   | pk                                     | sk         |
 * |----------------------------------------|----------------------------------------|------------|
 * | resource                               | `S#<conn>#<type>`                      | `<id>`     |
 * | claim of a unique value                | `SX#<conn>#<type>#<attribute>#<hash>`  | `HOLDER`   |
 * | pointer of a value that several may have | the same                             | `AT#<id>`  |
 * | generation of which resources there are | `S#<conn>#orders`                     | `<type>`   |
 * | token                                  | `ST#<prefix>`                          | `TOKEN`    |
 * | tokens of a connection                 | `S#<conn>#tokens`                      | `<prefix>` |
 *
 * Values are hashed: they may be long, and keys are no place for names and addresses.
 */

const resourcePartition = (connection: ConnectionName, type: ScimResource['type']): string =>
  `S#${connection}#${type}`;
export const resourceKey = (connection: ConnectionName, type: ScimResource['type'], id: string): Key => ({
  pk: resourcePartition(connection, type),
  sk: keyPart(id),
});

const orderKey = (connection: ConnectionName, type: ScimResource['type']): Key => ({
  pk: `S#${connection}#orders`,
  sk: type,
});

function valuePartition(connection: ConnectionName, { type, attribute, value }: IndexedValue): string {
  return `SX#${connection}#${type}#${attribute}#${sha256(value)}`;
}
export const claimKey = (connection: ConnectionName, value: IndexedValue): Key => ({
  pk: valuePartition(connection, value),
  sk: 'HOLDER',
});
const POINTER_PREFIX = 'AT#';
export const pointerKey = (connection: ConnectionName, value: IndexedValue, id: string): Key => ({
  pk: valuePartition(connection, value),
  sk: `${POINTER_PREFIX}${keyPart(id)}`,
});

const tokenKey = (prefix: string): Key => ({ pk: `ST#${keyPart(prefix)}`, sk: 'TOKEN' });
const tokensPartition = (connection: ConnectionName): string => `S#${connection}#tokens`;
