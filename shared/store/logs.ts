import { mayRemoveBy } from '../contract/operator-actions.ts';
import { UNKNOWN_INITIATOR } from '../domain/drift.ts';
import type { Step } from '../domain/history.ts';
import type { ConnectionName, GroupRef } from '../domain/ids.ts';
import {
  AUDIT_LIFETIME_MS,
  type AuditEntry,
  type AuditHead,
  type AuditLink,
  DriftRecord,
  linksOf,
} from '../sync/ports/logs.ts';
import { createAuditReader, Head, headKey, itemsSince, linkTo } from './audit-reader.ts';
import { writeChunks } from './chunks.ts';
import { OF_THIS_SCHEMA, understood } from './item-form.ts';
import {
  ACTION_PREFIX,
  AUDIT_PREFIX,
  auditKey,
  connectionKey,
  DRIFT_PREFIX,
  driftKey,
  driftPartition,
  driftPrefix,
  dueText,
  logPartition,
  stepKey,
} from './keys.ts';
import type { Item, QueryRequest, Table } from './table.ts';
import { all, any, eachOf, equal, exists, missing } from './table.ts';

/** The maximum number of entries of a stored list, and its maximum size in bytes. An item of 400 KB has two lists. */
const MAX_LISTED = 1_000;
const MAX_LIST_BYTES = 165_000;
/** The maximum number of users that an entry stores itself. */
const MAX_STEP_USERS = 32;
const PAGE_SIZE = 100;

/**
 * Returns the first entries that fit into an item. The JSON of an entry is at least as long as its form in DynamoDB.
 */
function fitting<Entry>(list: readonly Entry[], most = MAX_LISTED): readonly Entry[] {
  const first = list.slice(0, most);
  const fits = Buffer.byteLength(JSON.stringify(first)) <= MAX_LIST_BYTES;
  return fits ? first : fitting(first, Math.floor(first.length / 2));
}

const MAX_UNNAMED = 5;
/** Stores audit entries. By the attributes `gpk` and `gsk`, the index sorts the entries by time. */
export function createAuditLog(table: Table) {
  const stored = async (ref: GroupRef, entry: Pick<AuditEntry, 'atMs' | 'intent'>, step: Step) => {
    const { users = [], ...others } = step;
    // The memberships of an import are of any group. So the entry itself, which may be evidence of a group, has none.
    if (ref.group !== '' && users.length <= MAX_STEP_USERS) return { ...others, users };
    const keyOf = (index: number) => stepKey(ref, entry, index);
    return { ...others, chunks: { ...(await writeChunks(table, keyOf, users, expiry(entry.atMs))) } };
  };
  /** Adds the link of an entry that no other entry names yet to the group's item. */
  async function keep(ref: GroupRef, link: AuditLink): Promise<void> {
    const { unnamedAudits: before } = Head.parse((await table.get(headKey(ref))) ?? {});
    const links = linksOf({ unnamedAudits: before });
    if (links.includes(link)) return;
    const unnamedAudits = [...links, link].slice(-MAX_UNNAMED).join(' ');
    const isAsSeen = before === undefined ? missing('unnamedAudits') : equal('unnamedAudits', before);
    const { written } = await table.update(headKey(ref), { set: { unnamedAudits } }, isAsSeen);
    return written ? undefined : keep(ref, link);
  }

  return {
    ...createAuditReader(table),

    /**
     * Stores an entry. An entry with the same key is replaced.
     * @param kind `action`: the entry is an action of a person, and not a write or decision of groupsync
     */
    async record(ref: GroupRef, { step, ...entry }: AuditEntry, kind?: 'action'): Promise<AuditLink> {
      const isCause = kind === 'action' && mayRemoveBy(entry.action) !== 'no';
      const prefix = isCause ? ACTION_PREFIX : AUDIT_PREFIX;
      const item: Item = {
        ...auditKey(ref, new Date(entry.atMs).toISOString(), entry.intent, prefix),
        ...OF_THIS_SCHEMA,
        ...(ref.group === '' ? {} : { group: ref.group }),
        ...entry,
        ...(step && { step: await stored(ref, entry, step) }),
        changes: fitting(entry.changes).map((change) => ({ ...change })),
        ...(entry.causes && { causes: fitting(entry.causes).map((cause) => ({ ...cause })) }),
        gpk: logPartition(ref.connection),
        gsk: `${dueText(entry.atMs)}#${entry.intent}`,
        ...expiry(entry.atMs),
      };
      await table.put(item);
      return linkTo(item);
    },

    /** Stores the link of the newest action. Returns false if another action was stored since `seen` was read. */
    async endWith(ref: GroupRef, lastAction: AuditLink, seen: AuditHead): Promise<boolean> {
      const isAsSeen =
        seen.lastAction === undefined ? missing('lastAction') : equal('lastAction', seen.lastAction);
      // The SDK repeats a write whose answer was lost. The condition must then accept the action that the first attempt
      // stored.
      const isLast = any(isAsSeen, equal('lastAction', lastAction));
      const when = ref.group === '' ? isLast : all(exists('rev'), isLast);
      return (await table.update(headKey(ref), { set: { lastAction } }, when)).written;
    },

    keep,
  };
}

