import * as z from 'zod';
import { type Frozen, number, text } from './forms.ts';

export const HoldDecision = z.lazy(() =>
  z.union([
    z.object({ kind: z.literal('waiting') }),
    z.object({ kind: z.enum(['approved', 'rejected']), by: text, reason: text, atMs: number }),
  ]),
);
export type HoldDecision = Frozen<z.infer<typeof HoldDecision>>;

/** The guard's rules (`shared/plan/guard.ts`). A hold shows the first rule of this list that is broken. */
export const GUARD_RULES = ['per_hour', 'deleted_groups', 'count', 'share', 'emptied_groups'] as const;
export type GuardRuleName = (typeof GUARD_RULES)[number];
/** The rules of holds: those of the guard, and the causes for which a removal always waits (`WaitCause`). */
export const HOLD_RULES = [...GUARD_RULES, 'adoption', 'mode'] as const;
export type HoldRule = (typeof HOLD_RULES)[number];

/** The rule `emptied_groups` counts a small group that loses more than this share of its users within 75 minutes. */
export const EMPTIED_FROM = 0.5;

/**
 * Removals that the guard stopped, with an operator's decision about them. groupsync still writes additions and the
 * name of the group. The set may be empty if the write deletes the group.
 */
export const Hold = z.lazy(() =>
  z.object({
    /** The id of the set: the SHA-256 in hex of link, action and sorted removals. */
    digest: text,
    rule: z.enum(HOLD_RULES),
    removes: number,
    /** The number of users in the group after the held and the approved removals. */
    keeps: number,
    share: number,
    /** The time of the first hold of these removals. A hold that replaces an earlier hold keeps that time. */
    createdAtMs: number,
    /**
     * The time since which these removals may have been planned: the group became dirty then, and was settled without
     * them before. A paused connection may have held them for months.
     */
    dirtySinceMs: number,
    expiresAtMs: number,
    decision: HoldDecision,
    /**
     * Whether this hold requires four eyes: the connection or another set of the group required them when this hold
     * began. A later change of the setting does not end the requirement.
     */
    fourEyes: z.literal(true).exactOptional(),
    /** The location of the full set, and the hash by which a reader checks it. The store sets both. */
    chunks: number,
    hash: text,
  }),
);
export type Hold = Frozen<z.infer<typeof Hold>>;

/**
 * The attributes of a group with its three sets of removals: waiting, approved but not written yet, and rejected. No
 * user is in two of the sets.
 */
export const HELD_SETS = ['hold', 'approval', 'rejection'] as const;
export type HeldSetName = (typeof HELD_SETS)[number];
export type Holds = { readonly [name in HeldSetName]?: Hold };

/** The attribute that stores a set, by the decision of an operator. */
export const STORED_AS = {
  waiting: 'hold',
  approved: 'approval',
  rejected: 'rejection',
} as const satisfies Readonly<Record<HoldDecision['kind'], HeldSetName>>;

export const holdsOf = (state: Holds): readonly Hold[] => HELD_SETS.flatMap((name) => state[name] ?? []);

/** Returns the approval that a write uses up. @param digest the digest of the write's approval */
export const approvalUsedUp = ({ approval }: Holds, digest: string | undefined): readonly HeldSetName[] =>
  digest !== undefined && approval?.digest === digest ? ['approval'] : [];

/** The reason for which the desired state removes a member whose removal is held. */
export type RemovalReason =
  | 'group_deleted'
  | 'no_member'
  | 'user_deleted'
  | 'removed'
  | 'not_in_snapshot'
  | 'no_event';

const DAY_MS = 24 * 3_600_000;

/** A waiting hold and an unused approval expire after this time. A new hold then contains the removals. */
export const HOLD_LIFETIME_MS = 7 * DAY_MS;

/**
 * A rejection expires after this time. A new hold then contains the removals that the directory still wants. So an
 * operator decides once a year about a user who left the directory group but stays in the platform group.
 */
export const REJECTION_LIFETIME_MS = 365 * DAY_MS;
