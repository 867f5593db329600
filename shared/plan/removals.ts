import { HOLD_LIFETIME_MS, type Hold, type HoldRule, type RemovalSet } from '../domain/hold.ts';
import type { PlatformGroupId, PlatformUserId } from '../domain/ids.ts';
import { STAMP_ZERO, type Stamp } from '../domain/stamp.ts';
import { WHOLE_GROUP } from '../domain/view.ts';
import type { Plan } from './plan.ts';

export interface RemovalList {
  readonly sets: readonly RemovalSet[];
  /** The linked platform group. Without a link, the earlier platform group may come back. */
  readonly platformId: PlatformGroupId | undefined;
  /** The users that the directory wants; undefined if the directory does not have the group. */
  readonly wanted: ReadonlyMap<PlatformUserId, unknown> | undefined;
  readonly namedAt: Stamp;
  /** For users that left the group: the stamp of their last membership. */
  readonly wantedAt: ReadonlyMap<PlatformUserId, Stamp>;
  readonly leavers: ReadonlySet<PlatformUserId>;
  readonly blocked: ReadonlySet<PlatformUserId> | undefined;
  /** The digests of the approvals whose write may still take effect. */
  readonly sent: readonly string[];
  readonly nowMs: number;
}

export interface RemovalsInput extends RemovalList {
  /** The plan, without the removals of blocked people. */
  readonly plan: Pick<Plan, 'action' | 'removals' | 'departs'>;
  /** Removals that always need a decision, with the reason. `WHOLE_GROUP` stands for the deletion of the group. */
  readonly always: ReadonlyMap<PlatformUserId, HoldRule>;
  readonly isGuarded: boolean;
}

/** The entries of a plan: users or, for the deletion of the group, `WHOLE_GROUP`. */
export interface Judgement {
  /** Entries that an operator approved, with the digests of the approvals. */
  readonly approved: readonly PlatformUserId[];
  readonly consumes: readonly string[];
  /** Entries that may not be written, because they wait or were rejected. */
  readonly held: readonly PlatformUserId[];
  /** Entries that only the guard judges. */
  readonly unjudged: readonly PlatformUserId[];
  /** Entries that must be recorded as waiting before anything is written, with the reason. */
  readonly joins: readonly PlatformUserId[];
  readonly rule: HoldRule | undefined;
  /** The list without the entries that have ended; `sets` itself if none has ended. */
  readonly open: readonly RemovalSet[];
}

/**
 * Judges the removals of a plan by the list of removals. An entry of the list ends only if
 *
 *   - the directory wants the user, or has wanted the user after the entry was recorded (for a deletion: the group)
 *   - it has expired
 *   - the group has another platform group
 *   - its removal was written (`removalsAfter`), or its person is blocked, because a block removes without a decision
 *   - its person ended or is suspended, and the entry is not about that (`ofLeavers`)
 *
 * A plan without the removal ends no entry: an answer may hide the user, and the mode may be `report`. The deletion of
 * the group is an entry without a user. Its decision covers the members that were shown: a later member makes it wait
 * again. If the group is now released instead, the decision covers the removals of the release, but no person who
 * ended. The first matching line counts:
 *
 *     the entry                                           | result
 *     ----------------------------------------------------|------------------------------
 *     is approved, and no earlier write is uncertain      | permitted
 *     is approved and was sent, was rejected, or waits    | held
 *     is in an expired set, or may be in an unreadable one | waits
 *     always needs a decision (`always`)                  | waits
 *     waited before its person ended, in a wanted group   | waits, now about that end
 *     is a deletion, and some of its removals are held    | waits
 *     others wait, and its person did not end             | waits
 *     otherwise                                           | the guard judges
 */
