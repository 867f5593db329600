import type { ReconcileReport } from '../../contract/answers/reconcile.ts';
import type { DriftKind } from '../../domain/drift.ts';
import type { DriftLog } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';

export const emptyTotals = () => ({
  eventsRead: 0,
  groupsTouched: 0,
  echoes: 0,
  orphans: 0,
  missing: 0,
  unsearchedUsers: 0,
  reenqueued: 0,
});
export type Totals = ReturnType<typeof emptyTotals>;

interface Ending {
  readonly drift: Pick<DriftLog, 'since'>;
  readonly cursor: string | null;
  /** The period whose drift is counted. It includes its first time, and excludes its second time. */
  readonly drifted: readonly [fromMs: number, untilMs: number];
  readonly startedAtMs: number;
  readonly nowMs: number;
}

export async function reportOf(
  connection: Connection,
  totals: Totals,
  { drift, drifted, ...ending }: Ending,
): Promise<ReconcileReport> {
  const [fromMs, untilMs] = drifted;
  const isWithin = (atMs: number | null) => atMs !== null && atMs >= fromMs && atMs < untilMs;
  const kinds: { [Kind in DriftKind]?: number } = {};
  const settled = { restore: 0, report: 0, adopt: 0 };
  for await (const page of drift.since(connection.name, fromMs)) {
    for (const { kind, detectedAtMs, settledBy, settledAtMs } of page) {
      if (isWithin(detectedAtMs)) kinds[kind] = (kinds[kind] ?? 0) + 1;
      if (settledBy !== null && isWithin(settledAtMs)) settled[settledBy] += 1;
    }
  }
  return {
    connection: connection.name,
    ...totals,
    drift: kinds,
    restored: settled.restore,
    reported: settled.report,
    adopted: settled.adopt,
    cursor: ending.cursor,
    durationMs: ending.nowMs - ending.startedAtMs,
  };
}

/** Returns the report of a feed run that included a sweep. Drift is counted only as in the report of the feed. */
export const together = (feed: ReconcileReport, sweep: ReconcileReport): ReconcileReport => ({
  ...feed,
  groupsTouched: feed.groupsTouched + sweep.groupsTouched,
  echoes: feed.echoes + sweep.echoes,
  orphans: sweep.orphans,
  missing: sweep.missing,
  unsearchedUsers: sweep.unsearchedUsers,
  reenqueued: feed.reenqueued + sweep.reenqueued,
  durationMs: feed.durationMs + sweep.durationMs,
});
