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
      'Removals within the hour, including these, divided by the users that the group had before them.',
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

/** A hold with every member that would be removed. */
export const HeldGroupReport = HoldRow.extend({ name: nullable(text), members: z.array(HeldMember) });
