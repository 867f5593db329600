import type { ConnectionSettings } from '../contract/settings.ts';
import { SCHEDULES } from '../contract/topology.ts';
import { SOURCES, type Source, type SourceState } from '../domain/source.ts';

const MINUTE_MS = 60_000;
/**
 * The time after the expected interval before a source counts as late. It allows for a message in transit, or for one
 * missed run of the reader.
 */
const GRACE_MS = 10 * MINUTE_MS;

/** When data of a source last arrived (the receipt), and at which interval data is expected. */
export interface Freshness {
  readonly source: Source;
  /** undefined if nothing was ever received from the source. */
  readonly receivedMs: number | undefined;
  /** undefined if no receipt is expected. */
  readonly everyMs: number | undefined;
  /** Whether `awaitedMs` is stored: the time since which a first receipt is expected. */
  readonly isAwaited: boolean;
  /** The time for which a receipt has been overdue; 0 if none is overdue. */
  readonly lateMs: number;
}

type FreshnessSettings = Pick<ConnectionSettings, 'directory' | 'sources'>;

/**
 * Returns the freshness of the sources of a connection. A source is included if data ever arrived from it, or if data
 * is expected.
 *
 *     last receipt        expected every       late
 *     ------------------  -------------------  ---------------------------------------------
 *     any                 no expectation       no
 *     known               some minutes         after these minutes and ten more
 *     none yet            some minutes         the same, counted from `awaitedMs`
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

/** Returns the expected interval: the value of the setting, or else the schedule if the source is the reader. */
function expectedEvery(
  { sources }: FreshnessSettings,
  source: Source,
  state: SourceState | undefined,
): number | undefined {
  const scheduled = source === 'directory' ? (state?.everyMinutes ?? SCHEDULES.directoryMinutes) : undefined;
  const minutes = sources.expectEvery[source] ?? scheduled;
  return minutes === undefined ? undefined : minutes * MINUTE_MS;
}
