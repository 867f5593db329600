import * as z from 'zod';
import { DAY_MS } from './duration.ts';
import { type Frozen, number, platformGroupText, stampText, text } from './forms.ts';
import type { PlatformUserId } from './ids.ts';

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
 * Removals of one platform group that need a decision of an operator, with that decision. groupsync still writes
 * additions and the name of the group.
 */
export const Hold = z.lazy(() =>
  z.object({
    /** The id of the set: the SHA-256 in hex of platform group, kind and sorted removals. */
    digest: text,
    platformId: platformGroupText.exactOptional(),
    /** Set for the deletion of the group. The users are then the members that the operator is shown. */
    deletes: z.literal(true).exactOptional(),
    /** Set if the people of these removals ended or are suspended. Only then does a decision cover this end. */
    ofLeavers: z.literal(true).exactOptional(),
    /**
     * The latest stamp of the directory when the removals were recorded. A removal ends if the directory has wanted the
     * user after this stamp, even if it no longer does.
     */
    asOf: stampText,
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
     * Whether these removals require four eyes: the connection or another set of the group required them when this hold
     * began. A later change of the setting does not end the requirement.
     */
    fourEyes: z.literal(true).exactOptional(),
    /** The location of the users, and the hash by which a reader checks them. The store sets both. */
    chunks: number,
    hash: text,
  }),
);
export type Hold = Frozen<z.infer<typeof Hold>>;

/** The list of a group's removals that need a decision, one set for each decision. No removal is in two sets. */
export const Removals = z.lazy(() =>
  z.object({
    /** Identifies this content of the list, for conditional writes. */
    id: text,
    sets: z.array(Hold),
  }),
);
export type Removals = Frozen<z.infer<typeof Removals>>;

export interface RemovalSet {
  readonly hold: Hold;
  /** The users whose removal is in the set; undefined if they cannot be read. */
  readonly users: ReadonlySet<PlatformUserId> | undefined;
}

/** The most sets of a group, so that the list fits into the group's item. */
export const MOST_SETS = 50;

const ORDER: readonly HoldDecision['kind'][] = ['waiting', 'approved', 'rejected'];

/** Returns the list of these sets, the waiting ones first; undefined if there are none. */
export function removalsOf(sets: readonly Hold[]): Removals | undefined {
  const idOf = ({ digest, decision: { kind }, expiresAtMs }: Hold) =>
    `${digest.slice(0, 12)}${kind[0]}${expiresAtMs.toString(36)}`;
  const sorted = ORDER.flatMap((kind) => sets.filter(({ decision }) => decision.kind === kind));
  return sorted.length === 0 ? undefined : { id: sorted.map(idOf).join(' '), sets: sorted };
}

/** Returns the list after a write that used up approvals. @param consumes the digests of the approvals */
export const removalsAfter = (
  { removals }: { readonly removals?: Removals | undefined },
  consumes: readonly string[] = [],
): Removals | undefined =>
  removalsOf((removals?.sets ?? []).filter(({ digest }) => !consumes.includes(digest)));

export const holdsOf = ({ removals }: { readonly removals?: Removals | undefined }): readonly Hold[] =>
  removals?.sets ?? [];

export const holdWith = (kind: HoldDecision['kind'], state: Parameters<typeof holdsOf>[0]) =>
  holdsOf(state).find(({ decision }) => decision.kind === kind);

/** A waiting hold and an unused approval expire after this time. A new hold then contains the removals. */
export const HOLD_LIFETIME_MS = 7 * DAY_MS;

/**
 * A rejection expires after this time. A new hold then contains the removals that the directory still wants. So an
 * operator decides once a year about a user who left the directory group but stays in the platform group.
 */
export const REJECTION_LIFETIME_MS = 365 * DAY_MS;
