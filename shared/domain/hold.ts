import * as z from 'zod';
import { type Frozen, number, text } from './forms.ts';

const HoldDecision = z.lazy(() =>
  z.union([
    z.object({ kind: z.literal('waiting') }),
    z.object({ kind: z.enum(['approved', 'rejected']), by: text, reason: text, atMs: number }),
  ]),
);
export type HoldDecision = Frozen<z.infer<typeof HoldDecision>>;

/** Removals that the guard stopped, waiting for a person. Additions and names of the same group go on. */
export const Hold = z.lazy(() =>
  z.object({
    /** Names the set: hex sha256 over link, action and sorted removals. */
    digest: text,
    rule: z.enum(['share', 'count', 'per_hour']),
    removes: number,
    /** Users that stay in any case. */
    keeps: number,
    share: number,
    createdAtMs: number,
    expiresAtMs: number,
    decision: HoldDecision,
    /** Covers what a person rejected and others since: what was shown before is not to be approved, nor let go with the guard. */
    afterRejection: z.literal(true).exactOptional(),
    /** The connection or the previous hold required four eyes when this hold was made. A later setting does not change it. */
    fourEyes: z.literal(true).exactOptional(),
    /** Where the full set lies, and how to tell that it is whole; filled in by the store. */
    chunks: number,
    hash: text,
  }),
);
export type Hold = Frozen<z.infer<typeof Hold>>;

/** What a write uses up if the approval with this digest permitted it. An approved hold ends together with the approval next to it. */
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