export function createDriftLog(table: Table) {
  const recordsUnder = (connection: ConnectionName, prefix: string, how: Partial<QueryRequest> = {}) =>
    eachOf(table.query({ partition: connectionKey(connection).pk, prefix, ...how }), parseDrift);

  return {
    /** Stores a record. If the record already exists, the stored record stays, and the method returns false. */
    record: (connection: ConnectionName, drift: DriftRecord): Promise<boolean> =>
      table.put(
        {
          ...driftKey({ connection, group: drift.group }, drift.id),
          ...OF_THIS_SCHEMA,
          ...drift,
          before: bounded(drift.before),
          after: bounded(drift.after),
          eventIds: fitting(drift.eventIds),
          ...happened(connection, drift.detectedAtMs, drift.id),
          // A write names the open records of its group as its cause, so only a settled record expires.
          ...(drift.settledAtMs !== null && expiry(drift.settledAtMs)),
        },
        missing('pk'),
      ),

    /** Settles records. A record that is already settled does not change. */
    async settle(
      ref: GroupRef,
      ids: readonly string[],
      { by, atMs }: { readonly by: NonNullable<DriftRecord['settledBy']>; readonly atMs: number },
    ) {
      for (const id of ids) {
        await table.update(
          driftKey(ref, id),
          {
            set: { settledBy: by, settledAtMs: atMs, ...expiry(atMs), ...happened(ref.connection, atMs, id) },
          },
          all(exists('pk'), equal('settledAtMs', null)),
        );
      }
    },

    /** Stores the initiator of a difference, if the record has no initiator yet. */
    async attribute(
      ref: GroupRef,
      id: string,
      { initiator, actor, eventIds }: Pick<DriftRecord, 'initiator' | 'actor' | 'eventIds'>,
    ) {
      await table.update(
        driftKey(ref, id),
        { set: { initiator, ...(actor && { actor }), eventIds: fitting(eventIds) } },
        equal('initiator', UNKNOWN_INITIATOR),
      );
    },

    read: async (ref: GroupRef, ids: readonly string[]): Promise<readonly DriftRecord[]> =>
      (await table.getMany(ids.map((id) => driftKey(ref, id)))).map(parseDrift),

    list: (connection: ConnectionName) => recordsUnder(connection, DRIFT_PREFIX),

    /** Returns the records in pages, newest first. Records about unknown users and duplicates come last, unsorted. */
    ofGroup: ({ connection, group }: GroupRef): AsyncIterable<readonly DriftRecord[]> =>
      recordsUnder(connection, driftPrefix(group), { newestFirst: true, pageSize: PAGE_SIZE }),

    /** Returns the records that were found or settled since this time. Records of the last second may be missing. */
    since: (connection: ConnectionName, atMs: number, newestFirst = false) =>
      eachOf(itemsSince(table, atMs, { partition: driftPartition(connection), newestFirst }), parseDrift),
  };
}

const expiry = (atMs: number) => ({ expiresAt: Math.ceil((atMs + AUDIT_LIFETIME_MS) / 1_000) });

const happened = (connection: ConnectionName, atMs: number, id: string) => ({
  gpk: driftPartition(connection),
  gsk: `${dueText(atMs)}#${id}`,
});

const bounded = (side: DriftRecord['before']) =>
  typeof side === 'string' || side === null ? side : fitting(side);

const parseDrift = (item: Item): DriftRecord => understood(DriftRecord, item, `a drift record at ${item.sk}`);
