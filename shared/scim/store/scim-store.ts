import type { MemberRegister } from '../../domain/group.ts';
import { type ConnectionName, type GroupId, type GroupRef, groupId } from '../../domain/ids.ts';
import { nestedGroup, nestedMember } from '../../domain/nesting.ts';
import { readChunks, writeChunks } from '../../store/chunks.ts';
import { parseMember, parsePresence } from '../../store/group-item.ts';
import { OF_THIS_SCHEMA, understood } from '../../store/item-form.ts';
import {
  groupKey,
  keyPart,
  MEMBER_PREFIX,
  memberKey,
  resourceKey,
  resourcePartition,
} from '../../store/keys.ts';
import {
  all,
  any,
  eachOf,
  equal,
  exists,
  type Item,
  itemsOf,
  less,
  missing,
  type Table,
} from '../../store/table.ts';
import {
  type Advance,
  type EndedWrite,
  type HeldList,
  type IndexedValue,
  type ListToHold,
  ScimResource,
} from '../ports.ts';
import { createScimDescriptions } from './scim-descriptions.ts';
import { claimKey, heldKey, POINTER_PREFIX, pointerKey, valuePartition } from './scim-keys.ts';
import { createScimOrders } from './scim-orders.ts';

/** SCIM resources and their index entries. Each write of a resource is one conditional write. Reads are consistent. */
export function createScimStore(table: Table) {
  const orders = createScimOrders(table);
  const read = async (connection: ConnectionName, type: ScimResource['type'], ids: readonly string[]) => {
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

    /**
     * Returns all resources of a type in pages, sorted by id, including resources that are being deleted. `between`
     * limits the result to ids from its first id to its second id, inclusive.
     */
    list(connection: ConnectionName, type: ScimResource['type'], between?: readonly [string, string]) {
      const partition = resourcePartition(connection, type);
      const range = between && { between: [keyPart(between[0]), keyPart(between[1])] as const };
      return eachOf(table.query({ partition, ...range }), parseResource);
    },

    /**
     * Replaces `seen` (undefined for a new resource). Returns false if the stored resource differs from `seen`. Entries
     * of `writes` that are only in `resource` begin now. A limited number of entries that are only in `seen` are removed.
     */
    async save(connection: ConnectionName, resource: ScimResource, seen: ScimResource | undefined) {
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

    /**
     * Blocks an unused id, so that a slow request can no longer save its new resource under this id. The method stores a
     * resource with revision 0 in the state `deleting`. The time of this resource is later than all writes of the slow
     * request.
     * @returns the stored resource; undefined if a resource was already stored under the id
     */
    async block(
      connection: ConnectionName,
      { type, id }: { readonly type: ScimResource['type']; readonly id: string },
      nowMs: number,
    ) {
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

    /**
     * Raises the revision of a live resource in one write, without a read. Its attributes do not change. With `isChange`,
     * its version changes too.
     * @returns undefined if no such live resource exists, its time is later than `nowMs`, or its revision is not `seen`
     */
    async advance(
      connection: ConnectionName,
      { type, id }: { readonly type: ScimResource['type']; readonly id: string },
      { nowMs, isChange, seen, begins, forgets = [] }: Advance,
    ) {
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

    /** Notes that the registers have this revision. The call has no effect if the resource has changed again. */
    async settle(connection: ConnectionName, { type, id, revision }: ScimResource): Promise<void> {
      const key = resourceKey(connection, type, id);
      await table.update(key, { remove: ['open'] }, equal('revision', revision));
    },

    /** Stores the two lists of a replacement. Readers see `before` until the write ends. Has no effect after its end. */
    async holdList({ connection, group }: GroupRef, write: string, { before, after, ...stamps }: ListToHold) {
      const keyOf = (index: number) => heldKey({ connection, group }, write, index);
      const chunked = await writeChunks(table, keyOf, heldLines(before, after));
      const held = { ...stamps, ...chunked };
      const set = { [`${HELD_PREFIX}${write}`]: held };
      await table.update(resourceKey(connection, 'Group', group), { set }, exists(writeName(write)));
      return held;
    },

    /** Returns undefined if the write has ended. */
    async heldList(ref: GroupRef, write: string, held: HeldList) {
      const lines = await readChunks(table, (index) => heldKey(ref, write, index), held);
      return lines && readHeldLines(lines);
    },

    async dropList(ref: GroupRef, write: string, { chunks }: HeldList): Promise<void> {
      const keys = Array.from({ length: chunks }, (_, index) => heldKey(ref, write, index));
      await Promise.all(keys.map((key) => table.delete(key)));
    },

    /** Ends a write of a group's members, after the registers are written. It also has the effect of `settle`. */
    async endWrite(
      connection: ConnectionName,
      { type, id, revision, settled }: ScimResource,
      { id: write, supersedes, listedAt }: EndedWrite,
    ) {
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

    async remove(connection: ConnectionName, { type, id, revision }: ScimResource): Promise<void> {
      await table.delete(resourceKey(connection, type, id), equal('revision', revision));
      descriptions.forget(connection, { type, id });
      await orders.note(connection, { type, id });
    },

    /** Returns the id of the resource that claimed a unique value. The resource may now have another value. */
    async holder(connection: ConnectionName, value: IndexedValue): Promise<string | undefined> {
      const claim = await table.get(claimKey(connection, value));
      return claim === undefined ? undefined : String(claim['holder']);
    },

    /** Claims a unique value for `id`. Returns false if a resource other than `id` and `from` has the claim. */
    claim: (connection: ConnectionName, value: IndexedValue, id: string, from?: string) =>
      table.put(
        { ...claimKey(connection, value), holder: id },
        any(missing('pk'), equal('holder', id), ...(from === undefined ? [] : [equal('holder', from)])),
      ),

    async release(connection: ConnectionName, value: IndexedValue, id: string): Promise<void> {
      await table.delete(claimKey(connection, value), equal('holder', id));
    },

    /** Notes that the resource may have the value. Several resources may have the same value. */
    async point(connection: ConnectionName, value: IndexedValue, id: string): Promise<void> {
      await table.put({ ...pointerKey(connection, value, id), id });
    },

    async unpoint(connection: ConnectionName, value: IndexedValue, id: string): Promise<void> {
      await table.delete(pointerKey(connection, value, id));
    },

    async pointedAt(connection: ConnectionName, value: IndexedValue): Promise<readonly string[]> {
      const partition = valuePartition(connection, value);
      const pointers = await itemsOf(table, { partition, prefix: POINTER_PREFIX });
      return pointers.map(({ id }) => String(id));
    },

    async groupsWithin(ref: GroupRef): Promise<readonly GroupId[]> {
      const { pk: partition, sk: prefix } = memberKey(ref, nestedMember(groupId('')));
      const registers = (await itemsOf(table, { partition, prefix })).map(parseMember);
      const present = registers.filter(({ value }) => value === 'present');
      return present.flatMap(({ member }) => nestedGroup(member) ?? []);
    },

    /** Returns the registers of all present and former members. The member list is computed from these registers. */
    async memberships(ref: GroupRef): Promise<readonly MemberRegister[]> {
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
  const names = Object.keys(item);
  const named = (prefix: string) => {
    const found = names.filter((name) => name.startsWith(prefix));
    return Object.fromEntries(found.map((name) => [name.slice(prefix.length), item[name]]));
  };
  const held = { ...item, writes: named(WRITE_PREFIX), replacements: named(HELD_PREFIX) };
  return understood(ScimResource, held as Item, `a SCIM resource in partition ${item.pk}`);
}
