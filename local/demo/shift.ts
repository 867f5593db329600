import { normaliseInstant } from '../../shared/domain/stamp.ts';

const SUB_MILLISECOND = '000000';

/**
 * Shifts all events by the same time span, so that the newest event happens at `nowMs` (milliseconds since 1970). The
 * order of the events and the time between them stay the same. Without the shift, the events would become too old.
 * @throws RangeError if a time is not an RFC 3339 instant
 */
export function shiftToNow<Event extends { readonly time: string }>(
  events: readonly Event[],
  nowMs: number,
): Event[] {
  const instants = events.map(({ time }) => {
    const instant = normaliseInstant(time);
    if (instant === undefined) throw new RangeError(`expected an RFC 3339 time, got ${JSON.stringify(time)}`);
    return { ms: Date.parse(`${instant.slice(0, 23)}Z`), rest: instant.slice(23, 29) };
  });
  const newestMs = instants.reduce((newest, { ms }) => Math.max(newest, ms), Number.NEGATIVE_INFINITY);
  return events.map((event, index) => {
    const { ms, rest } = instants[index] ?? { ms: newestMs, rest: SUB_MILLISECOND };
    const time = new Date(ms - newestMs + nowMs).toISOString();
    return { ...event, time: rest === SUB_MILLISECOND ? time : time.replace('Z', `${rest}Z`) };
  });
}
