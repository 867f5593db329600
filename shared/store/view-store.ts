import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import pMap from 'p-map';
import { viewDigest } from '../domain/content-digest.ts';
import { FIELD_NAMES, fieldsFrom } from '../domain/group-fields.ts';
import type { GroupState, ViewPointer } from '../domain/group-state.ts';
import {
  type GroupRef,
  type IntentId,
  idTimeMs,
  type PlatformUserId,
  platformUserId,
} from '../domain/ids.ts';
import type { UserChange, View, WaitCause, WeakMode } from '../domain/view.ts';
import { IN_FLIGHT, readChunks, writeChunks } from './chunks.ts';
import { parseGroup } from './group-item.ts';
import { groupKey, VIEW_PREFIX, viewBucketKey, viewChunkKey } from './keys.ts';
import type { Item, Key, Table } from './table.ts';

/*
 * A small view is a text on the group's item. The users of a larger view are spread over buckets by their ids. So a
 * change of one user rewrites only one bucket:
 *
 *     pointer on the item ──▶ VIEW#<view>#0000, its head: all but the users, names of buckets ──▶ VIEW#~<bucket>: users
 *
 * A bucket never changes. Its name contains the hash of its content and of the write that made it. A new view reuses
 * those buckets of the previous view whose users have not changed. The pointer to the new view is written only if the
 * item still has the previous view (conditions in `group-writes.ts`). The head and the buckets of the view on the item
 * are never deleted.
 */

/**
 * A view up to this size is stored on the group's item. A larger text would make every write of the item more
 * expensive.
 */
const INLINE_VIEW_BYTES = 1_024;
/** A view has about √(SQUARE × bytes / INLINE_VIEW_BYTES) buckets. A bucket is then about as large as the head. */
const SQUARE = 32;
const HEADS_REMEMBERED = 200;
/** After this time, the write that stored a chunk has certainly ended or failed. */
const CHUNK_AGE_MS = 3_600_000;

