import type { Cloud } from './cloud.ts';
import { DAY_MS, type Happening, MINUTE_MS, type SimulationRun, START_MS } from './simulation-run.ts';

/** After this time the work of a happening is done, or the group is shown as waiting. */
const DONE_AFTER_MS = DAY_MS;
/** The longest step in time while nothing happens and nothing waits. */
const STEP_MS = 7 * DAY_MS;
const BEFORE_NEXT_MS = 10 * MINUTE_MS;

/** Returns the time at which the last effect of a happening begins, in milliseconds after START_MS. */
function endOf({ atMs, action, ...one }: Happening): number {
  const forMs = 'forMs' in action ? action.forMs : 0;
  const lateMs = 'way' in one ? one.way.lateMs : 0;
  const againMs = 'again' in action && action.again ? action.again.everyMs * action.again.times : 0;
  return atMs + Math.max(forMs, lateMs, againMs);
}

interface Spell {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Returns the spells of a run without happenings, in order. Most runs have none. */
function spellsOf({ happenings, days }: SimulationRun): readonly Spell[] {
  const spells: Spell[] = [];
  let lastMs = 0;
  const note = (nextMs: number) => {
    const [fromMs, untilMs] = [START_MS + lastMs + DONE_AFTER_MS, START_MS + nextMs - BEFORE_NEXT_MS];
    if (untilMs > fromMs) spells.push({ fromMs, untilMs });
  };
  for (const happening of happenings) {
    note(happening.atMs);
    lastMs = Math.max(lastMs, endOf(happening));
  }
  // The operator's replay at the end belongs to the quiet day.
  note(days * DAY_MS);
  return spells;
}

const known = new WeakMap<SimulationRun, readonly Spell[]>();

/**
 * Returns the time at which a job that is due at `atMs` runs instead. In a long silence in which no group waits, jobs
 * run only once a week, so that years pass quickly. More runs would find the same state again.
 */
export function afterSilence(cloud: Pick<Cloud, 'run' | 'table'>, atMs: number): number {
  const { run, table } = cloud;
  const spells = known.get(run) ?? spellsOf(run);
  known.set(run, spells);
  const spell = spells.find(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs);
  if (spell === undefined || isWaiting(table, atMs)) return atMs;
  return Math.min(atMs + STEP_MS, spell.untilMs);
}

const looked = new WeakMap<object, { readonly indexed: unknown; readonly untilMs: number }>();

/**
 * Returns whether any group waits. A group that has waited for days does not count, because it waits for an operator or
 * for a name that is in use. The index changes with each group that starts or stops waiting.
 */
function isWaiting(table: Cloud['table'], atMs: number): boolean {
  const last = looked.get(table);
  if (last !== undefined && last.indexed === table.indexed) return atMs < last.untilMs;
  let untilMs = 0;
  for (const { sk, dirtySince, pausedAt } of table.items.values()) {
    if (sk === 'GROUP' && typeof dirtySince === 'number' && pausedAt === undefined)
      untilMs = Math.max(untilMs, dirtySince + DONE_AFTER_MS);
  }
  looked.set(table, { indexed: table.indexed, untilMs });
  return atMs < untilMs;
}
