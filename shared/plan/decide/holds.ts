import { mayCreate } from '../../contract/group-policy.ts';
import type { Hold, RemovalSet } from '../../domain/hold.ts';
import type { IntentId, PlatformUserId } from '../../domain/ids.ts';
import { laterStamp, STAMP_ZERO, type Stamp, stampAt } from '../../domain/stamp.ts';
import { WHOLE_GROUP, withUnwanted } from '../../domain/view.ts';
import type { Decision, HoldRemovals, Reserve, Wait, Write } from '../decision.ts';
import { type DraftInput, whyRemoved } from '../draft.ts';
import type { Facts, Reservation } from '../facts.ts';
import { type GuardInput, type GuardVerdict, judgeByLimits } from '../guard.ts';
import { hiddenWanted } from '../hidden.ts';
import type { Plan } from '../plan.ts';
import { isPersonal } from '../removal-cause.ts';
import {
  type Judgement,
  judgeRemovals,
  openSets,
  type RemovalList,
  stillOpen,
  type WaitingRemovals,
  withWaiting,
} from '../removals.ts';
import { newestStampOf } from './damping.ts';
import type { settle } from './settle.ts';

/** Settles a group that groupsync may not write now. Its removals that have ended leave the list first. */
export function settleUnheld(facts: Facts, settled: ReturnType<typeof settle>): Decision {
  const { state, wanted, held } = facts;
  if (state.removals === undefined) return settled;
  if (held === undefined) return { kind: 'read', what: [wanted === undefined ? 'wanted' : 'held'] };
  const sets = openSets(listOf(facts));
  return sets === held.sets ? settled : { kind: 'hold', sets, begins: false };
}

export interface Guarded extends Pick<Write, 'held' | 'isWaiting' | 'consumes' | 'isReserved'> {
  readonly isDeletionHeld?: boolean;
}

export const UNGUARDED: Guarded = { held: new Set(), isWaiting: false, consumes: [], isReserved: false };

/**
 * Judges the removals or the group deletion of a plan, whatever caused them (invariant 5). This includes the deletion
 * of a group without users. The guard does not judge the removal of a blocked person, and no hold or rejection stops it
 * (`withoutBlocked`). First, the list of removals is brought up to date (`judgeRemovals`). The guard judges the rest:
 *
 *     the undecided removals                            | result
 *     --------------------------------------------------|-------------------------------------------------
 *     do not exist, or the guard is off                 | the plan may be written
 *     are not reserved                                  | reserve
 *     are within the limits                             | the plan may be written
 *     exceed the limit only with a second worker        | wait for that worker (`isOnlyTwo`)
 *     otherwise                                         | hold
 */
export function guard(asked: Plan, facts: Facts): Guarded | Decision {
  const { state } = facts;
  const plan = withoutBlocked(asked, facts);
  const unread = (['held', 'departed'] as const).filter((one) => facts[one] === undefined);
  if (state.removals !== undefined && unread.length > 0) return { kind: 'read', what: unread };
  const list = listOf(facts);
  const { sets } = list;
  const judged = judgeRemovals({
    ...list,
    plan,
    leavers: leaversOf(plan, facts),
    always: facts.views?.base?.waits ?? new Map(),
    isGuarded: facts.settings.guard !== null,
  });
  const context = { plan, facts, sets, judged };
  if (judged.joins.length === 0) return guardOpen(context);
  return hold({ rule: judged.rule ?? sets[0]?.hold.rule ?? 'count' }, context);
}

/** Returns the digests of the approvals whose write may still take effect. */
export const sentApprovals = ({ uncertain }: Facts['state'], nowMs: number): readonly string[] =>
  (nowMs < (uncertain?.untilMs ?? 0) ? uncertain?.consumes : undefined) ?? [];

