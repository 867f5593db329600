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
 * Removals that the guard stopped, with the decision about them. Additions and names of the same group are still
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
    /** The time of the first hold of these removals. A hold that replaces an earlier one keeps it. */
    createdAtMs: number,
    expiresAtMs: number,
    decision: HoldDecision,
    /**
     * The connection or the previous hold required four eyes when this hold was made. A later setting does not change
     * it.
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
 * The attributes of a group with its held removals: those that wait, those that an operator approved and that are not
 * written yet, and those that an operator rejected. No user is in two of the sets.
 */
export const HELD_SETS = ['hold', 'approval', 'rejection'] as const;
export type HeldSetName = (typeof HELD_SETS)[number];
export type Holds = { readonly [name in HeldSetName]?: Hold };

/** The attribute that stores removals with a decision of this kind. */
export const STORED_AS = {
  waiting: 'hold',
  approved: 'approval',
  rejected: 'rejection',
} as const satisfies Readonly<Record<HoldDecision['kind'], HeldSetName>>;

/** Returns the sets of a group: those that wait for a decision first. */
export const holdsOf = (state: Holds): readonly Hold[] => HELD_SETS.flatMap((name) => state[name] ?? []);

/** Returns the set that a write uses up. @param digest the digest of the write's approval */
export const usedUp = ({ approval }: Holds, digest: string | undefined): readonly HeldSetName[] =>
  digest !== undefined && approval?.digest === digest ? ['approval'] : [];

/** Why the directory's state removes a member whose removal is held. */
export type RemovalReason =
  | 'group_deleted'
  | 'no_member'
  | 'user_deleted'
  | 'removed'
  | 'not_in_snapshot'
  | 'no_event';

const DAY_MS = 24 * 3_600_000;

/** A waiting hold and an unused approval expire after this time. The removals are then held again. */
export const HOLD_LIFE_MS = 7 * DAY_MS;

/**
 * A rejection expires after this time, and the removals that the directory still wants are held again. So an operator
 * decides at least once a year about a user who left the directory group.
 */
export const REJECTION_LIFE_MS = 365 * DAY_MS;
