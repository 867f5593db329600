import { HOUR_MS } from '../../shared/domain/duration.ts';
import type { Trend } from '../../shared/sync/ports/connections.ts';
import type { Entry } from './activity.ts';

const HOURS = 24;
const QUARTER_MS = HOUR_MS / 4;
const WRITES = new Set(['create', 'patch', 'put', 'delete']);

interface Now {
  readonly nowMs: number;
  /** The time for which the oldest change waits. */
  readonly waitsMs: number;
}

/**
 * Returns the values of the charts, the newest last. The last hour of each chart is the current hour. null: there is no
 * data, for example because groupsync did not run.
 */
export function chartsOf(entries: readonly Entry[], hours: Trend['hours'], { nowMs, waitsMs }: Now) {
  const startMs = (Math.floor(nowMs / HOUR_MS) - HOURS + 1) * HOUR_MS;
  const starts = Array.from({ length: HOURS }, (_, hour) => startMs + hour * HOUR_MS);
  const counted = starts.map((atMs) => hours.find((hour) => hour.atMs === atMs));
  const trendOf = (kind: 'waiting' | 'held' | 'failed' | 'pending') =>
    counted.map((hour) => hour?.[kind] ?? null);
  const writes = starts.map((fromMs, hour) => {
    const isWrite = ({ at, action, part }: Entry) => part === 0 && WRITES.has(action) && isWithin(at, fromMs);
    const count = entries.filter(isWrite).length;
    // Without writes, only the count of the hour shows that groupsync ran.
    return count > 0 || counted[hour] !== undefined ? count : null;
  });
  return {
    writes,
    /** The maximum delay of a change in each quarter of an hour. */
    lag: lagOf(entries, startMs, { nowMs, waitsMs }).map(
      (lag, quarter) => lag ?? (writes[Math.floor(quarter / 4)] === null ? null : 0),
    ),
    /** Groups, and for `pending` memberships, that needed work in each hour. */
    trends: {
      waiting: trendOf('waiting'),
      held: trendOf('held'),
      failed: trendOf('failed'),
      pending: trendOf('pending'),
    },
  };
}

const isWithin = (at: string, fromMs: number): boolean => {
  const atMs = Date.parse(at);
  return atMs >= fromMs && atMs < fromMs + HOUR_MS;
};

/** Calculates delays from the finished writes and the waiting changes. */
function lagOf(entries: readonly Entry[], startMs: number, { nowMs, waitsMs }: Now) {
  const lags: (number | null)[] = Array.from({ length: HOURS * 4 }, () => null);
  const note = (untilMs: number, waitedMs: number) => {
    const sinceMs = untilMs - waitedMs;
    for (const at of lags.keys()) {
      const fromMs = startMs + at * QUARTER_MS;
      if (sinceMs >= fromMs + QUARTER_MS || untilMs < fromMs) continue;
      lags[at] = Math.max(lags[at] ?? 0, Math.min(untilMs, fromMs + QUARTER_MS) - sinceMs);
    }
  };
  for (const { at, waitedMs } of entries) if (waitedMs !== null) note(Date.parse(at), waitedMs);
  if (waitsMs > 0) note(nowMs, waitsMs);
  return lags;
}
