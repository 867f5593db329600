import type { Cloud } from './cloud.ts';
import { DAY_MS, type Happening, MINUTE_MS, type SimulationRun, START_MS } from './simulation-run.ts';

/** The longest time of the work after a happening. Some groups wait longer, for a free name or an operator. */
const DONE_AFTER_MS = DAY_MS;
/** The longest time between two runs of a job during a silence, which is a long period without happenings. */
const STEP_MS = 7 * DAY_MS;
/** A silence ends this long before the next happening. */
const BEFORE_NEXT_MS = 10 * MINUTE_MS;

/** Returns when a happening ends, with its delay and repetitions, in milliseconds after START_MS. */
function endOf({ atMs, action, ...one }: Happening): number {
  const forMs = 'forMs' in action ? action.forMs : 0;
  const lateMs = 'way' in one ? one.way.lateMs : 0;
  const againMs = 'again' in action && action.again ? action.again.everyMs * action.again.times : 0;
  return atMs + Math.max(forMs, lateMs, againMs);
}

interface Silence {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Returns the silences of a run, in order. Most runs have no silence. */
function silencesOf({ happenings, days }: SimulationRun): readonly Silence[] {
  const silences: Silence[] = [];
  let lastMs = 0;
  const note = (nextMs: number) => {
    const [fromMs, untilMs] = [START_MS + lastMs + DONE_AFTER_MS, START_MS + nextMs - BEFORE_NEXT_MS];
    if (untilMs > fromMs) silences.push({ fromMs, untilMs });
  };
  for (const happening of happenings) {
    note(happening.atMs);
    lastMs = Math.max(lastMs, endOf(happening));
  }
  // The time after the last happening is also a silence. It ends before the operator replays the dead-letter queues.
  note(days * DAY_MS);
  return silences;
}

const known = new WeakMap<SimulationRun, readonly Silence[]>();

/**
 * Returns the time of the next run of a job that is due at `atMs`. In a silence without waiting groups, the job runs
 * only once a week, because more runs would find the same state.
 */
export function afterSilence(cloud: Pick<Cloud, 'run' | 'table'>, atMs: number): number {
  const { run, table } = cloud;
  const silences = known.get(run) ?? silencesOf(run);
  known.set(run, silences);
  const silence = silences.find(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs);
  if (silence === undefined || isWaiting(table, atMs)) return atMs;
  return Math.min(atMs + STEP_MS, silence.untilMs);
}

const looked = new WeakMap<object, { readonly indexed: unknown; readonly untilMs: number }>();

/**
 * Returns whether any group waits. A group that has waited for more than a day does not count. Such a group waits for
 * an operator, or for a name that another group has, so more runs change nothing. The result is cached until the index
 * changes.
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