export function judgeRemovals(input: RemovalsInput): Judgement {
  const { plan, sets, always, leavers, isGuarded, nowMs } = input;
  const isDeletion = plan.action === 'delete';
  const entries = isDeletion ? [WHOLE_GROUP] : plan.removals;
  const isKind = ({ hold }: RemovalSet) => (hold.deletes ? plan.departs : !isDeletion);
  const covers = ({ hold, users }: RemovalSet, entry: PlatformUserId) =>
    isDeletion
      ? hold.decision.kind === 'rejected' || plan.removals.every((user) => users?.has(user))
      : !(hold.deletes && leavers.has(entry)) && users?.has(entry) === true;
  const open = openSets(input);
  const ofKind = open.filter(isKind);
  const within = (entry: PlatformUserId) => ofKind.find((set) => covers(set, entry))?.hold;
  const isPermitted = (entry: PlatformUserId) => {
    const hold = within(entry);
    return hold !== undefined && isApproved(hold) && !input.sent.includes(hold.digest);
  };
  const isUnreadable = ofKind.some(({ hold, users }) => !users && !isApproved(hold));
  const expired = sets.filter((set) => isKind(set) && isOver(set.hold, nowMs) && isOfGroup(set.hold, input));
  const wasIn = (entry: PlatformUserId) =>
    expired.some(
      ({ hold, users }) =>
        isDeletion || (!isPassed(hold, entry, input) && (users?.has(entry) ?? !isApproved(hold))),
    );
  const hasWaited = (entry: PlatformUserId) =>
    leavers.has(entry) &&
    input.wanted !== undefined &&
    sets.some((set) => isWaiting(set) && isWithin(set, entry, input));
  const isHeldInPart = () =>
    isDeletion &&
    (ofKind.length > 0 ||
      open.some(({ hold, users }) => !isApproved(hold) && plan.removals.some((user) => users?.has(user))));
  const ruleOf = (entry: PlatformUserId) =>
    always.get(entry) ??
    (isDeletion ? plan.removals.map((user) => always.get(user)).find(Boolean) : undefined);
  const mustWait = (entry: PlatformUserId) =>
    isUnreadable || ruleOf(entry) !== undefined || isHeldInPart() || wasIn(entry) || hasWaited(entry);
  const undecided = entries.filter((entry) => within(entry) === undefined);
  const isJoined = (isGuarded && ofKind.some(isWaiting)) || undecided.some(mustWait);
  const joins = (entry: PlatformUserId) => mustWait(entry) || (isJoined && !leavers.has(entry));
  const used = entries.filter(isPermitted).flatMap((entry) => within(entry)?.digest ?? []);
  return {
    approved: entries.filter(isPermitted),
    consumes: [...new Set(used)],
    held: entries.filter((entry) => within(entry) !== undefined && !isPermitted(entry)),
    unjudged: undecided.filter((entry) => !joins(entry)),
    joins: undecided.filter(joins),
    rule: undecided.map(ruleOf).find((rule) => rule !== undefined),
    open,
  };
}

const isWaiting = ({ hold }: RemovalSet): boolean => hold.decision.kind === 'waiting';
const isApproved = ({ decision }: Hold): boolean => decision.kind === 'approved';

const isOfGroup = ({ platformId }: Hold, input: RemovalList): boolean =>
  input.platformId === undefined || platformId === input.platformId;

/** Returns the list without the entries that have ended; `sets` itself if none has ended. */
export function openSets(list: RemovalList): readonly RemovalSet[] {
  const left = list.sets.flatMap((set) => stillOpen(set, list));
  return left.length === list.sets.length && left.every((set, at) => set === list.sets[at])
    ? list.sets
    : left;
}

export function stillOpen(set: RemovalSet, input: RemovalList): readonly RemovalSet[] {
  const { hold, users } = set;
  const { wanted, namedAt, nowMs } = input;
  if (isOver(hold, nowMs) || !isOfGroup(hold, input)) return [];
  if (hold.deletes) return wanted === undefined && namedAt <= hold.asOf ? [set] : [];
  // While its write is uncertain, an approval stays whole, because its rest would count as another approval.
  if (users === undefined || input.sent.includes(hold.digest)) return [set];
  const isEnded = (user: PlatformUserId) => !isWithin(set, user, input) || isPassed(hold, user, input);
  return without(set, new Set([...users].filter(isEnded)));
}

