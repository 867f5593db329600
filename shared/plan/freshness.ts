import type { ConnectionSettings } from '../contract/settings.ts';
import { SCHEDULES } from '../contract/topology.ts';
import { MINUTE_MS } from '../domain/duration.ts';
import { SOURCES, type Source, type SourceState } from '../domain/source.ts';

/**
 * A source counts as late this long after its expected interval. The time allows for a message in transit, or for one
 * missed run of the reader.
 */
const GRACE_MS = 10 * MINUTE_MS;

/** The time at which data of a source last arrived (the receipt), and the interval at which data is expected. */
export interface Freshness {
  readonly source: Source;
  /** The time of the last receipt; undefined if nothing ever arrived from the source. */
  readonly receivedMs: number | undefined;
  /** The expected interval; undefined if no data is expected. */
  readonly everyMs: number | undefined;
  /** Whether the state of the source has `awaitedMs`, the time from which a first receipt was expected. */
  readonly isAwaited: boolean;
  /** The time since the source became late; 0 if the source is not late. */
  readonly lateMs: number;
}

type FreshnessSettings = Pick<ConnectionSettings, 'directory' | 'sources'>;

/**
 * Returns the freshness of each source of a connection from which data has arrived or is expected.
 *
 *     last receipt        expected interval    late
 *     ------------------  -------------------  ----------------------------------------------------
 *     any                 none                 never
 *     known               n minutes            n + 10 minutes after the last receipt
 *     none yet            n minutes            n + 10 minutes after `awaitedMs`
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

/** Returns the expected interval from the settings. The default for the directory reader is its schedule. */
function expectedEvery({ sources }: FreshnessSettings, source: Source, state: SourceState | undefined) {
  const scheduled = source === 'directory' ? (state?.everyMinutes ?? SCHEDULES.directoryMinutes) : undefined;
  const minutes = sources.expectEvery[source] ?? scheduled;
  return minutes === undefined ? undefined : minutes * MINUTE_MS;
}
