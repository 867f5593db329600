import type { Cloud } from './cloud.ts';
import { DAY_MS, type Happening, MINUTE_MS, type SimulationRun, START_MS } from './simulation-run.ts';

/** The work that a happening causes is done within this time, or its group is shown as waiting. */
const DONE_AFTER_MS = DAY_MS;
/** The longest time between two runs of a job in a silence. */
const STEP_MS = 7 * DAY_MS;
const BEFORE_NEXT_MS = 10 * MINUTE_MS;

/** Returns the last time at which a happening starts an effect, in milliseconds after START_MS. */
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

/** Returns the long periods without happenings, in order. Most runs have none. */
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
  // The time after the last happening is also such a period. The operator's replay at the end comes after it.
  note(days * DAY_MS);
  return spells;
}

const known = new WeakMap<SimulationRun, readonly Spell[]>();

/**
 * Returns when a job that is due at `atMs` runs. In a long period without happenings and without waiting groups, it
 * runs only once a week, because more runs would find the same state again.
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
 * Returns whether any group waits. A group that has waited for days is ignored: its name is in use, or an operator must
 * act. The result is computed again only when the index has changed.
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
