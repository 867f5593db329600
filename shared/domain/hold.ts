import * as z from 'zod';
import { type Frozen, number, text } from './forms.ts';

const HoldDecision = z.lazy(() =>
  z.union([
    z.object({ kind: z.literal('waiting') }),
    z.object({ kind: z.enum(['approved', 'rejected']), by: text, reason: text, atMs: number }),
  ]),
);
export type HoldDecision = Frozen<z.infer<typeof HoldDecision>>;

/** The guard's rules, in the order in which they are tried. `shared/plan/guard.ts` defines them. */
export const HOLD_RULES = ['per_hour', 'deleted_groups', 'count', 'share'] as const;
export type HoldRule = (typeof HOLD_RULES)[number];

/** Removals that the guard stopped, waiting for a person. Additions and names of the same group go on. If the group is deleted, the set may be empty. */
export const Hold = z.lazy(() =>
  z.object({
    /** Names the set: hex sha256 over link, action and sorted removals. */
    digest: text,
    rule: z.enum(HOLD_RULES),
    removes: number,
    /** Users that stay in any case. */
    keeps: number,
    share: number,
    createdAtMs: number,
    expiresAtMs: number,
    decision: HoldDecision,
    /**
     * Covers rejected removals and later ones. So an approval of the set that was shown before does not apply, and
     * switching the guard off does not end the hold.
     */
    afterRejection: z.literal(true).exactOptional(),
    /** The connection or the previous hold required four eyes when this hold was made. A later setting does not change it. */
    fourEyes: z.literal(true).exactOptional(),
    /** Location and hash of the full set, to read it and to prove that it is complete; filled in by the store. */
    chunks: number,
    hash: text,
  }),
);
export type Hold = Frozen<z.infer<typeof Hold>>;

/**
 * Returns what a write uses up that the approval with this digest permitted. An approved hold ends together with the
 * approval next to it.
 */
export function usedUp(
  { hold, approval }: { readonly hold?: Hold; readonly approval?: Hold },
  digest: string | undefined,
): readonly ('hold' | 'approval')[] {
  if (digest === undefined) return [];
  if (hold?.digest === digest) return ['hold', 'approval'];
  return approval?.digest === digest ? ['approval'] : [];
}

/** An undecided hold and an unused approval expire after this time; the removals are then held again. */
export const HOLD_LIFE_MS = 7 * 24 * 3_600_000;
