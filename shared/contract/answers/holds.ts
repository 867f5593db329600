import * as z from 'zod';
import { HOLD_RULES } from '../../domain/hold.ts';
import { type Answer, count, instant, nullable, text } from './forms.ts';

export const HoldRow = z.object({
  group: text,
  removes: count,
  keeps: z.int(),
  share: z
    .number()
    .describe(
      'The removals within the hour, including these, as a share of the users that the group had before the removals.',
    ),
  digest: text,
  rule: z.enum(HOLD_RULES),
  decision: z.enum(['waiting', 'approved', 'rejected']),
  createdAt: instant,
  expiresAt: instant,
});
export type HoldRow = Answer<typeof HoldRow>;

const HeldMember = z.object({
  user: text.describe("The id in the platform's group."),
  member: nullable(text),
  name: nullable(text),
  email: nullable(text),
  because: text,
  event: nullable(z.object({ id: nullable(text), source: nullable(text), time: nullable(text) })),
});
export type HeldMember = Answer<typeof HeldMember>;

export const HeldGroupReport = HoldRow.extend({ name: nullable(text), members: z.array(HeldMember) });
