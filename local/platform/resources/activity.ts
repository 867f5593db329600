import * as z from 'zod';
import { endOfFeed, feedEnvelope } from '../../../simulate/platform/rules.ts';
import { endpoint } from '../endpoint.ts';
import { readFeed } from '../feed.ts';
import { integerParameter } from '../query.ts';
import { ActivityPage } from '../schemas/activity.ts';

const MAX_EVENTS = 1000;

/**
 * Reads a timestamp. A space counts as `+`, because a query string decodes `+` as a space. A date means its start in
 * UTC.
 */
const TimestampParameter = z
  .string({ error: 'expected one value' })
  .transform((text) => text.trim().replace(/ (?=\d\d:?\d\d$)/, '+'))
  .pipe(
    z.union([z.iso.datetime({ offset: true }), z.iso.date()], {
      error: 'expected a timestamp such as 2026-11-20T10:00:00Z',
    }),
  )
  .transform((text) => Date.parse(text))
  .meta({ type: 'string', format: 'date-time' });

const list = endpoint({
  method: 'GET',
  path: '/platform/api/company_activity',
  operationId: 'listCompanyActivity',
  area: 'Company activity',
  summary: 'A page of the activity feed, oldest event first',
  description:
    'Begin with `startDate`. Later requests contain only `next`. On the last page, `next` is a cursor that finds later events.',
  query: z.object({
    startDate: TimestampParameter.optional(),
    endDate: TimestampParameter.optional(),
    next: z.string({ error: 'expected one value' }).optional(),
    limit: integerParameter(1, MAX_EVENTS).default(MAX_EVENTS),
  }),
  response: ActivityPage,
  handle: ({ company, query, simulation }) => {
    const page = readFeed(company, {
      next: query.next,
      startMs: query.startDate,
      endMs: query.endDate,
      limit: query.limit,
      nowMs: simulation.clock(),
    });
    const settings = simulation.settings();
    const next = page.isEnd ? endOfFeed(settings.endOfFeed, page.next) : { next: page.next };
    return feedEnvelope({ events: page.events, ...next }, settings.feedEnvelope, settings.emptyFeedPage);
  },
});

export const activityEndpoints = [list];
