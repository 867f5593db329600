import type { Call } from '../../../../shared/platform/call.ts';
import type { PlatformClient } from '../../../../shared/platform/client.ts';
import {
  BadRequestError,
  NotFoundError,
  RateLimitedError,
  ReportedError,
} from '../../../../shared/platform/errors.ts';
import { feedPages } from '../../../../shared/platform/feed-pages.ts';
import { translating } from '../../../../shared/platform/platform-failure.ts';
import { activityResource, DEFAULT_ACTIVITY } from '../../../../shared/platform/resources/activity.ts';
import type { Platform } from '../../../../shared/sync/ports/platform.ts';

export interface LoggedEvent {
  readonly id: string;
  readonly group: string;
  readonly atMs: number;
}

export type Trouble =
  | 'none'
  | 'throttled'
  | 'envelope'
  | 'forgets_400'
  | 'forgets_404'
  | 'forgets_envelope'
  | 'repeats';
export type EndForm = 'same' | 'null' | 'absent' | 'empty';

export interface FeedServerOptions {
  readonly clock: () => number;
  /** Of each answer in turn; the last one goes on. */
  readonly pageSizes: readonly number[];
  readonly troubles: readonly Trouble[];
  readonly end: EndForm;
}

const facts = { method: 'GET', pathTemplate: '/platform/api/company_activity', sent: 'answered' } as const;

/**
 * An activity feed behind the real client: cursors are positions, and all that it has given out become void where it
 * forgets. Whatever goes wrong goes wrong at the request that the test says.
 */
export function createFeedServer({ clock, pageSizes, troubles, end }: FeedServerOptions) {
  const log: LoggedEvent[] = [];
  let generation = 0;
  let requests = 0;
  let repeated = false;

  const answer = (query: Readonly<Record<string, unknown>>): unknown => {
    const trouble = troubles[requests] ?? 'none';
    const size = pageSizes[Math.min(requests, pageSizes.length - 1)] ?? 1_000;
    requests += 1;
    if (trouble === 'throttled') throw new RateLimitedError('too many requests', { ...facts, status: 429 });
    if (trouble === 'envelope')
      throw new ReportedError('the platform reports an error', { ...facts, status: 200 });
    if (trouble.startsWith('forgets')) generation += 1;
    const position = positionOf(query, trouble);
    const from = trouble === 'repeats' && !repeated ? Math.max(0, position - size) : position;
    repeated = trouble === 'repeats';
    const events = log.slice(from, from + size);
    const isEnd = from + size >= log.length;
    // A repeated page leads on to where its cursor stood, by another cursor: the same one would be the end.
    const salt = from < position ? `:${requests}` : '';
    const next = `${cursorAt(Math.max(position, from + events.length))}${salt}`;
    return { data: { events: events.map(shown), ...ending(isEnd, next, query['next']) }, error: null };
  };

  const cursorAt = (position: number): string => `${generation}:${position}`;

  function positionOf({ next, startDate }: Readonly<Record<string, unknown>>, trouble: Trouble): number {
    if (typeof next !== 'string') {
      const sinceMs = Date.parse(String(startDate));
      const found = log.findIndex(({ atMs }) => atMs >= sinceMs);
      return found < 0 ? log.length : found;
    }
    const [given, position] = next.split(':');
    if (Number(given) === generation) return Number(position);
    if (trouble === 'forgets_404') throw new NotFoundError('no such cursor', { ...facts, status: 404 });
    if (trouble === 'forgets_envelope') throw new ReportedError('no such cursor', { ...facts, status: 200 });
    throw new BadRequestError('no such cursor', { ...facts, status: 400 });
  }

  function ending(isEnd: boolean, next: string, asked: unknown): { readonly next?: unknown } {
    if (!isEnd) return { next };
    if (end === 'same') return { next: next === asked ? asked : next };
    return end === 'absent' ? {} : { next: end === 'null' ? null : '' };
  }

  const client = {
    activity: activityResource(
      (async ({ query = {}, decoding }: Call<unknown>) => decoding.schema.parse(answer(query))) as never,
      { names: DEFAULT_ACTIVITY, clock },
    ),
  } as unknown as PlatformClient;
  const activity: Platform['activity'] = (start) => feedPages(client, start, (run) => translating('s1', run));

  return {
    log,
    activity,
    /** Nothing goes wrong any more. */
    isCalm: () => requests >= troubles.length,
    /** How many events lie before a cursor; those of a generation that is gone count as well. */
    before: (cursor: string | null): number => (cursor === null ? 0 : Number(cursor.split(':')[1])),
  };
}

const shown = ({ id, group, atMs }: LoggedEvent) => ({
  id,
  event_type: 'EXTERNAL_GROUP_MEMBER_ADD',
  timestamp: new Date(atMs).toISOString(),
  subjects: [{ type: 'GROUP', instance: `platform-${group}` }],
  initiator: { type: 'ROLE' },
});