export function createViewStore(table: Table, inlineViewBytes = INLINE_VIEW_BYTES) {
  /**
   * The lines of the heads of views that this process recently wrote or read completely, by the hash of the head. A new
   * view reuses only buckets of these views.
   */
  const whole = new Map<string, readonly string[]>();
  const remember = (hash: string, lines?: readonly string[]) => {
    whole.delete(hash);
    if (lines !== undefined) whole.set(hash, lines);
    const [oldest = ''] = whole.keys();
    if (whole.size > HEADS_REMEMBERED) whole.delete(oldest);
  };
  const linesAt = async (ref: GroupRef, { id, text, head }: ViewPointer) =>
    head === undefined
      ? text?.split('\n')
      : (whole.get(head.hash) ?? readChunks(table, (n) => viewChunkKey(ref, id, n), head));

  const bucketsOf = async (ref: GroupRef, pointers: readonly ViewPointer[]) => {
    const heads = await Promise.all(pointers.map((one) => (one.head === undefined ? [] : linesAt(ref, one))));
    const names = heads.flatMap((lines) => lines?.filter(isBucket) ?? []);
    return { isWhole: !heads.includes(undefined), keys: names.map((name) => viewBucketKey(ref, name)) };
  };
  const isLitter = async (state: GroupState) => {
    const { ref, link, intent, previousLink, uncertain } = state;
    const ours = [
      link?.view,
      intent?.change,
      previousLink?.view,
      uncertain?.change,
      uncertain?.write?.change,
    ];
    const pointers = ours.filter((pointer) => pointer !== undefined);
    // If a head is missing, another worker has discarded its view. The used buckets are then unknown, so nothing is
    // deleted.
    const { isWhole, keys } = await bucketsOf(ref, pointers);
    const inUse = new Set([...pointers.map(({ id }) => id), ...keys.map(nameIn)]);
    return (key: Key) => isWhole && !inUse.has(nameIn(key));
  };
  const erase = (keys: readonly Key[]) =>
    pMap(keys, ({ pk, sk }) => table.delete({ pk, sk }), { concurrency: IN_FLIGHT });

  return {
    /**
     * @returns undefined if a chunk or a bucket is missing, or differs from the written content
     */
    async read(ref: GroupRef, pointer: ViewPointer): Promise<View | undefined> {
      const lines = await linesAt(ref, pointer);
      const buckets = [...new Set(lines?.filter(isBucket))];
      const items = await table.getMany(buckets.map((bucket) => viewBucketKey(ref, bucket)));
      const texts = items.map(({ text }) => String(text));
      const found = new Set(texts.map(digest));
      const isWhole = lines !== undefined && buckets.every((bucket) => found.has(contentOf(bucket)));
      if (pointer.head !== undefined) remember(pointer.head.hash, isWhole ? lines : undefined);
      if (!isWhole) return undefined;
      const users = texts.flatMap((text) => (text === '' ? [] : text.split('\n')));
      return viewFrom([...lines.filter((line) => !isBucket(line)), ...users]);
    },

    async write(seen: GroupState, id: IntentId, view: View): Promise<ViewPointer> {
      const { ref, link } = seen;
      const { size } = view.users;
      const [own, users] = [[...ownLines(view)], [...userLines(view.users), ...wantedBeforeLines(view)]];
      const text = [...own, ...users].join('\n');
      const bytes = Buffer.byteLength(text);
      const pointer = { id, size, digest: viewDigest(view) };
      if (bytes <= inlineViewBytes) return { ...pointer, text };
      const taken = whole.get(link?.view.head?.hash ?? '')?.filter(isBucket) ?? [];
      const known = new Map(taken.map((bucket) => [contentOf(bucket), bucket]));
      const count = bucketCount((SQUARE * bytes) / inlineViewBytes, taken.length);
      const nameOf = (content: string) => known.get(content) ?? `#${content}${digest(id).slice(0, 6)}`;
      const buckets = spreadOver(count, users).map((some) => [nameOf(digest(some)), some] as const);
      const lines = [...own, ...buckets.map(([name]) => name)];
      const fresh = buckets.filter(([name]) => !known.has(contentOf(name)));
      const put = ([name, some]: (typeof buckets)[number]) =>
        table.put({ ...viewBucketKey(ref, name), madeBy: id, text: some });
      const puts = pMap(fresh, put, { concurrency: IN_FLIGHT });
      const [head] = await Promise.all([writeChunks(table, (n) => viewChunkKey(ref, id, n), lines), puts]);
      remember(head.hash, lines);
      return { ...pointer, head };
    },

    /** Stores a small change on the item, and a larger change in chunks, like a large head. */
    async writeChange({ ref }: GroupState, id: IntentId, change: UserChange): Promise<ViewPointer> {
      const lines = [...changeLines(change)];
      const text = lines.join('\n');
      if (Buffer.byteLength(text) <= inlineViewBytes) return { id, size: lines.length, text };
      const head = await writeChunks(table, (n) => viewChunkKey(ref, id, n), lines);
      return { id, size: lines.length, head };
    },

    async readChange(ref: GroupRef, pointer: ViewPointer): Promise<UserChange | undefined> {
      const lines = await linesAt(ref, pointer);
      return lines && changeFrom(lines);
    },

    /** Deletes the items of a view or change, except items that a view or change named on the group's item uses. */
    async discard(ref: GroupRef, gone: ViewPointer | undefined, item: Item): Promise<void> {
      if (gone === undefined) return;
      const own = Array.from({ length: gone.head?.chunks ?? 0 }, (_, n) => viewChunkKey(ref, gone.id, n));
      const all = [...own, ...(await bucketsOf(ref, [gone])).keys];
      await erase(all.filter(await isLitter(parseGroup(ref, item))));
    },

    /** Deletes view items that the group's item does not use and that are over an hour old. Returns their number. */
    async collect(state: GroupState, nowMs: number): Promise<number> {
      const [isDead, { pk }] = [await isLitter(state), groupKey(state.ref)];
      const isOld = (item: Item) => idTimeMs(String(item['madeBy'] ?? nameIn(item))) < nowMs - CHUNK_AGE_MS;
      let collected = 0;
      for await (const page of table.query({ partition: pk, prefix: VIEW_PREFIX, only: ['madeBy'] }))
        collected += (await erase(page.filter((item) => isDead(item) && isOld(item)))).length;
      return collected;
    },
  };
}

const isBucket = (line: string): boolean => line.startsWith('#');
const contentOf = (bucket: string): string => bucket.slice(1, 17);
const nameIn = ({ sk }: Key): string => sk.split('#')[1] ?? '';
const digest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 16);

/**
 * Returns the number of buckets, a power of two. If the size of a view changes, the number of buckets stays until the
 * ideal number is four times larger or smaller.
 */
function bucketCount(square: number, before: number): number {
  const right = 2 ** Math.floor(Math.log2(square) / 2);
  return Math.abs(Math.log2(before / right)) <= 1 ? before : right;
}

