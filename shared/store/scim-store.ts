import { groupId } from '../domain/ids.ts';
import { nestedGroup, nestedMember } from '../domain/nesting.ts';
import type { ScimStore } from '../sync/ports/scim.ts';
import { ScimResource } from '../sync/ports/scim.ts';
import { readChunks, writeChunks } from './chunks.ts';
import { parseMember, parsePresence } from './group-item.ts';
import { OF_THIS_SCHEMA, understood } from './item-form.ts';
import { groupKey, keyPart, MEMBER_PREFIX, memberKey } from './keys.ts';
import { createScimDescriptions } from './scim-descriptions.ts';
import {
  claimKey,
  heldKey,
  POINTER_PREFIX,
  pointerKey,
  resourceKey,
  resourcePartition,
  valuePartition,
} from './scim-keys.ts';
import { createScimOrders } from './scim-orders.ts';
import { all, any, eachOf, equal, exists, type Item, itemsOf, less, missing, type Table } from './table.ts';

export function createScimStore(table: Table): ScimStore {
  const orders = createScimOrders(table);
  const read: ScimStore['read'] = async (connection, type, ids) => {
    // No resource has an empty id, and DynamoDB refuses an empty key.
    const named = ids.filter((id) => id !== '');
    const items = await table.getMany(named.map((id) => resourceKey(connection, type, id)));
    return items.map(parseResource);
  };
  const descriptions = createScimDescriptions(read);
  return {
    order: orders.read,
    noteOrder: orders.note,
    read,
    describe: descriptions.describe,

    list(connection, type, between) {
      const partition = resourcePartition(connection, type);
      const range = between && { between: [keyPart(between[0]), keyPart(between[1])] as const };
      return eachOf(table.query({ partition, ...range }), parseResource);
    },

    async save(connection, resource, seen) {
      const { settled, version, writes, replacements, listedAt, keptMs, ...kept } = resource;
      const key = resourceKey(connection, resource.type, resource.id);
      const set = {
        ...OF_THIS_SCHEMA,
        ...kept,
        idle: kept.revision - version,
        ...(keptMs === undefined ? {} : { keptMs }),
        ...(settled ? {} : { open: true }),
      };
      if (seen === undefined) {
        const isNew = await table.put({ ...key, ...set }, missing('pk'));
        descriptions.forget(connection, resource);
        return isNew;
      }
      // Other writes of members may begin and end during this update. So the update changes only the marks of the
      // writes that it begins or removes.
      const begun = [...writes].filter(([id]) => !seen.writes.has(id));
      const forgotten = [...seen.writes.keys()].filter((id) => !writes.has(id));
      const change = {
        set: { ...set, ...Object.fromEntries(begun.map(([id, atMs]) => [writeName(id), atMs])) },
        remove: [
          ...removals(forgotten),
          ...(keptMs === undefined ? ['keptMs'] : []),
          ...(settled ? ['open'] : []),
        ],
      };
      const { written } = await table.update(key, change, equal('revision', seen.revision));
      descriptions.forget(connection, resource);
      return written;
    },

    async block(connection, { type, id }, nowMs) {
      const untilMs = nowMs + BLOCKED_FOR_MS;
      const item = {
        ...resourceKey(connection, type, id),
        ...OF_THIS_SCHEMA,
        type,
        id,
        attributes: {},
        revision: 0,
        idle: 0,
        createdMs: nowMs,
        modifiedMs: untilMs,
        changedMs: nowMs,
        state: 'deleting',
        expiresAt: Math.ceil((untilMs + BLOCK_KEPT_MS) / 1_000),
      };
      return (await table.put(item, missing('pk'))) ? parseResource(item) : undefined;
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

    async holdList({ connection, group }, write, { first, last, before, after }) {
      const keyOf = (index: number) => heldKey({ connection, group }, write, index);
      const chunked = await writeChunks(table, keyOf, heldLines(before, after));
      const held = { first, last, ...chunked };
      const set = { [`${HELD_PREFIX}${write}`]: held };
      await table.update(resourceKey(connection, 'Group', group), { set }, exists(writeName(write)));
      return held;
    },

    async heldList(ref, write, held) {
      const lines = await readChunks(table, (index) => heldKey(ref, write, index), held);
      return lines && readHeldLines(lines);
    },

    async dropList(ref, write, { chunks }) {
      const keys = Array.from({ length: chunks }, (_, index) => heldKey(ref, write, index));
      await Promise.all(keys.map((key) => table.delete(key)));
    },

    async endWrite(connection, { type, id, revision, settled }, { id: write, supersedes, listedAt }) {
      const key = resourceKey(connection, type, id);
      const remove = removals([write, ...supersedes]);
      const set = listedAt === undefined ? {} : { listedAt };
      if (!settled) {
        const change = { set, remove: ['open', ...remove] };
        if ((await table.update(key, change, equal('revision', revision))).written) return;
      }
      // If this condition fails, the item is gone, or a write of a later whole list has already ended.
      const isLatest =
        listedAt === undefined
          ? exists('revision')
          : all(exists('revision'), any(missing('listedAt'), less('listedAt', listedAt)));
      if ((await table.update(key, { set, remove }, isLatest)).written || listedAt === undefined) return;
      await table.update(key, { remove }, exists('revision'));
    },

    async remove(connection, { type, id, revision }) {
      await table.delete(resourceKey(connection, type, id), equal('revision', revision));
      descriptions.forget(connection, { type, id });
      await orders.note(connection, { type, id });
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

    async groupsWithin(ref) {
      const { pk: partition, sk: prefix } = memberKey(ref, nestedMember(groupId('')));
      const registers = (await itemsOf(table, { partition, prefix })).map(parseMember);
      const present = registers.filter(({ value }) => value === 'present');
      return present.flatMap(({ member }) => nestedGroup(member) ?? []);
    },

    async memberships(ref) {
      const only = ['member', 'presence', 'stamp'];
      const { pk: partition } = groupKey(ref);
      return (await itemsOf(table, { partition, prefix: MEMBER_PREFIX, only })).map(parsePresence);
    },
  };
}

/** The duration of a block, longer than any request: 30 seconds in API Gateway, and 30 seconds of clock difference. */
const BLOCKED_FOR_MS = 60_000;
/** How long the item stays after the block ends. A list request that finds the item after the block deletes it. */
const BLOCK_KEPT_MS = 3_600_000;

/**
 * The prefix of the attributes that mark writes of members. Each write has its own attribute, so it needs no condition
 * about other writes.
 */
const WRITE_PREFIX = 'write_';
const writeName = (id: string): string => `${WRITE_PREFIX}${id}`;

/**
 * The maximum number of write marks that one update removes. Each mark needs two removals, and a DynamoDB expression of
 * 4 KB has room for about 600 removals.
 */
const MAX_REMOVALS = 100;
/**
 * Returns the attributes of the first `MAX_REMOVALS` writes. Later saves remove the remaining attributes, because each
 * save adds at most one.
 */
const removals = (ids: readonly string[]): readonly string[] =>
  ids.slice(0, MAX_REMOVALS).flatMap((id) => [writeName(id), `${HELD_PREFIX}${id}`]);

/**
 * The prefix of the attributes for whole member lists that are being written, one attribute per write. Each has the
 * stamps of its revision, and the location of the old list and the new list.
 */
const HELD_PREFIX = 'held_';

/**
 * Returns one line for each member: `-` if only the old list has the member, `+` if only the new list has it, `=` if
 * both have it. The id follows as JSON, which has no line breaks.
 */
function heldLines(before: readonly string[], after: ReadonlySet<string>): readonly string[] {
  const known = new Set(before);
  return [
    ...before.map((id) => `${after.has(id) ? '=' : '-'}${JSON.stringify(id)}`),
    ...[...after].filter((id) => !known.has(id)).map((id) => `+${JSON.stringify(id)}`),
  ];
}

function readHeldLines(lines: readonly string[]) {
  const idsOf = (marks: string) =>
    lines
      .filter((line) => line !== '' && marks.includes(line.charAt(0)))
      .map((line) => String(JSON.parse(line.slice(1))));
  return { before: idsOf('=-'), after: new Set(idsOf('=+')) };
}

function parseResource(item: Item): ScimResource {
  const named = (prefix: string) =>
    Object.fromEntries(
      Object.entries(item).flatMap(([name, value]) =>
        name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [],
      ),
    );
  const held = { ...item, writes: named(WRITE_PREFIX), replacements: named(HELD_PREFIX) };
  return understood(ScimResource, held as Item, `a SCIM resource in partition ${item.pk}`);
}
