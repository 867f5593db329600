import type { ConnectionSettings } from '../contract/settings.ts';
import { SCHEDULES } from '../contract/topology.ts';
import { SOURCES, type Source, type SourceState } from '../domain/source.ts';

const MINUTE_MS = 60_000;
/** A receipt may be on its way, and the reader may miss a run. */
const GRACE_MS = 10 * MINUTE_MS;

/** When a source was last received, and when it is expected. */
export interface Freshness {
  readonly source: Source;
  /** undefined: never. */
  readonly receivedMs: number | undefined;
  /** undefined: nothing is expected of it. */
  readonly everyMs: number | undefined;
  /** It is recorded since when a first receipt is expected. */
  readonly isAwaited: boolean;
  /** For how long a receipt has been overdue; 0 if none is. */
  readonly lateMs: number;
}

type FreshnessSettings = Pick<ConnectionSettings, 'directory' | 'sources'>;

/**
 * The sources of a connection that were ever received, or of which something is expected.
 *
 *     last receipt        expected every       late
 *     ------------------  -------------------  ---------------------------------------------
 *     any                 nothing is expected  no
 *     known               some minutes         that time and ten minutes after the receipt
 *     none yet            some minutes         likewise, after it was first noticed as missing
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

/** The reader is expected as often as it is scheduled, unless the setting has another time. */
function expectedEvery(
  { sources }: FreshnessSettings,
  source: Source,
  state: SourceState | undefined,
): number | undefined {
  const scheduled = source === 'directory' ? (state?.everyMinutes ?? SCHEDULES.directoryMinutes) : undefined;
  const minutes = sources.expectEvery[source] ?? scheduled;
  return minutes === undefined ? undefined : minutes * MINUTE_MS;
}
