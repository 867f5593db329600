import pMap from 'p-map';
import type { SentEvents } from '../../shared/contract/answers/deliveries.ts';
import type { LogEntry } from '../../shared/contract/answers/explain.ts';
import { type ConnectionName, groupId } from '../../shared/domain/ids.ts';
import { isOf } from '../../shared/operate/deliveries.ts';
import { readLog } from '../../shared/operate/log.ts';
import { usersOf } from '../../shared/operate/names.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import { matchesText, SEARCH_KEYS, type Search, type SearchKey } from '../search.ts';
import { nameOf, namesOf, type PersonName } from './people.ts';

interface ActivityFilter extends Search {
  readonly sinceMs?: number | undefined;
  /** Only entries that name an event of this delivery. */
  readonly delivery?: SentEvents | undefined;
}

/** Maximum number of entries. If the log has more, the oldest are not read. */
const MAX_ENTRIES = 5_000;

/** Entries older than this rarely change. They are read again only every `ALL_AGAIN_MS`. */
const MAY_CHANGE_MS = 10 * 60_000;
const ALL_AGAIN_MS = 5 * 60_000;

/**
 * Returns a function that returns the log entries, newest first and at most `MAX_ENTRIES`: writes, operator actions and
 * external changes. The function keeps the entries between calls. Most calls read only recent entries.
 */
export function createActivity(connection: ConnectionName, ports: ToolPorts) {
  const kept = new Map<string, readonly Entry[]>();
  let allReadMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const nowMs = ports.clock();
    const isAll = nowMs - allReadMs > ALL_AGAIN_MS;
    const sinceMs = isAll ? undefined : nowMs - MAY_CHANGE_MS;
    const { entries: rows } = await readLog(connection, { limit: MAX_ENTRIES, sinceMs }, ports);
    const people = new Map([
      ...(await namesOf(connection, rows.flatMap(idsIn), ports)),
      ...(await usersIn(rows, connection, ports)),
    ]);
    if (isAll) {
      kept.clear();
      allReadMs = nowMs;
    }
    for (const row of rows) {
      const lines = linesOf(row).map((line, part) => entryOf(line, part, people));
      kept.set(row.id, lines);
    }
    const newestFirst = [...kept].sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, MAX_ENTRIES);
    return {
      entries: newestFirst.flatMap(([, lines]) => lines),
      /** True if older entries were not searched. */
      isCut: newestFirst.length === MAX_ENTRIES,
    };
  };
}

const MAX_GROUPS = 100;

/** Returns the names of the members in external changes, because such an entry has only user ids. */
async function usersIn(rows: readonly LogEntry[], connection: ConnectionName, ports: ToolPorts) {
  const drifted = rows.flatMap(({ actor, group }) =>
    actor.kind === 'platform' && group !== null ? group : [],
  );
  const groups = [...new Set(drifted)].slice(-MAX_GROUPS);
  const found = await pMap(groups, (id) => usersOf({ connection, group: groupId(id) }, ports), {
    concurrency: READS_AT_ONCE,
  });
  return found.flatMap(({ boundTo, known }) =>
    [...boundTo].map(([user, { member }]) => [user, nameOf(member, known.get(member))] as const),
  );
}

const READS_AT_ONCE = 8;

/** Added users, removed users, and the other changes of a write are lines of their own. A new group is one line. */
const DIRECTION: Readonly<Record<string, string>> = {
  add_member: 'added',
  members_added: 'added',
  remove_member: 'removed',
  members_removed: 'removed',
};

/**
 * Splits an entry into lines. Each line has one actor, one approval, and one cause or several events. The first line has
 * the changes that a long entry leaves out.
 */
function linesOf(row: LogEntry): readonly LogEntry[] {
  const lines = new Map<string, LogEntry['changes'][number][]>();
  for (const change of row.changes) {
    const { kind, cause, event, actor, approved } = change;
    const direction = row.action === 'create' ? '' : DIRECTION[kind];
    const key = JSON.stringify([direction, event === null ? cause : '', actor, approved]);
    lines.set(key, [...(lines.get(key) ?? []), change]);
  }
  if (lines.size === 0) return [row];
  const longestFirst = [...lines.values()].sort((a, b) => b.length - a.length);
  const missing = row.changeCount - row.changes.length;
  return longestFirst.map((changes, place) => ({
    ...row,
    actor: changes[0]?.actor ?? row.actor,
    changes,
    changeCount: changes.length + (place === 0 ? missing : 0),
  }));
}

const idsIn = ({ changes }: LogEntry): readonly string[] =>
  changes.flatMap(({ member, before, after }) => [member, before, after].filter((id) => id != null));

export type Entry = ReturnType<typeof entryOf>;

function entryOf(row: LogEntry, part: number, people: ReadonlyMap<string, PersonName>) {
  const { id, at, actor, action, group, groupName, outcome, versionAfter } = row;
  const { changes, changeCount, waitedMs } = row;
  const mentioned = idsIn(row).flatMap((id) => {
    const person = people.get(id);
    return person === undefined ? [] : [[id, person] as const];
  });
  return {
    id,
    /** The place among the lines of the same write or action. */
    part,
    at,
    actor,
    action,
    group,
    groupName,
    cause: causesOf(row),
    outcome,
    version: versionAfter,
    changes,
    changeCount,
    waitedMs,
    /** Names of the members and users in the changes, by id. */
    people: Object.fromEntries(mentioned),
  };
}

const MAX_CAUSES = 10;

function causesOf({ changes, cause }: LogEntry): string {
  const causes = changes.length === 0 ? [cause] : [...new Set(changes.map((one) => one.cause))];
  const more = causes.length > MAX_CAUSES ? [`and ${causes.length - MAX_CAUSES} more`] : [];
  return [...causes.slice(0, MAX_CAUSES), ...more].join('; ');
}

/** Whether an entry matches every part of a search. */
export function matchesFilter(entry: Entry, filter: ActivityFilter): boolean {
  const { sinceMs, delivery, words } = filter;
  if (sinceMs !== undefined && Date.parse(entry.at) < sinceMs) return false;
  const isOfDelivery = (sent: SentEvents) => entry.changes.some(({ event }) => event && isOf(sent, event.id));
  if (delivery !== undefined && !isOfDelivery(delivery)) return false;
  const texts = textsOf(entry);
  return (
    SEARCH_KEYS.every((key) => matchesText(texts[key], filter[key] ?? '')) &&
    matchesText([...Object.values(texts).flat(), ...entry.changes.map(({ cause }) => cause)], words)
  );
}

function textsOf(entry: Entry): Readonly<Record<SearchKey, readonly (string | null | undefined)[]>> {
  const concerned = entry.changes.flatMap(({ member, before, after }) => [member, before, after]);
  const approvers = entry.changes.map(({ approved }) => approved?.by);
  const names = Object.values(entry.people).flatMap(({ name, email }) => [name, email]);
  return {
    group: [entry.group, entry.groupName],
    person: [...concerned, ...names],
    actor: [entry.actor.kind, entry.actor.id, entry.actor.name, ...approvers],
    action: [entry.action],
    outcome: [entry.outcome],
  };
}
