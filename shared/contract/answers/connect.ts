import * as z from 'zod';
import { Finding } from '../contract-report.ts';
import { type Answer, count, nullable, text } from './forms.ts';

/** The result of one check; `fix` is the next step if the check failed. */
export const Check = z.object({
  name: text,
  ok: z.boolean(),
  notRun: z.literal(true).optional().describe('The check cannot run here; detail has the reason.'),
  detail: text,
  fix: nullable(text),
});
export type Check = Answer<typeof Check>;

/** How many members of the directory match an employee. */
const MatchPreview = z.object({
  /** The number of members that were tried: members that the directory has sent already; 0 before the first event. */
  members: count,
  matched: count,
  ambiguous: count,
  unmatched: count,
  newlyMatched: count.optional().describe('Matched members who have no employee now, and would join.'),
  /** Per rule, in the order of the rules. */
  byRule: z.array(z.object({ rule: text, matched: count })),
});
export type MatchPreview = Answer<typeof MatchPreview>;

export const AdoptedPair = z.object({ group: text, name: text, platformId: text });
export type AdoptedPair = Answer<typeof AdoptedPair>;

/** The existing platform groups that each value of `adoptExisting` would adopt. */
const AdoptionPlan = z.object({
  /** Groups on the platform. */
  existing: count,
  /** Groups that the directory has named so far. */
  directory: count,
  bySpokeId: z.array(AdoptedPair),
  /** Adopted by name: only one group has the name, and no group has the spokeId. */
  byName: z.array(AdoptedPair),
  /** Unmanaged groups with the name of a group that would be created, and that these settings do not adopt. */
  clashes: z.array(AdoptedPair),
});
export type AdoptionPlan = Answer<typeof AdoptionPlan>;

/** The employee id (`userId` or `id`) that the platform's groups hold. */
const MemberIds = z.object({
  field: nullable(z.enum(['userId', 'id'])).describe(
    'The memberIdField whose ids the groups contain; null: not certain.',
  ),
  users: count.describe('Distinct ids in the groups.'),
  userId: count.describe('Ids that are the userId of a checked employee, and the id of none.'),
  id: count.describe('Ids that are the id of a checked employee, and the userId of none.'),
});
export type MemberIds = Answer<typeof MemberIds>;

/** The results of checking a credential before it is stored. */
export const Inspection = z.object({
  usable: z.boolean(),
  company: text.optional(),
  checks: z.array(Check),
  preview: nullable(MatchPreview),
  adoption: nullable(AdoptionPlan),
  memberIds: nullable(MemberIds),
});
export type Inspection = Answer<typeof Inspection>;

export const ProbeReport = z.object({
  findings: z.array(Finding),
  kept: z
    .boolean()
    .describe('The report was stored. It is not stored if the behaviour of a version in PATCH is unknown.'),
  stopped: nullable(text).describe('Why probe ended early; null if it tried everything.'),
  left: z.array(text).describe('Groups that could not be deleted: ids, or the name if the id is not known.'),
});
export type ProbeReport = Answer<typeof ProbeReport>;
