import * as z from 'zod';
import { DAY_MS } from '../../../domain/duration.ts';
import { DirectoryError } from '../../ports.ts';
import { type OktaApi, pathOf } from './api.ts';
import { LogEvent } from './schemas.ts';

/** The largest page ("List all System Log events": limit). */
const MAX_PAGE = '1000';
/** Maximum number of pages that one run reads. The next run continues after these pages. */
const MAX_PAGES = 100;
/** The earliest start of a poll. Okta keeps events for 90 days. */
const LONGEST_AGO_MS = 89 * DAY_MS;

/** The filter for events about groups and users. Most events of the log are sign-ins, which the filter leaves out. */
const FILTER = [
  'eventType sw "group.lifecycle."',
  'eventType sw "group.user_membership."',
  'eventType sw "group.profile."',
  'eventType sw "user.lifecycle."',
  'eventType eq "user.account.update_profile"',
].join(' or ');

const Events = z.array(LogEvent);

interface LogRead {
  readonly events: readonly LogEvent[];
  /** Path and query of the next poll; undefined if the next poll must start from a time. */
  readonly next: string | undefined;
  /** Whether Okta refused the cursor. Events may then be missing. */
  readonly isReset: boolean;
}

/** Returns path and query of the first poll. `since` is the time at which Okta stored an event. */
export const firstPoll = (sinceMs: number, nowMs: number): string =>
  pathOf(['logs'], {
    since: new Date(Math.max(sinceMs, nowMs - LONGEST_AGO_MS)).toISOString(),
    filter: FILTER,
    sortOrder: 'ASCENDING',
    limit: MAX_PAGE,
  });

/**
 * Reads the events since the last poll ("Polling requests"). The order of events is the order in which Okta stored
 * them, so a poll does not skip an event that was stored late. Every page has a next link. An empty page ends the poll,
 * and its next link starts the next poll.
 * @param next the link of the last poll
 * @param first the poll to use without a link, if Okta refuses the link, or if the link has another filter
 */
export async function pollLog(api: OktaApi, next: string | undefined, first: string): Promise<LogRead> {
  if (next === undefined || filterOf(next) !== FILTER) return poll(api, first, false);
  try {
    return await poll(api, next, false);
  } catch (error) {
    if (!(error instanceof DirectoryError) || error.kind !== 'invalid' || error.reason === undefined)
      throw error;
    // Okta refused the poll with an error code, usually with status 400. The cursor is the likely reason, because Okta
    // accepted the same filter in the previous poll.
    return poll(api, first, true);
  }
}

const filterOf = (path: string): string | null =>
  new URL(path, 'https://okta.invalid').searchParams.get('filter');

export const readPage = (api: OktaApi, path: string) =>
  api.list({ operation: 'listLogEvents', path, body: Events, isFixed: true });

async function poll(api: OktaApi, from: string, isReset: boolean): Promise<LogRead> {
  const events: LogEvent[] = [];
  const seen = new Set<string>();
  let path = from;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const { body, next } = await readPage(api, path);
    events.push(...body);
    if (next === undefined || body.length === 0) return { events, next, isReset };
    if (seen.has(next)) {
      throw new DirectoryError('invalid', `listLogEvents: page ${page} repeats an earlier cursor`);
    }
    seen.add(next);
    path = next;
  }
  return { events, next: path, isReset };
}
