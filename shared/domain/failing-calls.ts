import * as z from 'zod';
import { type Frozen, number, text } from './forms.ts';

export const FailingCalls = z.lazy(() =>
  z.object({
    /** The method and the path template, such as `PATCH /platform/api/groups/{groupId}`. */
    endpoint: text,
    sinceMs: number,
    total: number,
    failed: number,
    lastFailedMs: number,
    /** The time of the last successful call, if known. */
    lastGoodMs: number.exactOptional(),
    /** The HTTP status of the last failure, or the class of its error. */
    reason: text,
  }),
);
export type FailingCalls = Frozen<z.infer<typeof FailingCalls>>;

/** The outcomes of the calls of one endpoint that are not recorded yet. */
export interface CallOutcomes {
  readonly total: number;
  readonly failed: number;
  readonly lastFailedMs?: number;
  readonly lastGoodMs?: number;
  readonly reason?: string;
}

/** An endpoint whose calls succeed again still counts as failing for this time after its last failure. */
const MIXED_MS = 15_000;
/** The longest wait before groupsync repeats a failed call: a group may have used all its calls of the hour. */
const LONGEST_SILENCE_MS = 2 * 3_600_000;
/** The minimum time between two writes of the record by one worker during an outage. */
const RECORDED_EVERY_MS = 5_000;

/**
 * Whether calls of the endpoint fail now.
 *
 *     last call  | since the last failure | fails
 *     -----------|------------------------|------
 *     failed     | less than two hours    | yes
 *     failed     | two hours or more      | no; groupsync no longer repeats the call
 *     succeeded  | less than 15 seconds   | yes; only some calls fail
 *     succeeded  | 15 seconds or more     | no
 */
export function isFailing({ lastFailedMs, lastGoodMs = 0 }: FailingCalls, nowMs: number): boolean {
  const silentMs = nowMs - lastFailedMs;
  return silentMs < (lastGoodMs > lastFailedMs ? MIXED_MS : LONGEST_SILENCE_MS);
}

/** Returns the records with the latest outcomes. An endpoint whose calls all succeed has no record. */
export function withOutcomes(
  recorded: readonly FailingCalls[],
  outcomes: ReadonlyMap<string, CallOutcomes>,
  nowMs: number,
): readonly FailingCalls[] {
  const still = recorded.filter((one) => isFailing(one, nowMs));
  const known = new Set(still.map(({ endpoint }) => endpoint));
  const started = [...outcomes].flatMap(([endpoint, latest]) => {
    const first = known.has(endpoint) ? undefined : startedBy(endpoint, latest);
    return first === undefined ? [] : [first];
  });
  return [...still.map((one) => joined(one, outcomes.get(one.endpoint))), ...started];
}

function startedBy(endpoint: string, latest: CallOutcomes): FailingCalls | undefined {
  const { total, failed, lastFailedMs, lastGoodMs, reason = '' } = latest;
  if (lastFailedMs === undefined) return undefined;
  const good = lastGoodMs === undefined ? {} : { lastGoodMs };
  return { endpoint, sinceMs: lastFailedMs, total, failed, lastFailedMs, reason, ...good };
}

function joined(one: FailingCalls, latest: CallOutcomes | undefined): FailingCalls {
  if (latest === undefined) return one;
  const lastGoodMs = Math.max(one.lastGoodMs ?? 0, latest.lastGoodMs ?? 0);
  return {
    ...one,
    total: one.total + latest.total,
    failed: one.failed + latest.failed,
    lastFailedMs: Math.max(one.lastFailedMs, latest.lastFailedMs ?? 0),
    ...(lastGoodMs === 0 ? {} : { lastGoodMs }),
    reason: latest.reason ?? one.reason,
  };
}

/** Whether the outcomes must be written now. After a recorded failure, a further one waits for `RECORDED_EVERY_MS`. */
export function changesRecord(
  recorded: readonly FailingCalls[],
  outcomes: ReadonlyMap<string, CallOutcomes>,
  nowMs: number,
): boolean {
  const byEndpoint = new Map(recorded.map((one) => [one.endpoint, one]));
  return [...outcomes].some(([endpoint, { lastFailedMs, lastGoodMs = 0 }]) => {
    const one = byEndpoint.get(endpoint);
    if (one === undefined) return lastFailedMs !== undefined;
    if (!isFailing(one, nowMs)) return true;
    if (lastFailedMs !== undefined) return lastFailedMs - one.lastFailedMs >= RECORDED_EVERY_MS;
    return lastGoodMs > one.lastFailedMs && (one.lastGoodMs ?? 0) <= one.lastFailedMs;
  });
}

/**
 * Returns the records after a write of a group succeeded, or a read showed the group in sync. Both prove that calls
 * about groups succeed again. Apply does not always repeat the failed call: if a read shows that the failed write took
 * effect, no second write is needed.
 * @returns the same array if nothing changes
 */
export function afterGroupSuccess(recorded: readonly FailingCalls[], nowMs: number): readonly FailingCalls[] {
  const isOpen = ({ endpoint, lastFailedMs, lastGoodMs = 0 }: FailingCalls) =>
    endpoint.includes('/groups') && lastGoodMs <= lastFailedMs;
  if (!recorded.some(isOpen)) return recorded;
  return recorded.map((one) =>
    isOpen(one) ? { ...one, lastGoodMs: Math.max(nowMs, one.lastFailedMs + 1) } : one,
  );
}