/** Whether the set has the removal, and neither the directory has wanted the user since nor a block removes the user. */
const isWithin = (
  { hold, users }: RemovalSet,
  user: PlatformUserId,
  { wanted, wantedAt, blocked }: RemovalList,
): boolean =>
  users?.has(user) === true &&
  !wanted?.has(user) &&
  !blocked?.has(user) &&
  (wantedAt.get(user) ?? STAMP_ZERO) <= hold.asOf;

/** Whether the person ended or is suspended, and the set is not about that. */
const isPassed = ({ ofLeavers }: Hold, user: PlatformUserId, { leavers }: RemovalList): boolean =>
  ofLeavers !== true && leavers.has(user);

/** Returns the set without these users, if any are left. The deletion of the group stays as it was shown. */
function without(set: RemovalSet, ended: ReadonlySet<PlatformUserId>): readonly RemovalSet[] {
  const { hold, users = new Set() } = set;
  const left = new Set([...users].filter((user) => !ended.has(user)));
  if (hold.deletes || left.size === users.size) return [set];
  return left.size === 0 ? [] : [partOf(set, left)];
}

/** Returns a set with other users. The caller must seal it (`sync/apply/hold.ts`). */
export function partOf({ hold }: RemovalSet, users: ReadonlySet<PlatformUserId>): RemovalSet {
  const { size } = users;
  const keeps = hold.keeps + hold.removes - size;
  return {
    hold: { ...hold, digest: '', removes: size, keeps, share: size / (size + keeps), chunks: 0 },
    users,
  };
}

/** The removals that begin to wait. `deletes` is set for the deletion of the group, with the members to show. */
export interface WaitingRemovals
  extends Pick<Hold, 'rule' | 'dirtySinceMs' | 'asOf' | 'platformId' | 'deletes' | 'ofLeavers'> {
  readonly users: readonly PlatformUserId[];
  /** The number of other removals, which an operator approved. */
  readonly approved: number;
  /** The number of users in the group. */
  readonly size: number;
  readonly share: number | undefined;
  readonly isUnderFourEyes: boolean;
}

/** Returns the list with more waiting removals. They form one set with the removals that already wait. */
export function withWaiting(
  sets: readonly RemovalSet[],
  open: readonly RemovalSet[],
  { users: added, approved, size, share, isUnderFourEyes, ...waiting }: WaitingRemovals,
  nowMs: number,
): readonly RemovalSet[] {
  const isSame = ({ hold }: RemovalSet) =>
    hold.deletes === waiting.deletes && hold.ofLeavers === waiting.ofLeavers;
  const isReplaced = (set: RemovalSet) => isSame(set) && (isWaiting(set) || waiting.deletes === true);
  const replaced = open.filter(isReplaced);
  const isBefore = (set: RemovalSet) =>
    isSame(set) ? isOver(set.hold, nowMs) : isWaiting(set) && added.some((user) => set.users?.has(user));
  const before = [...replaced, ...sets.filter(isBefore)];
  const earlier = waiting.deletes ? [] : replaced.flatMap((set) => [...(set.users ?? [])]);
  const users = new Set([...earlier, ...added]);
  const hold: Hold = {
    ...waiting,
    digest: '',
    removes: users.size,
    keeps: Math.max(0, size - users.size - approved),
    share: share ?? (size === 0 ? 0 : Math.min(1, users.size / size)),
    createdAtMs: Math.min(nowMs, ...before.map((one) => one.hold.createdAtMs)),
    dirtySinceMs: Math.min(waiting.dirtySinceMs, ...before.map((one) => one.hold.dirtySinceMs)),
    expiresAtMs: nowMs + HOLD_LIFETIME_MS,
    decision: { kind: 'waiting' },
    ...((isUnderFourEyes || sets.some((set) => set.hold.fourEyes)) && { fourEyes: true }),
    chunks: 0,
    hash: '',
  };
  const joined = new Set(waiting.deletes ? [] : added);
  const others = open.filter((set) => !isReplaced(set)).flatMap((set) => without(set, joined));
  return [{ hold, users }, ...others];
}

/** Whether a set has expired. An operator must then decide about its removals again. */
export const isOver = ({ expiresAtMs }: Hold, nowMs: number): boolean => nowMs >= expiresAtMs;
