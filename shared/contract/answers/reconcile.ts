import * as z from 'zod';
import { type Answer, count, ms, nullable, text } from './forms.ts';

/**
 * The results of one run of the feed or the sweep. Apply settles drift after the run. So `restored`, `reported` and
 * `adopted` count the drift that was settled since the previous run.
 */
export const ReconcileReport = z.object({
  connection: text,
  eventsRead: count,
  groupsTouched: count,
  echoes: count,
  drift: z.record(text, count),
  restored: count,
  reported: count,
  adopted: count,
  /** The number of platform groups with a directory group's id as external id, but without a link to it. */
  orphans: count,
  missing: count,
  /** The number of users in the list that a sweep did not compare with the employees; 0 if it compared all. */
  unsearchedUsers: count,
  reenqueued: count,
  cursor: nullable(text),
  durationMs: ms,
});
export type ReconcileReport = Answer<typeof ReconcileReport>;

export const SkippedReply = z.object({ reports: z.tuple([z.object({ skipped: text })]) });

export const PeopleReport = z.object({
  connection: text,
  read: count,
  changed: count,
  woken: count.describe('The number of groups that apply reads again.'),
  asked: count.describe('Employees that were fetched by id, because the list did not contain them.'),
  gone: count,
});
export type PeopleReport = Answer<typeof PeopleReport>;

export const PlanEffect = z.object({
  groups: count.describe('Groups whose plan differs.'),
  added: count,
  removed: count,
  held: count,
  dropped: count.describe('The number of changes in the current plans that the new plans no longer contain.'),
});
export type PlanEffect = Answer<typeof PlanEffect>;
