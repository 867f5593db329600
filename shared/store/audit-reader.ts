import { createHash } from 'node:crypto';
import * as z from 'zod';
import { GroupItem } from '../domain/group-state.ts';
import { type StepUser, stepUserOf } from '../domain/history.ts';
import type { ConnectionName, GroupRef } from '../domain/ids.ts';
import { AuditEntry, type AuditHead, entriesIn, type KeptEntry } from '../sync/ports/logs.ts';
import { readChunks } from './chunks.ts';
import { understood } from './item-form.ts';
import {
  ACTION_PREFIX,
  AUDIT_PREFIX,
  dueText,
  groupKey,
  journalKey,
  logPartition,
  STEP_PREFIX,
  stepKey,
} from './keys.ts';
import type { Item, QueryRequest, Table } from './table.ts';
import { eachOf } from './table.ts';

/** The size of a page. The size is small, so that a request for the newest entries does not read many older entries. */
const PAGE_SIZE = 100;
export const Head = z.lazy(() =>
  GroupItem.unwrap().pick({ lastAudit: true, lastAction: true, unnamedAudits: true, openMove: true }),
);

/** Reads audit entries: of the table, or of a folder with evidence. */
export function createAuditReader(table: Pick<Table, 'get' | 'getMany' | 'query'>) {
  const entriesUnder = (ref: GroupRef, prefix: string) => {
    const wanted = { partition: groupKey(ref).pk, prefix, newestFirst: true, pageSize: PAGE_SIZE };
    return eachOf(table.query(wanted), parseEntry);
  };

  return {
    /** Returns undefined if there is no such group. */
    async head(ref: GroupRef): Promise<AuditHead | undefined> {
      const item = await table.get(headKey(ref));
      if (ref.group === '') return Head.parse(item ?? {});
      return item?.['rev'] === undefined ? undefined : Head.parse(item);
    },

    /** Returns the group's entries in pages, newest first. */
    read(ref: GroupRef): AsyncIterable<readonly KeptEntry[]> {
      return newestOf(entriesUnder(ref, AUDIT_PREFIX), entriesUnder(ref, ACTION_PREFIX));
    },

    /** Returns only the actions of persons that may cause removals, in pages, newest first. */
    actions: (ref: GroupRef): AsyncIterable<readonly KeptEntry[]> => entriesUnder(ref, ACTION_PREFIX),

    /** Returns the users of an entry's step; undefined if a chunk is missing. */
    async usersOf(ref: GroupRef, { step, ...entry }: AuditEntry): Promise<readonly StepUser[] | undefined> {
      const keyOf = (index: number) => stepKey(ref, entry, index);
      const lines = step?.chunks ? await readChunks(table, keyOf, step.chunks) : (step?.users ?? []);
      return lines?.map(stepUserOf);
    },

    /** All entries of the connection since this time, newest first. Entries of the last second may be missing. */
    since(connection: ConnectionName, atMs: number): AsyncIterable<readonly KeptEntry[]> {
      const wanted = { partition: logPartition(connection), newestFirst: true, pageSize: PAGE_SIZE };
      return eachOf(itemsSince(table, atMs, wanted), parseEntry);
    },

    /**
     * Returns the stored items of the group's entries in this time, with those of their users, and its links. The links
     * are those of the call. The users of an import's entry are left out, because they are of any group.
     */
    async *items(ref: GroupRef, sinceMs: number, untilMs: number): AsyncGenerator<readonly Item[]> {
      const { pk, sk } = headKey(ref);
      const head = await table.get({ pk, sk });
      const links = Object.fromEntries(Object.entries(head ?? {}).filter(([name]) => LINKS.has(name)));
      yield [{ ...links, pk, sk }];
      const [since, until] = [sinceMs, untilMs].map((ms) => new Date(ms).toISOString());
      for (const prefix of [AUDIT_PREFIX, ACTION_PREFIX, ref.group ? [STEP_PREFIX] : []].flat())
        yield* table.query({ partition: pk, between: [`${prefix}${since}`, `${prefix}${until}~`] });
    },
  };
}
const LINKS = new Set(['rev', 'lastAudit', 'lastAction', 'unnamedAudits']);

/** Merges lists of pages, all newest first. The next page of a list is read only when its entries may be next. */
async function* newestOf(...lists: readonly AsyncIterable<readonly KeptEntry[]>[]) {
  const entries = lists.map(entriesIn);
  const heads = await Promise.all(entries.map((one) => one.next()));
  for (;;) {
    const orders = heads.map(({ value }) => (value === undefined ? '' : orderOf(value)));
    const [newest = ''] = orders.toSorted().toReversed();
    const at = orders.indexOf(newest);
    const [head, list] = [heads[at]?.value, entries[at]];
    if (head === undefined || list === undefined) return;
    yield [head];
    heads[at] = await list.next();
  }
}

/** Entries of the same time are in the order of their ids, as their keys are. */
const orderOf = ({ atMs, intent }: KeptEntry): string => `${dueText(atMs)}#${intent}`;

/** Yields the items of an index query from the time `atMs` on, in the order of the index. */
export async function* itemsSince(
  table: Pick<Table, 'getMany' | 'query'>,
  atMs: number,
  wanted: QueryRequest,
) {
  for await (const page of table.query({ ...wanted, index: true, between: [dueText(atMs), '~'] })) {
    const items = new Map((await table.getMany(page)).map((item) => [`${item.pk} ${item.sk}`, item]));
    yield page.flatMap(({ pk, sk }) => items.get(`${pk} ${sk}`) ?? []);
  }
}

export const headKey = (ref: GroupRef) => (ref.group === '' ? journalKey(ref) : groupKey(ref));

function parseEntry(item: Item): KeptEntry {
  const entry = understood(AuditEntry, item, `an audit entry at ${item.sk}`);
  return { ...entry, link: linkTo(item) };
}

/** Attributes that are not part of an entry. The keys are: an entry under another prefix would hide an action. */
const NOT_HASHED = new Set(['schema', 'expiresAt']);

/**
 * Returns the time of an entry and a hash, in the form `<milliseconds since 1970>#<hash>`. The hash covers the keys and
 * the content in a canonical order, also attributes of later releases. It is shortened to 132 bits.
 */
export function linkTo(item: Item): string {
  const hashed = Object.entries(item).filter(([name]) => !NOT_HASHED.has(name));
  const hash = createHash('sha256')
    .update(canonical(Object.fromEntries(hashed)))
    .digest('base64url');
  const [, at = ''] = item.sk.split('#');
  return `${Date.parse(at)}#${hash.slice(0, 22)}`;
}

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
