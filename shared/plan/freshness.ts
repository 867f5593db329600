import type { ConnectionSettings } from '../contract/settings.ts';
import { SCHEDULES } from '../contract/topology.ts';
import { SOURCES, type Source, type SourceState } from '../domain/source.ts';

const MINUTE_MS = 60_000;
/** The time for a receipt on its way, or for one missed run of the reader. */
const GRACE_MS = 10 * MINUTE_MS;

/** The time of a source's last receipt, and the expected interval. */
export interface Freshness {
  readonly source: Source;
  /** undefined if the source was never received. */
  readonly receivedMs: number | undefined;
  /** undefined if no receipt is expected. */
  readonly everyMs: number | undefined;
  /** Whether the time since which a first receipt is expected is recorded. */
  readonly isAwaited: boolean;
  /** The time for which a receipt has been overdue; 0 if none is overdue. */
  readonly lateMs: number;
}

type FreshnessSettings = Pick<ConnectionSettings, 'directory' | 'sources'>;

/**
 * Returns the freshness of the sources of a connection. A source is included if it was ever received, or if receipts
 * are expected from it.
 *
 *     last receipt        expected every       late
 *     ------------------  -------------------  ---------------------------------------------
 *     any                 no expectation       no
 *     known               some minutes         after these minutes and ten more
 *     none yet            some minutes         the same, from the time it was first missed
 */
export function freshnessOf(
  settings: FreshnessSettings,
  states: readonly SourceState[],
  nowMs: number,
): readonly Freshness[] {
  return SOURCES.flatMap((source) => {
    if (source === 'directory' && settings.directory === null) return [];
    const state = states.find((one) => one.source === source);
    const receivedMs = state?.receivedMs;
    const everyMs = expectedEvery(settings, source, state);
    if (receivedMs === undefined && everyMs === undefined) return [];
    const sinceMs = receivedMs ?? state?.awaitedMs ?? nowMs;
    const lateMs = everyMs === undefined ? 0 : Math.max(0, nowMs - sinceMs - everyMs - GRACE_MS);
    return { source, receivedMs, everyMs, isAwaited: state?.awaitedMs !== undefined, lateMs };
  });
}

/**
 * Returns the expected interval. The reader is expected as often as it is scheduled, unless a setting has another
 * interval.
 */
function expectedEvery(
  { sources }: FreshnessSettings,
  source: Source,
  state: SourceState | undefined,
): number | undefined {
  const scheduled = source === 'directory' ? (state?.everyMinutes ?? SCHEDULES.directoryMinutes) : undefined;
  const minutes = sources.expectEvery[source] ?? scheduled;
  return minutes === undefined ? undefined : minutes * MINUTE_MS;
}
