import * as z from 'zod';
import { ProbeFinding } from '../contract-report.ts';
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

const MatchPreview = z.object({
  members: count,
  matched: count,
  ambiguous: count,
  unmatched: count,
  newlyMatched: count
    .optional()
    .describe(
      'Matched members who have no binding yet and would join their groups. Absent if not all employees were read.',
    ),
  byRule: z.array(z.object({ rule: text, matched: count })),
});
export type MatchPreview = Answer<typeof MatchPreview>;

export const AdoptedPair = z.object({ group: text, name: text, platformId: text });
export type AdoptedPair = Answer<typeof AdoptedPair>;

const AdoptionPlan = z.object({
  existing: count,
  directory: count,
  bySpokeId: z.array(AdoptedPair),
  /** Unmanaged groups with the name of a directory group, which therefore waits (`name_clash`). */
  clashes: z.array(AdoptedPair),
});
export type AdoptionPlan = Answer<typeof AdoptionPlan>;

/** The employee field (`userId` or `id`) whose values the platform's groups contain. */
const MemberIds = z.object({
  field: nullable(z.enum(['userId', 'id'])).describe(
    'The memberIdField of the ids in groups; null if uncertain.',
  ),
  users: count.describe('The number of distinct ids in the groups.'),
  userId: count.describe('The number of ids that equal the userId, but not the id, of a checked employee.'),
  id: count.describe('The number of ids that equal the id, but not the userId, of a checked employee.'),
});
export type MemberIds = Answer<typeof MemberIds>;

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
  findings: z.array(ProbeFinding),
  kept: z
    .boolean()
    .describe(
      'Whether the report was stored. A report without a finding about versions in PATCH is not stored.',
    ),
  stopped: nullable(text).describe('The reason why probe ended early; null if probe tried everything.'),
  left: z
    .array(text)
    .describe('The test groups that probe could not delete: their ids, or the name if the id is unknown.'),
});
export type ProbeReport = Answer<typeof ProbeReport>;
