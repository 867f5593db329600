import type { ActivityEvent } from '../../domain/drift.ts';
import type { PlatformGroupId } from '../../domain/ids.ts';
import type { FeedEvent, FeedPage, FeedPosition } from '../ports/reconcile.ts';

export type FeedPages = readonly FeedPage[];

const DAY_MS = 24 * 3_600_000;
/**
 * The start of a read by date is at most this long ago. The feed contains only events that are less than 90 days old
 * (specification, "Company activity"). The remaining day is a margin for clocks and delays.
 */
export const LOOK_BACK_MS = 89 * DAY_MS;
/** The maximum number of stored ids: two full pages of 1,000 events. The item stays far below 400 KB. */
const MAX_RECENT_IDS = 2_000;

export const firstPosition = (nowMs: number): FeedPosition => ({
  cursor: null,
  recentIds: [],
  lastEventAt: null,
  readAtMs: nowMs,
  writtenAtMs: nowMs,
  needsSweep: false,
});

/**
 * Returns the events whose ids the position does not contain. A run may read an event twice. The feed may repeat its
 * last page, and a read by date includes the events at its start time.
 */
export function freshEvents(pages: FeedPages, { recentIds }: FeedPosition): readonly FeedEvent[] {
  const known = new Set(recentIds);
  const events = pages.flatMap(({ events: of }) => of).filter(({ id }) => !known.has(id));
  return [...new Map(events.map((event) => [event.id, event])).values()];
}

/** Returns the activity events of each group, in the order of the feed. */
export function activityByGroup(
  events: readonly FeedEvent[],
): ReadonlyMap<PlatformGroupId, readonly ActivityEvent[]> {
  const activity = new Map<PlatformGroupId, ActivityEvent[]>();
  for (const { groups, ...event } of events) {
    for (const group of new Set(groups)) {
      const known = activity.get(group);
      if (known === undefined) activity.set(group, [event]);
      else known.push(event);
    }
  }
  return activity;
}

/** Returns the position after the pages, with the ids of the newest events for `freshEvents`. */
export function movedOn(position: FeedPosition, pages: FeedPages, nowMs: number): FeedPosition {
  const events = pages.flatMap(({ events: of }) => of);
  const last = pages.at(-1);
  const newestFirst = [...events.map(({ id }) => id).reverse(), ...position.recentIds];
  return {
    cursor: last?.next ?? position.cursor,
    recentIds: [...new Set(newestFirst)].slice(0, MAX_RECENT_IDS),
    lastEventAt: newest(events, position.lastEventAt),
    readAtMs: last?.done === true ? nowMs : position.readAtMs,
    writtenAtMs: nowMs,
    needsSweep: position.needsSweep,
  };
}

/** Returns the latest timestamp, in the format of the feed. */
const newest = (events: readonly FeedEvent[], before: string | null): string | null =>
  [before, ...events.map(({ at }) => at)].reduce<string | null>(
    (latest, at) => (millis(at) > (millis(latest) || 0) ? at : latest),
    null,
  );

/** Returns the start of a read by date: the time of the newest known event; 89 days ago if older or unknown. */
export function startOf({ lastEventAt }: FeedPosition, nowMs: number): number {
  const earliestMs = nowMs - LOOK_BACK_MS;
  const atMs = millis(lastEventAt);
  // The platform's clock may be ahead, so the time of an event may be in the future.
  return atMs > earliestMs ? Math.min(atMs, nowMs) : earliestMs;
}

const millis = (at: string | null): number => (at === null ? Number.NaN : Date.parse(at));
