import type { MemberCounts, PendingCause, SettledState } from '../domain/group-state.ts';
import { holdWith, type Removals } from '../domain/hold.ts';
import { type ConnectionName, type GroupRef, groupId, memberId } from '../domain/ids.ts';
import type { Register } from '../domain/register.ts';
import type { GroupSummary, PendingEntry } from '../sync/ports/group-index.ts';
import { wakeUpFields } from './group-writes.ts';
import { dueText, groupIndexSort, groupKey, IN_SYNC, indexPartition, NOT_DUE, SHARDS } from './keys.ts';
import { all, any, eachOf, equal, exists, type Item, type Table } from './table.ts';

/**
 * Yields the items of every shard of one index list, in the order of the shards. The first pages of all shards are read
 * at the same time.
 */
export async function* queryIndex(
  table: Table,
  kind: Parameters<typeof indexPartition>[0],
  connection: ConnectionName,
  between?: readonly [string, string],
) {
  const shards = Array.from({ length: SHARDS }, (_, shard) => {
    const partition = indexPartition(kind, connection, shard);
    const pages = table
      .query({ partition, index: true, ...(between && { between }) })
      [Symbol.asyncIterator]();
    const first = pages.next();
    // A caller that awaits the page gets the error of a failed page. If the caller stops before this page, this handler
    // prevents an unhandled rejection.
    first.catch(() => undefined);
    return { pages, first };
  });
  for (const { pages, first } of shards)
    for (let page = await first; page.done !== true; page = await pages.next()) yield page.value;
}

export function createGroupIndex(table: Table) {
  return {
    /** Returns the dirty groups that are due. The group that has been due for the longest time comes first. */
    async due(
      connection: ConnectionName,
      { nowMs, limit }: { readonly nowMs: number; readonly limit: number },
    ) {
      const found: Item[] = [];
      const due = { index: true, between: ['0', `${dueText(nowMs)}#~`] } as const;
      for (let shard = 0; shard < SHARDS; shard += 1) {
        const partition = indexPartition('groups', connection, shard);
        const enough = found.length + limit;
        for await (const page of table.query({ ...due, partition, pageSize: Math.min(limit, MAX_PAGE) })) {
          found.push(...page);
          if (found.length >= enough) break;
        }
      }
      return found
        .sort((a, b) => (String(a['gsk']) < String(b['gsk']) ? -1 : 1))
        .slice(0, limit)
        .filter((item) => typeof item['group'] === 'string')
        .map((item) => summaryOf(connection, item));
    },

    /**
     * Replaces the wake-up of a dirty group. Returns false if the group is clean or has another due time.
     * @param at.dueMs the time at which the wake-up counts as lost; undefined for the usual time
     */
    async reschedule(
      { ref, dueMs: seenMs }: GroupSummary,
      { wakeAtMs, dueMs }: { readonly wakeAtMs: number; readonly dueMs?: number },
    ) {
      const seen = groupIndexSort(seenMs === undefined ? NOT_DUE : dueText(seenMs), ref.group);
      const set = wakeUpFields(ref, wakeAtMs, { dueMs });
      // If the SDK repeats the write, the first attempt has already changed the index.
      const isSeenOrOwn = any(equal('gsk', seen), equal('gsk', set.gsk));
      return (await table.update(groupKey(ref), { set }, all(exists('dirtySince'), isSeenOrOwn))).written;
    },

    /** All groups; with `unsettled`, only the groups that are not in sync. */
    async *all(connection: ConnectionName, which?: 'unsettled'): AsyncIterable<readonly GroupSummary[]> {
      const seen = new Set<string>();
      for await (const page of queryIndex(table, 'groups', connection, which && ['0', IN_SYNC])) {
        // The index entry of a group moves when the group changes, so one query may return the same group twice.
        const shown = page.filter(({ pk }) => !seen.has(pk) && seen.add(pk));
        yield shown.map((item) => summaryOf(connection, item));
      }
    },

    pending: (connection: ConnectionName): AsyncIterable<readonly PendingEntry[]> =>
      eachOf(queryIndex(table, 'pending', connection), (item) => pendingOf(connection, item)),
  };
}

/** The maximum number of items in a page. DynamoDB also limits a page to 1 MB. */
const MAX_PAGE = 1_000;

const refOf = (connection: ConnectionName, item: Item): GroupRef => ({
  connection,
  group: groupId(String(item['group'])),
});

function summaryOf(connection: ConnectionName, item: Item): GroupSummary {
  const { settled, dirtySince, failedAt, pausedAt, gsk } = item;
  const { applied, excluded } = (item['counts'] ?? {}) as Partial<MemberCounts>;
  const name = (item['name'] as Partial<Register<string>> | undefined)?.value;
  const dueMs = Number.parseInt(String(gsk), 10);
  return {
    ref: refOf(connection, item),
    hasHolds: item['removals'] !== undefined,
    holdWaits: holdWith('waiting', item as { readonly removals?: Removals }) !== undefined,
    ...(Number.isNaN(dueMs) ? {} : { dueMs }),
    ...(name === undefined ? {} : { name }),
    ...(typeof settled === 'string' ? { settled: settled as SettledState } : {}),
    ...(applied === undefined ? {} : { applied }),
    ...(excluded === undefined ? {} : { excluded }),
    ...(typeof dirtySince === 'number' ? { dirtySinceMs: dirtySince } : {}),
    ...(typeof failedAt === 'number' ? { failedAtMs: failedAt } : {}),
    ...(typeof pausedAt === 'number' ? { pausedAtMs: pausedAt } : {}),
  };
}

const pendingOf = (connection: ConnectionName, item: Item): PendingEntry => ({
  ref: refOf(connection, item),
  member: memberId(String(item['member'])),
  cause: item['pendingCause'] as PendingCause,
  sinceMs: Number(item['pendingSince']),
  ...(typeof item['pendingRevision'] === 'string' ? { personRevision: item['pendingRevision'] } : {}),
});
