import type { LogEntry } from '../../shared/contract/answers.ts';
import type { ConnectionName } from '../../shared/domain/ids.ts';
import { readLog } from '../../shared/operate/log.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import type { Activity, Entry, PersonName } from '../answers.ts';
import { namesOf } from './people.ts';

export interface ActivityFilter {
  readonly group?: string | undefined;
  readonly person?: string | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly outcome?: string | undefined;
  readonly sinceMs?: number | undefined;
}

/** Entries that are read for the activity of all: the newest. */
const MOST = 5_000;

/** What is older than this does not change any more, as a rule: it is read again only now and then. */
const MAY_CHANGE_MS = 10 * 60_000;
const ALL_AGAIN_MS = 5 * 60_000;

/**
 * Everything that happened, newest first: what was written and done, and what others changed on the platform. Asked again
 * and again it reads what is new.
 */
export function createActivity(connection: ConnectionName, ports: ToolPorts) {
  const kept = new Map<string, Entry>();
  let allReadMs = Number.NEGATIVE_INFINITY;
  return async (): Promise<Pick<Activity, 'entries' | 'isCut'>> => {
    const nowMs = ports.clock();
    const isAll = nowMs - allReadMs > ALL_AGAIN_MS;
    const sinceMs = isAll ? undefined : nowMs - MAY_CHANGE_MS;
    const rows = await readLog(connection, { limit: MOST, sinceMs }, ports);
    const people = await namesOf(connection, rows.flatMap(idsIn), ports);
    if (isAll) {
      kept.clear();
      allReadMs = nowMs;
    }
    for (const row of rows) kept.set(row.id, entryOf(row, people));
    const newestFirst = [...kept].sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, MOST);
    return { entries: newestFirst.map(([, entry]) => entry), isCut: newestFirst.length === MOST };
  };
}

const idsIn = ({ changes }: LogEntry): readonly string[] =>
  changes.flatMap(({ member, before, after }) => [member, before, after].filter((id) => id != null));

function entryOf(row: LogEntry, people: ReadonlyMap<string, PersonName>): Entry {
  const { at, actor, action, group, groupName, cause, outcome, versionAfter, changes, changeCount } = row;
  const mentioned = idsIn(row).flatMap((id) => people.get(id) ?? []);
  return {
    at,
    actor,
    action,
    group,
    groupName,
    cause,
    outcome,
    version: versionAfter,
    changes,
    changeCount,
    people: Object.fromEntries(mentioned.map((person) => [person.id, person])),
  };
}

export function fits(entry: Entry, filter: ActivityFilter): boolean {
  const { group, person, actor, action, outcome, sinceMs } = filter;
  const has = (texts: readonly (string | null | undefined)[], wanted: string | undefined) =>
    wanted === undefined || texts.some((text) => text?.toLowerCase().includes(wanted.toLowerCase()));
  const concerned = entry.changes.flatMap(({ member, before, after }) => [member, before, after]);
  const names = Object.values(entry.people).flatMap(({ name, email }) => [name, email]);
  return (
    has([entry.group, entry.groupName], group) &&
    has([...concerned, ...names], person) &&
    has([entry.actor.kind, entry.actor.id, entry.actor.name], actor) &&
    has([entry.action], action) &&
    has([entry.outcome], outcome) &&
    (sinceMs === undefined || Date.parse(entry.at) >= sinceMs)
  );
}