const listOf = ({ state, settings, held, wanted, blocked, nowMs }: Facts): RemovalList => ({
  sets: held?.sets ?? [],
  platformId: state.link?.id,
  wanted: wanted?.group?.users,
  namedAt: namedLast(state),
  wantedAt: held?.wantedAt ?? new Map(),
  blocked,
  leavers: new Set(),
  sent: sentApprovals(state, nowMs),
  // Expired removals of a group that may not be written stay, so that they wait for a new decision when it may.
  nowMs: mayCreate(settings, state.ref.group, state.registers.name?.value) ? nowMs : 0,
});

/** Returns the latest known stamp at which the source of the group had it. A takeover only finds groups that exist. */
function namedLast({ registers, movedAt }: Facts['state']): Stamp {
  const { name, deleted } = registers;
  const namedAt = name?.value ? name.stamp : STAMP_ZERO;
  const moved = movedAt === undefined ? STAMP_ZERO : stampAt(movedAt);
  return deleted > moved ? laterStamp(namedAt, moved) : namedAt;
}

/** Returns the users of a set whose removal still needs a decision or has one, each with the cause. */
export function openRemovals(facts: Facts, { digest }: Pick<Hold, 'digest'>) {
  const set = facts.held?.sets.find(({ hold }) => hold.digest === digest);
  const [open] = set === undefined ? [] : stillOpen(set, listOf(facts));
  const given = removalFacts(facts);
  return [...(open?.users ?? [])].map((user) => ({ user, ...whyRemoved(user, given) }));
}

export const removalFacts = (facts: Facts) => ({
  blocked: facts.blocked,
  whyNot: causesIn(facts),
  current: facts.views?.base && withUnwanted(facts.views.base, facts.wanted?.group?.users),
  wanted: facts.wanted?.group,
});

function guardOpen(context: GuardContext): Guarded | Decision {
  const { facts, judged } = context;
  if (judged.open !== context.sets) return { kind: 'hold', sets: judged.open, begins: false };
  const held = new Set(judged.held.filter((user) => !facts.blocked?.has(user)));
  const isDeletionHeld = held.delete(WHOLE_GROUP);
  const guarded: Guarded = {
    held,
    isDeletionHeld,
    isWaiting: judged.open.some(({ hold }) => hold.decision.kind === 'waiting'),
    consumes: judged.consumes,
    isReserved: false,
  };
  const isDecided = judged.unjudged.length === 0;
  return isDecided || facts.settings.guard === null ? guarded : judgeOthers(guarded, context);
}

export const causesIn = ({ ended = new Map(), departed = ended, wanted }: Facts): DraftInput['whyNot'] =>
  new Map([...ended, ...(wanted?.whyNot ?? []), ...departed]);

/** Returns the removed users whose person ended or is suspended. They do not wait with other removals. */
function leaversOf({ removals }: Plan, facts: Facts): ReadonlySet<PlatformUserId> {
  const causes = causesIn(facts);
  return new Set(removals.filter((user) => isPersonal(causes.get(user)?.cause)));
}

/**
 * Returns the plan without the removals of blocked people. The deletion of a group is judged as a whole. If it is held,
 * the next plan removes only the blocked people.
 */
const withoutBlocked = (plan: Plan, { blocked }: Facts): Plan =>
  blocked === undefined || plan.action === 'delete'
    ? plan
    : { ...plan, removals: plan.removals.filter((user) => !blocked.has(user)) };

interface GuardContext {
  readonly plan: Plan;
  readonly facts: Facts;
  readonly judged: Judgement;
  readonly sets: readonly RemovalSet[];
}

/**
 * Judges the removals without an operator's decision, or the deletion of the group. If one of them is the end of a
 * person, it does not join the waiting removals, so the waiting and rejected removals count as if they were written.
 */
function judgeOthers(guarded: Guarded, context: GuardContext): Guarded | Decision {
  const { plan, facts, judged } = context;
  const leavers = leaversOf(plan, facts);
  const removals = plan.action === 'delete' ? plan.removals.length : judged.unjudged.length;
  const isCounted = !plan.departs && judged.unjudged.some((user) => leavers.has(user));
  const alsoCounts = isCounted ? judged.held.length : 0;
  const judgement = judgeReserved({ removals, alsoCounts }, sizeOf(facts), plan, facts);
  if ('kind' in judgement) return judgement;
  return judgement.allowed ? { ...guarded, isReserved: true } : hold(judgement, context);
}

