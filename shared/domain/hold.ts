import * as z from 'zod';
import { type Frozen, number, text } from './forms.ts';

export const HoldDecision = z.lazy(() =>
  z.union([
    z.object({ kind: z.literal('waiting') }),
    z.object({ kind: z.enum(['approved', 'rejected']), by: text, reason: text, atMs: number }),
  ]),
);
export type HoldDecision = Frozen<z.infer<typeof HoldDecision>>;

/** The guard's rules, in the order in which they are tried. `shared/plan/guard.ts` defines them. */
export const HOLD_RULES = ['per_hour', 'deleted_groups', 'count', 'share'] as const;
export type HoldRule = (typeof HOLD_RULES)[number];

/**
 * Removals that the guard stopped and that wait for an operator. Additions and names of the same group are still
 * written. If the group is deleted, the set may be empty.
 */
export const Hold = z.lazy(() =>
  z.object({
    /** Identifies the set: the hex SHA-256 of link, action and sorted removals. */
    digest: text,
    rule: z.enum(HOLD_RULES),
    removes: number,
    /** The number of users that stay after the held and the approved removals. */
    keeps: number,
    share: number,
    createdAtMs: number,
    expiresAtMs: number,
    decision: HoldDecision,
    /**
     * Set if the hold covers removals that an operator rejected, together with later ones. An approval of an earlier
     * set then does not apply, and the hold stays when the guard is switched off.
     */
    afterRejection: z.literal(true).exactOptional(),
    /**
     * Set if the connection or the previous hold required four eyes when this hold started. A later change of the
     * setting does not affect it.
     */
    fourEyes: z.literal(true).exactOptional(),
    /**
     * The location and the hash of the full set. With the hash, a reader can check that it has read the complete set.
     * The store sets both.
     */
    chunks: number,
    hash: text,
  }),
);
export type Hold = Frozen<z.infer<typeof Hold>>;

/**
 * Returns which approvals a write uses up: an approved hold, the separate approval, or both. `digest` is the digest of
 * the approval under which the write was made. If the hold itself was approved, the separate approval ends too.
 */
export function usedUp(
  { hold, approval }: { readonly hold?: Hold; readonly approval?: Hold },
  digest: string | undefined,
): readonly ('hold' | 'approval')[] {
  if (digest === undefined) return [];
  if (hold?.digest === digest) return ['hold', 'approval'];
  return approval?.digest === digest ? ['approval'] : [];
}

/** Why the directory's state removes a member whose removal is held. */
export type RemovalReason =
  | 'group_deleted'
  | 'no_member'
  | 'user_deleted'
  | 'removed'
  | 'not_in_snapshot'
  | 'no_event';

/** An undecided hold and an unused approval expire after this time. The removals are then held again. */
export const HOLD_LIFE_MS = 7 * 24 * 3_600_000;
