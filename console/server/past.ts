import { HOUR_MS } from '../../shared/domain/duration.ts';
import type { GroupRef } from '../../shared/domain/ids.ts';
import { IMPORT_SOURCE, UNDO_SOURCE } from '../../shared/domain/source.ts';
import { listPastMembers, type RecordedStep, readHistory } from '../../shared/operate/past.ts';
import { instant } from '../../shared/operate/status.ts';
import { membersAt, stepsAfter } from '../../shared/plan/replay.ts';
import type { RequestContext } from './context.ts';

const MOST_HOURS = 90 * 24;
const MOST_STEPS = 200;
const OF_IMPORT = new RegExp(` of (?:${IMPORT_SOURCE}|${UNDO_SOURCE})$`);

/**
 * Returns the changes of a platform group in the last hours, oldest first, and its size before the first. The changes
 * begin later if the members are known only later, or if there are more than `MOST_STEPS` changes.
 */
export async function groupTimeline(ref: GroupRef, span: string | null, { ports }: RequestContext) {
  const hours = Math.min(Number(span) || MOST_HOURS, MOST_HOURS);
  const startMs = ports.clock() - hours * HOUR_MS;
  const { present, steps, others } = await readHistory(ref, startMs, ports, MOST_STEPS);
  const start = membersAt(startMs, present, steps);
  const sinceMs = 'members' in start ? startMs : start.knownSinceMs;
  const { undone } = stepsAfter(sinceMs ?? ports.clock(), present.content, steps);
  let size = present.view?.users.size ?? 0;
  const changes = undone.map((step) => {
    const change = changeBy(step, size);
    size += change.removed - change.added;
    return step.action === 'release' ? { ...change, removed: 0 } : change;
  });
  const marks = others.flatMap(({ atMs, action, outcome }) => {
    const isShown = (action === 'hold' || action === 'directory_takeover') && outcome === 'written';
    if (!isShown || atMs < (sinceMs ?? 0)) return [];
    const at = new Date(atMs).toISOString();
    const before = changes.find((one) => one.at <= at) ?? { size };
    return [{ at, sort: sortOf(action), size: before.size, added: 0, removed: 0 }];
  });
  const later = steps.length === MOST_STEPS ? ('cut' as const) : ('known' as const);
  return {
    since: instant(sinceMs),
    begins: sinceMs === startMs ? ('span' as const) : later,
    before: size,
    // A write of the name alone is left out.
    changes: [
      ...changes.filter(({ sort, added, removed }) => sort !== 'write' || added + removed > 0),
      ...marks,
    ]
      .reverse()
      .sort((a, b) => a.at.localeCompare(b.at)),
  };
}

/** @param size the number of users after the step */
function changeBy({ atMs, action, users = [], entry }: RecordedStep, size: number) {
  const causes = [entry, ...(entry.causes ?? [])];
  const isImport = causes.some(({ cause }) => OF_IMPORT.test(cause));
  return {
    at: new Date(atMs).toISOString(),
    sort: isImport ? ('import' as const) : sortOf(action),
    // What happens to a group after its release is not known.
    size: action === 'release' ? null : size,
    added: users.filter(({ was, is }) => is === '+' && was !== '+').length,
    removed: users.filter(({ was, is }) => was === '+' && is !== '+').length,
  };
}

/** The sorts of entries that are no write of groupsync, by action. */
const SORTS = {
  external_change: 'external',
  adopt: 'adopted',
  link: 'adopted',
  release: 'released',
  hold: 'hold',
  directory_takeover: 'takeover',
} as const;

const sortOf = (action: string) =>
  action in SORTS ? SORTS[action as keyof typeof SORTS] : ('write' as const);

/** Returns who was, or may have been, in the group at a time. A time that is not valid, or in the future, is now. */
export async function pastMembers(ref: GroupRef, at: string | null, { ports }: RequestContext) {
  const nowMs = ports.clock();
  return listPastMembers(ref, [Math.min(Date.parse(at ?? '') || nowMs, nowMs)], ports);
}