/** Returns the decision to record the removals without a decision as waiting. People who ended have a set of their own. */
function hold(
  { rule, share }: Pick<WaitingRemovals, 'rule'> & Partial<Pick<WaitingRemovals, 'share'>>,
  { plan, facts, judged, sets }: GuardContext,
): HoldRemovals {
  const { state, settings, wanted, nowMs } = facts;
  const isDeletion = plan.action === 'delete';
  const undecided = judged.joins.length > 0 ? judged.joins : judged.unjudged;
  const leavers = leaversOf(plan, facts);
  const others = undecided.filter((user) => !leavers.has(user));
  const users = others.length > 0 ? others : undecided;
  const waiting: WaitingRemovals = {
    users: isDeletion ? plan.removals : users,
    ...(state.link && { platformId: state.link.id }),
    ...(isDeletion && { deletes: true }),
    ...(others.length === 0 && { ofLeavers: true }),
    approved: judged.approved.length,
    size: sizeOf(facts),
    rule,
    share,
    asOf: wanted === undefined ? STAMP_ZERO : newestStampOf(state, wanted),
    dirtySinceMs: Math.min(state.unwrittenSinceMs ?? nowMs, state.dirtySinceMs ?? nowMs),
    isUnderFourEyes: settings.fourEyes,
  };
  return { kind: 'hold', sets: withWaiting(sets, judged.open, waiting, nowMs), begins: true };
}

/** Returns the known number of users in the group, without wanted hidden users (`hiddenWanted`). */
const sizeOf = ({ views, wanted }: Facts): number =>
  views?.base === undefined ? 0 : withUnwanted(views.base, wanted?.group?.users).users.size;

/** Returns the guard's verdict about the removals, or the decision to reserve them first. */
function judgeReserved(
  { removals, alsoCounts }: { readonly removals: number; readonly alsoCounts: number },
  size: number,
  plan: Plan,
  facts: Facts,
): GuardVerdict | Reserve | Wait {
  const { state, settings, reservation } = facts;
  // Only one of two writes can take effect: the uncertain write or the next write. So the larger number of removals
  // counts.
  const replaces = state.uncertain?.removals;
  const atStake = Math.max(removals, replaces?.removals ?? 0);
  // A release is judged like other removals.
  const deletes = plan.action === 'delete';
  if (reservation?.removals !== atStake || reservation.deletes !== deletes)
    return { kind: 'reserve', removals: atStake, size, deletes, replaces };
  const recent = { ...reservation.recent, group: reservation.recent.group + alsoCounts };
  const asked = {
    limits: settings.guard,
    size,
    hidden: hiddenWanted(facts).length,
    removals: atStake,
    deletesGroup: deletes,
    recent,
  };
  const judgement = judgeByLimits(asked);
  return !judgement.allowed && isOnlyTwo(asked) ? yielding(reservation.intent) : judgement;
}

/**
 * Whether the removals are within the limit without the removals of a second worker. Two messages may start two workers
 * for one group, and both reserve the same removals. If only the sum exceeds the limit, no hold starts, and the workers
 * try again one after the other.
 */
function isOnlyTwo({ recent, ...input }: GuardInput & Pick<Reservation, 'recent'>): boolean {
  const { group, connection, concurrent } = recent;
  const alone = { ...recent, group: group - concurrent, connection: connection - concurrent };
  return judgeByLimits({ ...input, recent: alone }).allowed;
}

const yielding = (own: IntentId): Wait => ({
  kind: 'wait',
  yields: true,
  waitMs: 1_000 * (1 + (own.charCodeAt(own.length - 1) % 8)),
  why: { code: 'waiting', message: 'another worker is syncing the group' },
});