function spreadOver(count: number, users: readonly string[]): readonly string[] {
  const buckets = Array.from({ length: count }, (): string[] => []);
  for (const user of users) buckets[crc32(user.slice(1)) % count]?.push(user);
  return buckets.map((bucket) => bucket.sort().join('\n'));
}

/*
 * A view is stored as lines. The first line is the name. Then come the other fields in the order of `GROUP_FIELDS`,
 * each with `=`. Then come the mode, the sent name (`alias`), the hidden users and the users whose removal waits, each
 * with `!`. The last lines have one user each (`+` wanted since the link, `-` never wanted, `~` wanted, and not in the
 * group now). Values are URI-encoded, so they contain no line breaks.
 */

const ALIAS = '!alias ';
const HIDDEN = '!hidden ';
const MODE = '!mode ';
const WAIT = '!wait ';
const WANTED_BEFORE = '~';

function* ownLines(view: View): Iterable<string> {
  const { name, alias, mode, hidden = new Map(), waits = new Map(), ...fields } = view;
  yield encodeURIComponent(name);
  for (const field of OTHER_FIELDS) yield fieldLine(fields[field]);
  if (mode !== undefined) yield `${MODE}${mode}`;
  if (alias !== undefined) yield `${ALIAS}${encodeURIComponent(alias)}`;
  for (const line of userLines(hidden)) yield `${HIDDEN}${line}`;
  for (const [user, cause] of waits) yield `${WAIT}${cause} ${encodeURIComponent(user)}`;
}

function* userLines(users: View['users']): Iterable<string> {
  for (const [user, mine] of users) yield `${mine ? '+' : '-'}${encodeURIComponent(user)}`;
}

function* wantedBeforeLines({ wantedBefore = new Set() }: View): Iterable<string> {
  for (const user of wantedBefore) yield `${WANTED_BEFORE}${encodeURIComponent(user)}`;
}

const usersIn = (lines: readonly string[]): View['users'] =>
  new Map(lines.map((line) => [decodeUser(line.slice(1)), line.startsWith('+')]));

const OTHER_FIELDS = FIELD_NAMES.filter((field) => field !== 'name');
const NO_VALUE = '=';
const EMPTY = '=+';

function fieldLine(value: string | null | undefined): string {
  if (value == null) return NO_VALUE;
  return value === '' ? EMPTY : `=${encodeURIComponent(value)}`;
}

function valueIn(line: string = NO_VALUE): string | null {
  if (line === NO_VALUE) return null;
  return line === EMPTY ? '' : decodeURIComponent(line.slice(1));
}

function viewFrom([name = '', ...lines]: readonly string[]): View {
  const fields = lines.filter((line) => line.startsWith('='));
  const rest = lines.slice(fields.length);
  const ofField = (field: (typeof OTHER_FIELDS)[number]) => valueIn(fields[OTHER_FIELDS.indexOf(field)]);
  const after = (prefix: string) =>
    rest.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
  const [alias] = after(ALIAS);
  const [mode] = after(MODE);
  const hidden = after(HIDDEN);
  const waits = after(WAIT).map((line) => line.split(' ') as [WaitCause, string]);
  const left = after(WANTED_BEFORE).map(decodeUser);
  const users = rest.filter((line) => !line.startsWith('!') && !line.startsWith(WANTED_BEFORE));
  return {
    ...fieldsFrom((field) => (field === 'name' ? decodeURIComponent(name) : ofField(field))),
    ...(alias === undefined ? {} : { alias: decodeURIComponent(alias) }),
    users: usersIn(users),
    ...(hidden.length > 0 && { hidden: usersIn(hidden) }),
    ...(left.length > 0 && { wantedBefore: new Set(left) }),
    ...(waits.length > 0 && { waits: new Map(waits.map(([cause, user]) => [decodeUser(user), cause])) }),
    ...(mode === undefined ? {} : { mode: mode as WeakMode }),
  };
}

/** Yields `+` and a user that the writes may add, or `-` and a user that the writes may remove. */
function* changeLines({ added, removed }: UserChange): Iterable<string> {
  for (const user of added) yield `+${encodeURIComponent(user)}`;
  for (const user of removed) yield `-${encodeURIComponent(user)}`;
}

function changeFrom(lines: readonly string[]): UserChange {
  const after = (sign: string) =>
    lines.flatMap((line) => (line.startsWith(sign) ? [decodeUser(line.slice(1))] : []));
  return { added: new Set(after('+')), removed: new Set(after('-')) };
}

export const decodeUser = (line: string): PlatformUserId => platformUserId(decodeURIComponent(line));
