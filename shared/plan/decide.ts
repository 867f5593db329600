import { type GroupTreatment, policyFor } from '../contract/group-policy.ts';
import type { ConnectionSettings, DriftPolicy } from '../contract/settings.ts';
import type { Difference } from '../domain/drift.ts';
import { hasDeparted } from '../domain/group.ts';
import type { GroupField } from '../domain/group-fields.ts';
import {
  type FlapDamping,
  type GroupState,
  type Intent,
  type MemberCounts,
  READS_BEHIND_MS,
  type SettledState,
  type SuspectedChange,
} from '../domain/group-state.ts';
import type { Hold } from '../domain/hold.ts';
import type { IntentId, PlatformGroupId, PlatformUserId } from '../domain/ids.ts';
import { STAMP_ZERO } from '../domain/stamp.ts';
import { isWhole, type ListedGroup, type ObservedGroup, type View } from '../domain/view.ts';
import {
  decideAbsence,
  decideAdoption,
  decideDeletion,
  LISTING_AGE_MS,
  listedAgain,
  previousGroup,
} from './absence.ts';
import { countsOf } from './counts.ts';
import type { Absorb, Decision, DriftEnding, Question, Wait, Write } from './decision.ts';
import type { DraftInput, WantedGroup } from './draft.ts';
import type { Facts, Rejected, Reservation, Wanted } from './facts.ts';
import {
  foreignDifferences,
  isAsLeft,
  isOurCreation,
  isSpokeIdLost,
  mayPrecedeWriteForMs,
  shows,
  viewOf,
  withHidden,
  withUnwanted,
} from './foreign.ts';
import { type GuardInput, judgeRemovals } from './guard.ts';
import { approvedBeside, holdWithSay, isOver, judgeByHold } from './hold.ts';
import { alreadyThere, carrying, foldName, renamedTo, says } from './names.ts';
import type { Plan } from './plan.ts';
import { dueField, fieldFailure, leftDiffering, refusedOf } from './refused-fields.ts';
import { decideRelease } from './release.ts';
import { decideUnlisted } from './unlisted.ts';
import { draftRested } from './unshown.ts';
import { lateWrites, uncertainDeletion } from './uncertain.ts';
import { newnessOf, standingWaiver, waive } from './waive.ts';

export type * from './decision.ts';

/** Many changes at once share a listing; one from before our first group shows no spokeId, and is read again. */
const ECHO_LISTING_AGES_MS = [5_000, 0];
/** How often a created group is looked for in vain before it is taken for never created. */
const CREATE_MISSES = 3;

/** So often within an hour a group is put right at once. */
const RESTORED_AT_ONCE = 2;
const HOUR_MS = 3_600_000;

const LOOK: Question = { kind: 'look' };
const NO_USERS = { users: new Map() };
const NOBODY: MemberCounts = { wanted: 0, applied: 0, pending: 0 };
const NOT_SHOWN_YET = { code: 'waiting', message: 'the platform does not show the created group yet' };
const CONTESTED = {
  code: 'contested',
  message: 'somebody else changes the group again and again: it is put right once an hour',
};
const TRIED: Wait = {
  kind: 'wait',
  waitMs: undefined,
  why: { code: 'platform_rejected', message: 'users that the platform refused together are tried apart' },
};
export const REFUSED: Wait = {
  kind: 'wait',
  waitMs: READS_BEHIND_MS,
  why: { code: 'refused', message: 'the platform refuses the change: it is tried once more in a minute' },
};
/**
 * The platform refuses a write that only removes members. They keep their access, and the write is tried again in an
 * hour.
 */
export const removalsRefused = (count: number, answer: string): Wait => ({
  kind: 'wait',
  waitMs: HOUR_MS,
  why: {
    code: REMOVALS_REFUSED,
    message: `the platform refuses to remove ${count === 1 ? '1 member, who keeps' : `${count} members, who keep`} access; groupsync tries again in an hour: ${answer}`,
  },
});
const REMOVALS_REFUSED = 'removals_refused';
/** After these errors, the platform has refused a write of the group before. */
export const ONCE_REFUSED: ReadonlySet<string> = new Set([
  REFUSED.why.code,
  TRIED.why.code,
  REMOVALS_REFUSED,
]);
const UNPROVEN_READ = {
  code: 'waiting',
  message: 'the platform may show the group as it was before the last write: it will be read again',
};
const NAME_IN_USE: Wait = {
  kind: 'wait',
  waitMs: undefined,
  why: {
    code: 'name_in_use',
    message: 'the platform refuses the name, which another group has: tried again until it is free',
  },
};

/**
 * What to do with a group next: the only place that knows the policy. Apply carries it out and asks again, until it is
 * `settle`, `fail` or `wait`; `plan` and `explain` only print it. The first line that fits decides:
 *
 *     the group                                          | decision
 *     ---------------------------------------------------|------------------------------------------------
 *     has an open intent                                 | its outcome: see `decideIntent`
 *     was released by a person                           | see `decideRelease`, then settle excluded
 *     had one that the platform refused                  | fail, a change the second time; gone, name taken: below
 *     is left out by the settings                        | drop a hold that waits, settle excluded
 *     is put right and undone again and again            | wait for the rest of the hour; see `decideRest`
 *     is under suspicion, or its view cannot be read     | a look: clear, absorb; see `decideLook`
 *     has no name, and no deletion before that           | settle unnamed
 *     was deleted there, and the policy lets that stand  | settle in_sync
 *     is to be released when the directory deletes it    | release
 *     would be changed or deleted                        | a look first, once in an attempt
 *     would lose more than the guard allows              | hold, then the rest
 *     shows what is wanted                               | settle
 *     is to be created, and is there already             | adopt
 *     otherwise                                          | write
 */
export function decide(facts: Facts): Decision {
  const { state, rejected, look } = facts;
  if (state.intent !== undefined) return decideIntent(facts, state.intent);
  if (state.released)
    return state.platformId === undefined ? settleUnheld(facts, 'excluded') : decideRelease(facts);
  // Where there is no group to be seen, its version tells nothing: it is not listed yet, or somebody has deleted it.
  if (rejected !== undefined) return look === 'gone' ? decideMissing(facts) : decideRejected(facts, rejected);
  const treatment = treatmentOf(facts);
  // Of what is left alone nobody is asked; what a person has said stays, should the group be followed again.
  if (treatment.excluded)
    return state.hold?.decision.kind === 'waiting' ? dropHold('hold') : settle('excluded');
  const rest = decideRest(facts);
  if (rest !== undefined) return rest;
  if (state.suspectedChange !== undefined) return decideLook(facts) ?? clear(facts);
  return decideWanted(facts, treatment);
}

/** Where each name is there once, a group waits until another gives its name up; meanwhile the rest is written. */
function decideRejected(facts: Facts, { name }: Rejected): Decision {
  const { state, listed, look } = facts;
  // It is not known yet whether this was a conflict.
  const unproven = look === undefined || look === 'gone' ? undefined : waitForProof(facts, look);
  if (unproven !== undefined) return unproven;
  if (name === undefined) return failing(facts);
  if (listed === undefined || listed.ageMs > 0) return { kind: 'list', ageMs: 0 };
  if (!listed.groups.some((one) => one.id !== state.platformId && isWhole(one) && isSameName(one, name)))
    return failing(facts);
  return state.platformId === undefined ? NAME_IN_USE : decideWanted(facts, treatmentOf(facts));
}

/**
 * Whether a change was a conflict shows by the version; but what is shown may be the past. So a change is refused twice
 * before that counts, so far apart that the platform shows the present.
 */
function failing({ state: { platformId, lastError }, nowMs }: Facts): Decision {
  const before = lastError !== undefined && ONCE_REFUSED.has(lastError.code) ? lastError : undefined;
  const isAgain = before !== undefined && nowMs - before.atMs >= READS_BEHIND_MS;
  if (platformId === undefined || isAgain) return { kind: 'fail' };
  return { kind: 'fail', firstly: { ...REFUSED, why: before ?? REFUSED.why } };
}

const isSameName = (group: ObservedGroup, name: string) => foldName(group.name) === foldName(name);

/**
 * Somebody who undoes what we write is answered twice at once, then once an hour: each restoration costs three or four
 * calls. The directory's newer word, whoever of ours is to leave, an approval, and a person who asks pass at once.
 */
function decideRest(facts: Facts): Decision | undefined {
  const { state, nowMs, wanted, views } = facts;
  const { flapDamping, suspectedChange, hold, approval } = state;
  if (
    flapDamping === undefined ||
    flapDamping.count <= RESTORED_AT_ONCE ||
    nowMs >= flapDamping.sinceMs + HOUR_MS
  )
    return undefined;
  if (isAsked(suspectedChange) || hold?.decision.kind === 'approved' || approval) return undefined;
  if (wanted === undefined || views === undefined) return { kind: 'read', what: ['wanted', 'views'] };
  if (newnessOf(state, wanted).newest > (flapDamping.seen ?? STAMP_ZERO)) return undefined;
  const { users } = wanted.group ?? NO_USERS;
  const current = views.base && withUnwanted(views.base, users);
  const hasLeaver = [...(current?.users ?? [])].some(([user, isOurs]) => isOurs && !users.has(user));
  // Whom somebody else put in is no leaver, and whom the guard holds back leaves no sooner for another write.
  if (hasLeaver && hold === undefined && treatmentOf(facts).mode === 'sync') return undefined;
  return { kind: 'wait', waitMs: flapDamping.sinceMs + HOUR_MS - nowMs, why: CONTESTED };
}

/** A person who asks expects no version: they may know better than our view. */
const isAsked = (suspectedChange: SuspectedChange | undefined): boolean => suspectedChange?.version === null;

/**
 * The restoration that follows, counted. One that has to rest remembers how new the directory's word is that was written
 * before: what is not written yet does not wait, nor does the one restoration of an hour.
 */
function contestAfter({ state, nowMs, wanted, views }: Facts, shown: ObservedGroup): FlapDamping | Question {
  const { flapDamping, suspectedChange, lastWriteAtMs = 0 } = state;
  const ageMs = nowMs - (flapDamping?.sinceMs ?? 0);
  if (flapDamping === undefined || ageMs >= 2 * HOUR_MS || isAsked(suspectedChange))
    return { sinceMs: nowMs, count: 1 };
  const isSame = ageMs < HOUR_MS;
  const isRested = !isSame && flapDamping.count > RESTORED_AT_ONCE;
  if (isRested && lastWriteAtMs < flapDamping.sinceMs + HOUR_MS) return flapDamping;
  const count = isSame ? flapDamping.count + 1 : isRested ? flapDamping.count : 1;
  const sinceMs = isSame ? flapDamping.sinceMs : nowMs;
  if (count <= RESTORED_AT_ONCE) return { sinceMs, count };
  if (wanted === undefined) return { kind: 'read', what: ['wanted'] };
  const { base } = views ?? {};
  const users = [...(wanted.group?.users.keys() ?? [])];
  const known = new Set([...shown.users, ...(base?.users.keys() ?? [])]);
  const isWritten =
    base && says(base, 'name', wanted.group?.name ?? base.name) && users.every((user) => known.has(user));
  return { sinceMs, count, ...(isWritten && { seen: newnessOf(state, wanted).newest }) };
}

/** By the last name it had: a deletion takes the name along, and must find the group under the policy it had. */
export const treatmentOf = ({ settings, state: { ref, registers } }: Facts): GroupTreatment =>
  policyFor(settings, ref.group, registers.name?.value);

/**
 * Settles an open intent by its own name, spokeId and users, whatever the directory wants by now.
 *
 *     the platform shows            | create              | patch, put | delete
 *     ------------------------------|---------------------|------------|----------------------
 *     the version from before       | –                   | drop       | see `decideDeletion`
 *     what the intent would make    | confirm             | confirm    | –
 *     perhaps what was earlier      | –                   | wait; drop what was refused | see `decideDeletion`
 *     something else                | –                   | absorb     | see `decideDeletion`
 *     nothing (404, not listed)     | drop after 3 misses | drop       | see `decideDeletion`
 *     … and other groups not listed | wait                | –          | –
 */
function decideIntent(facts: Facts, intent: Intent): Decision {
  const { look, rejected } = facts;
  if (look === undefined) return LOOK;
  const dropped: Extract<Decision, { kind: 'drop' }> = {
    kind: 'drop',
    intent,
    // The guard's record stays: that a look did not find the write says nothing of a request that is still on its way.
    // No more than one of two writes from the same version can succeed, so the next one takes the record over.
    owed: rejected === undefined ? intent.reserved : rejected.owed,
  };
  if (intent.action === 'create') {
    if (look !== 'gone') return decideOutcome(facts, look, dropped);
    const misses = (intent.misses ?? 0) + 1;
    const isGivenUp = misses >= CREATE_MISSES && facts.nowMs - intent.atMs >= facts.createSettleMs;
    const noting = { ...intent, misses };
    return isGivenUp ? (decideUnlisted(facts, noting) ?? dropped) : { ...notShownYet(facts), noting };
  }
  if (intent.action === 'delete') return decideDeletion(facts, intent, dropped);
  if (look === 'gone' || look.version === intent.versionBefore) return dropped;
  return decideOutcome(facts, look, dropped);
}

const notShownYet = ({ createSettleMs }: Facts): Wait => ({
  kind: 'wait',
  waitMs: Math.ceil(createSettleMs / CREATE_MISSES),
  why: NOT_SHOWN_YET,
});

function decideOutcome(
  facts: Facts,
  observed: ObservedGroup,
  dropped: Extract<Decision, { kind: 'drop' }>,
): Decision {
  const { views, rejected } = facts;
  const { intent } = dropped;
  if (views === undefined) return { kind: 'read', what: ['views'] };
  const { base } = views;
  const prepared = asMade(views.prepared, observed, intent, base);
  if (prepared !== undefined && shows(observed, prepared)) {
    const isLost = isSpokeIdLost(observed, [prepared], facts.listed, [LISTING_AGE_MS]);
    if (typeof isLost !== 'boolean') return isLost;
    if (!isLost) return { kind: 'confirm', intent, observed, view: viewOf(observed, base, prepared) };
  }
  const unproven = waitForProof(facts, observed);
  if (unproven !== undefined) return rejected === undefined ? unproven : dropped;
  if (views.isUnreadable) return decideUnreadable(facts, observed);
  // What a refused write would have added is nobody's but theirs, where it is there all the same.
  const ours = rejected === undefined ? [base, prepared] : [base];
  const lacking = rejected === undefined ? decideLacking(facts, observed, ours) : undefined;
  return lacking ?? decideForeign(facts, observed, ours);
}

/** Number of users that the platform may add to a new group: its installer. More users were added by another client. */
const ADDED_BY_PLATFORM = 1;

/** What the write would have made, with the form of the name that the platform stores and the user that it adds. */
function asMade(
  prepared: View | undefined,
  observed: ObservedGroup,
  { action }: Intent,
  base: View | undefined,
): View | undefined {
  if (prepared === undefined) return undefined;
  const made = asNamed(prepared, observed, base);
  const added = observed.users.filter((user) => !prepared.users.has(user));
  if (action !== 'create' || added.length > ADDED_BY_PLATFORM) return made;
  return { ...made, users: new Map([...viewOf(observed, prepared).users, ...prepared.users]) };
}

function asNamed(made: View, observed: ObservedGroup, before: View | undefined): View {
  const isNameSent = before?.name !== made.name && foldName(made.name) === foldName(observed.name);
  return isNameSent ? renamedTo(made, observed) : made;
}

/**
 * What a look at the platform's group itself says.
 *
 *     the platform shows                           | decision
 *     ---------------------------------------------|-----------------------------
 *     our version, and we know what we left        | undefined: as we left it
 *     the same, but a 404 came before              | clear
 *     another version within 60 s of our write     | wait
 *     our version, fewer users, within the 60 s    | wait
 *     our version, fewer users, later              | absorb: users of ours are hidden, and sent again
 *     another version or content, unreadable view  | absorb
 *     nothing (404)                                | see `decideMissing`
 */
export function decideLook(facts: Facts): Decision | undefined {
  const { state, look, views } = facts;
  if (state.platformId === undefined) return { kind: 'forget' };
  if (look === undefined) return LOOK;
  if (look === 'gone') return decideMissing(facts);
  const unproven = waitForProof(facts, look);
  if (unproven !== undefined) return unproven;
  if (views === undefined) return { kind: 'read', what: ['views'] };
  if (views.base === undefined) return decideUnreadable(facts, look);
  if (!isAsLeft(look, views.base, state.version))
    return decideLacking(facts, look, [views.base]) ?? decideForeign(facts, look, [views.base]);
  return state.missedAtMs === undefined ? undefined : clear(facts);
}

function waitForProof(facts: Facts, look: ObservedGroup): Wait | undefined {
  const waitMs = mayPrecedeWriteForMs(look, facts);
  return waitMs > 0 ? { kind: 'wait', waitMs, why: UNPROVEN_READ } : undefined;
}

/** A read that lacks users soon after groupsync's own write may be older than that write, so it proves no removal. */
function decideLacking(
  { state, nowMs, createSettleMs }: Facts,
  look: ObservedGroup,
  views: readonly (View | undefined)[],
): Wait | undefined {
  const { intent, lastWriteAtMs = 0 } = state;
  const provenAtMs = Math.max(lastWriteAtMs, intent?.atMs ?? 0) + Math.min(READS_BEHIND_MS, createSettleMs);
  const waitMs = provenAtMs - nowMs;
  if (waitMs <= 0) return undefined;
  const ours = views.filter((view) => view !== undefined);
  const isLacking = foreignDifferences(ours, look).some(({ kind }) => kind === 'members_removed');
  return isLacking ? { kind: 'wait', waitMs, why: UNPROVEN_READ } : undefined;
}

/**
 * Nobody can tell what somebody else changed. Where strangers may stay, whoever has a register here counts as ours,
 * tombstones included: else a leaver whom we had put there would stay for good.
 */
function decideUnreadable(facts: Facts, look: ObservedGroup): Decision {
  const absorb = decideForeign(facts, look, []);
  const { wanted, departed, settings } = facts;
  if (absorb.kind !== 'absorb' || settings.membership !== 'additive') return absorb;
  if (wanted === undefined) return { kind: 'read', what: ['wanted'] };
  if (departed === undefined) return { kind: 'read', what: ['departed'] };
  const registered = [...departed.keys(), ...(wanted.group?.users.keys() ?? []), ...wanted.whyNot.keys()];
  const ours = { ...look, users: new Map(registered.map((user) => [user, true])) };
  return { ...absorb, view: viewOf(look, ours) };
}

/** Whoever asked has what rests written as well. */
const clear = ({ look, nowMs, state: { flapDamping, suspectedChange } }: Facts): Decision => ({
  kind: 'clear',
  observed: look as ObservedGroup,
  flapDamping:
    flapDamping !== undefined && isAsked(suspectedChange) ? { sinceMs: nowMs, count: 0 } : undefined,
});

/**
 * What somebody else changed is told first, and then becomes the group's view, with what the policy lets stand marked
 * as waived.
 * @param views what may be our own doing: the view before, and what a write of unknown outcome would have made
 */
export function decideForeign(
  facts: Facts,
  observed: ObservedGroup,
  views: readonly (View | undefined)[],
): Absorb | Question {
  if (facts.views === undefined) return { kind: 'read', what: ['views'] };
  const before = views.filter((view) => view !== undefined);
  const { base, uncertain: change } = facts.views;
  const { intent, uncertain } = facts.state;
  const late = uncertain && change && lateWrites(uncertain, change, observed, base);
  const ours = late === undefined ? before : [...before, late.view];
  const isSpokeIdGone = isSpokeIdLost(observed, ours, facts.listed, ECHO_LISTING_AGES_MS);
  if (typeof isSpokeIdGone !== 'boolean') return isSpokeIdGone;
  const known = ours.filter((view) => view !== late?.view);
  const hidden = hiddenUsers(known, observed, facts.state);
  const all =
    hidden.length === 0
      ? observed
      : { ...observed, users: [...observed.users, ...hidden.map(([user]) => user)] };
  const differences = foreignDifferences(known, all, { isSpokeIdGone, late });
  const { drift: policy } = treatmentOf(facts);
  const shown = {
    ...withHidden(viewOf(observed, ...ours), hidden),
    ...(isSpokeIdGone ? { spokeId: null } : {}),
  };
  const isRestored = differences.some((one) => endingOf(one, facts.state, facts.settings) === 'restore');
  const flapDamping = isRestored ? contestAfter(facts, observed) : undefined;
  if (flapDamping !== undefined && 'kind' in flapDamping) return flapDamping;
  const explained = weightOf(foreignDifferences(before, all, { isSpokeIdGone })) - weightOf(differences);
  const landed = explained > 0 ? uncertain?.write : undefined;
  const absorb = (view: View): Absorb => ({
    kind: 'absorb',
    ...{ observed, view, differences, intent, landed, flapDamping },
  });
  if (policy === 'restore' || differences.length === 0) return absorb(shown);
  if (facts.wanted === undefined) return { kind: 'read', what: ['wanted'] };
  const earlier = stillWaived(facts, facts.wanted, shown);
  if (earlier !== undefined && 'kind' in earlier) return earlier;
  const seen = newnessOf(facts.state, facts.wanted).newest;
  return absorb({ ...shown, waiver: waive({ policy, seen, differences, earlier }) });
}

/** Users who were in the group after our last write, and who are missing from a read of the same version. */
function hiddenUsers(
  [first, ...others]: readonly View[],
  { version, users }: ObservedGroup,
  state: GroupState,
): readonly (readonly [PlatformUserId, boolean])[] {
  if (first === undefined || version !== state.version) return [];
  const there = new Set(users);
  const isInAll = (user: PlatformUserId) => others.every((view) => view.users.has(user));
  return [...first.users].filter(([user]) => !there.has(user) && isInAll(user));
}

const weightOf = (differences: readonly Difference[]): number =>
  differences.flatMap(({ before, after }) => [before, after].flat()).length;

/**
 * How a difference ends. A group that is only watched is never written, and whoever was added where the platform's own
 * additions may stay has been accepted: neither can be restored, whatever the drift policy says.
 */
export function endingOf(
  { kind }: Difference,
  { ref, registers }: GroupState,
  settings: ConnectionSettings,
): DriftPolicy {
  const { mode, drift } = policyFor(settings, ref.group, registers.name?.value);
  if (mode === 'report') return 'report';
  if (drift !== 'restore') return drift;
  const mayStay = mode === 'upsertOnly' || settings.membership === 'additive';
  return kind === 'members_added' && mayStay ? 'adopt' : 'restore';
}

/** What of a view's waiver the directory has not spoken against since. */
function stillWaived(
  { state, departed }: Facts,
  wanted: Wanted,
  { waiver }: Pick<View, 'waiver'>,
): ReturnType<typeof standingWaiver> | Question {
  if (waiver === undefined) return undefined;
  const group = wanted.group ?? NO_USERS;
  // Tombstones and deleted users name members; only where somebody's stay was adopted does it matter which users of the
  // platform those are.
  if (waiver.policy !== 'adopt' || waiver.present.size === 0)
    return standingWaiver(waiver, newnessOf(state, wanted), group);
  if (departed === undefined) return { kind: 'read', what: ['departed'] };
  return standingWaiver(waiver, { ...newnessOf(state, wanted), departed }, group);
}

/** The platform answers 404 for the linked group, or does not show a created group yet. */
function decideMissing(facts: Facts): Decision {
  const { state, nowMs, createSettleMs } = facts;
  const { platformId, createdAtMs = Number.NEGATIVE_INFINITY } = state;
  if (nowMs - createdAtMs < createSettleMs) return notShownYet(facts);
  if (platformId === undefined) return { kind: 'forget' };
  const absence = decideAbsence(facts, platformId);
  return absence === 'gone' ? decideUnlinking(facts, platformId) : absence;
}

/** Deleted, or deleted and made again: another group that carries our spokeId is what it became. */
function decideUnlinking(facts: Facts, id: PlatformGroupId): Decision {
  const { state, wanted, listed } = facts;
  const landed = uncertainDeletion(state);
  const ours: Decision = { kind: 'unlink', id, difference: undefined, waiver: undefined, landed };
  // If the directory has deleted the group too, or our own DELETE took effect late, no other client changed anything.
  if (hasDeparted(state.registers) || landed !== undefined) return ours;
  const [again] = carrying(listed?.groups.filter((group) => group.id !== id) ?? [], state.ref.group);
  const difference: Difference =
    again === undefined
      ? { kind: 'deleted', before: id, after: null }
      : { kind: 'recreated', before: id, after: again.id };
  const { drift: policy } = treatmentOf(facts);
  if (policy === 'restore') return { kind: 'unlink', id, difference, waiver: undefined };
  if (wanted === undefined) return { kind: 'read', what: ['wanted'] };
  return { kind: 'unlink', id, difference, waiver: { policy, seen: newnessOf(state, wanted).newest } };
}

function decideWanted(facts: Facts, treatment: GroupTreatment): Decision {
  const { state, settings, wanted, views } = facts;
  if (wanted === undefined || views === undefined) return { kind: 'read', what: ['wanted', 'views'] };
  if (wanted.state === 'unnamed' && !hasDeparted(state.registers))
    return settle('unnamed', { ending: 'open' });
  if (views.isUnreadable) return decideLook(facts) ?? clear(facts);
  if (treatment.drift !== 'restore' && isLeftDeleted(facts, wanted))
    return decideAdoption(facts, listedAgain(state)) ?? settleUnheld(facts, 'in_sync');
  const current = views.base && withUnwanted(views.base, sentAnew(facts, wanted));
  const waiver =
    treatment.drift === 'restore' || current === undefined ? undefined : stillWaived(facts, wanted, current);
  if (waiver !== undefined && 'kind' in waiver) return waiver;
  const input: Drafting = {
    wanted: wanted.group,
    current,
    membership: settings.membership,
    mode: treatment.mode,
    onGroupDeleted: settings.onGroupDeleted,
    whole: state.takeOver && facts.isNarrowed !== true,
    whyNot: wanted.whyNot,
    waiver,
    barred: facts.barred,
    fixed: leftFields(facts, wanted.group),
  };
  const known = { ...facts, wanted };
  const decision = decidePlan(input, known, treatment);
  const due = decision.kind === 'settle' && decision.failing ? dueRefused(known) : undefined;
  if (due === undefined) return decision;
  const others = new Set([...(input.fixed ?? [])].filter((field) => field !== due));
  return decidePlan({ ...input, fixed: others }, known, treatment);
}

/**
 * Wanted users who, where a read did not show them, are additions. In a search for refused users only those whom a try
 * leaves out: all others are sent with each try, because they may be in the group.
 */
const sentAnew = (
  { isNarrowed, barred = new Set() }: Facts,
  { group }: Wanted,
): WantedGroup['users'] | undefined =>
  isNarrowed && group ? new Map([...group.users].filter(([user]) => barred.has(user))) : group?.users;

/** Fields of an existing group that this attempt does not write. */
function leftFields(facts: Facts, wanted: WantedGroup | undefined): ReadonlySet<GroupField> {
  if (wanted === undefined || facts.views?.base === undefined) return new Set();
  const taken: readonly GroupField[] = isNameTaken(facts) ? ['name'] : [];
  return new Set([...taken, ...(facts.withheld ?? []), ...refusedOf(wanted, facts.state)]);
}

const dueRefused = ({ wanted, state, nowMs }: Facts): GroupField | undefined =>
  wanted?.group && dueField(refusedOf(wanted.group, state), state, nowMs);

type Drafting = Omit<DraftInput, 'held'>;
type Known = Facts & { readonly wanted: Wanted };

/** What the plan needs before it can be written: a look, the guard's leave; or else why nothing is to be written. */
function decidePlan(input: Drafting, facts: Known, treatment: GroupTreatment): Decision {
  const unguarded = draftRested({ ...input, held: new Set() }, facts.wanted);
  if (unguarded.action === 'release') return { kind: 'release', reason: 'the directory deleted this group' };
  const seen = changesGroup(unguarded) && !isCurrent(facts) ? decideLook(facts) : undefined;
  if (seen !== undefined) return seen;
  const guarded = guard(unguarded, facts);
  if ('kind' in guarded) return guarded;
  const plan = draftRested({ ...input, held: guarded.held }, facts.wanted);
  if (plan.action === 'create' && plan.after !== undefined)
    return decideNew(plan, plan.after, guarded, facts);
  const left = leftDiffering(input);
  if (plan.action !== 'none')
    return { kind: 'write', plan, known: [], ...guarded, ...(left.length > 0 && { left }) };
  const unwritten = whyUnwritten(input, left, facts, treatment);
  if (unwritten !== undefined) return unwritten;
  const as = guarded.held.size > 0 ? 'held' : SETTLED[facts.wanted.state];
  const counts = countsOf(facts.wanted, plan.after);
  // A group that is only watched has no plan, so it shows no difference.
  if (treatment.mode === 'report') return settleOnceCertain(settle(as, { counts, ending: 'report' }), facts);
  const failing = fieldFailure(left, facts.state);
  if (failing === undefined) return settleOnceCertain(settle(as, { counts }), facts);
  return settleOnceCertain({ ...settle(as, { counts, ending: 'open' }), failing }, facts);
}

/** Why a group is not done although it needs no write now. */
function whyUnwritten(
  { wanted, current }: Drafting,
  left: readonly GroupField[],
  facts: Known,
  { mode }: GroupTreatment,
): Decision | undefined {
  const mayBeLeft = mode === 'sync' && wanted === undefined && current === undefined;
  const recovered = mayBeLeft ? decideAdoption(facts, listedAgain(facts.state)) : undefined;
  if (recovered !== undefined) return recovered;
  if (isNameTaken(facts)) return NAME_IN_USE;
  const isTriedLater = left.some((field) => facts.withheld?.has(field));
  return isTriedLater || isAnybodyBarred(facts, facts.wanted) ? TRIED : undefined;
}

/** A group with uncertain writes stays scheduled until their deadline, and is then fetched once more. */
function settleOnceCertain(settled: Decision, facts: Facts): Decision {
  const { state, nowMs } = facts;
  const { uncertain, platformId } = state;
  const mayTakeEffect = uncertain?.write !== undefined || uncertainDeletion(state) !== undefined;
  if (uncertain === undefined || !mayTakeEffect) return settled;
  if (nowMs < uncertain.untilMs) return { ...settled, againAtMs: uncertain.untilMs } as Decision;
  return (platformId === undefined ? undefined : decideLook(facts)) ?? settled;
}

/** The name that was sent is refused, and another group has it: it stays as it is while the rest is written. */
const isNameTaken = ({ rejected, views }: Facts): boolean =>
  rejected?.name !== undefined && views?.base !== undefined;

/** A group that is to be made may be there already. */
function decideNew(plan: Plan, after: View, guarded: Guarded, facts: Facts): Decision {
  const { listed, settings, state } = facts;
  const { previousLink } = state;
  // A list from before our last write may lack a platform group that this directory group has released since.
  const ageMs = Math.min(LISTING_AGE_MS, Math.max(0, facts.nowMs - (state.lastWriteAtMs ?? 0)));
  if (listed === undefined || listed.ageMs > ageMs) return { kind: 'list', ageMs };
  const { candidates, known, ...odd } = alreadyThere(after, listed.groups, settings.adoptExisting);
  const late = lateCreation(facts, listed.groups);
  const found = [...previousGroup(state), ...(late === undefined ? candidates : [late])];
  const adopted = decideAdoption(facts, found);
  if (adopted !== undefined) return adopted;
  // A candidate answered 404 before and is not listed now. A wrong route would look the same.
  const isUnproven = state.missedAtMs !== undefined && found.length === 0;
  const absence = isUnproven ? decideAbsence(facts, undefined) : 'gone';
  if (absence !== 'gone') return absence;
  // A wrong route lists no group: what this one had before is there all the same, and not what is made now.
  return {
    kind: 'write',
    plan,
    known: previousLink ? [...known, previousLink.platformId] : known,
    ...odd,
    ...guarded,
  };
}

/** What an earlier creation of ours made after all, though it was looked for in vain. */
function lateCreation({ state: { uncertain }, nowMs, views }: Facts, listed: readonly ListedGroup[]) {
  const { write, untilMs = 0 } = uncertain ?? {};
  if (write?.action !== 'create' || nowMs >= untilMs) return undefined;
  const made = listed.filter((group) => isWhole(group) && isOurCreation(group, write, views?.created));
  return made.find(({ spokeId }) => spokeId === write.spokeId) ?? made[0];
}

const changesGroup = ({ action }: Plan): boolean =>
  action === 'patch' || action === 'put' || action === 'delete';

/** An earlier round of this attempt fetched the group, or wrote it, in the stored version: the stored view is current. */
const isCurrent = ({ state, look, shown }: Facts): boolean =>
  look === undefined && shown?.id === state.platformId && shown?.version === state.version;

/** Somebody is still to be tried: the group is not what is wanted. */
const isAnybodyBarred = ({ barred = new Set(), views }: Facts, { group }: Wanted): boolean =>
  [...barred].some((user) => group?.users.has(user) && !views?.base?.users.has(user));

/** Somebody deleted the platform's group, the policy let that stand, and the directory has not spoken since. */
function isLeftDeleted({ state }: Facts, wanted: Wanted): boolean {
  const { acceptedDeletion, registers } = state;
  if (acceptedDeletion === undefined || wanted.state !== 'present') return false;
  if (state.platformId !== undefined) return false;
  const word = acceptedDeletion.policy === 'adopt' ? registers.upserted : newnessOf(state, wanted).newest;
  return word <= acceptedDeletion.seen;
}

/** Of a platform group that is let go of nothing is held any more. */
const settleUnheld = (facts: Facts, as: SettledState): Decision =>
  isHoldOver(facts) ? dropHold('hold', 'approval') : settle(as);

const dropHold = (...drops: readonly ('hold' | 'approval')[]): Decision => ({ kind: 'drop_hold', drops });

/** What a group shows once its plan is carried out, be that by a write or because there was nothing to write. */
export const SETTLED: Readonly<Record<Wanted['state'], SettledState>> = {
  present: 'in_sync',
  absent: 'deleted',
  unnamed: 'unnamed',
};

/** How differences that were to be put right end with the group: a hold only delays that. */
const ENDING: Readonly<Record<SettledState, DriftEnding>> = {
  in_sync: 'restore',
  deleted: 'restore',
  excluded: 'report',
  held: 'open',
  unnamed: 'restore',
};

const settle = (
  as: SettledState,
  {
    counts = NOBODY,
    ending = ENDING[as],
  }: { readonly counts?: MemberCounts; readonly ending?: DriftEnding } = {},
): Extract<Decision, { kind: 'settle' }> => ({ kind: 'settle', as, counts, ending });

type Guarded = Pick<Write, 'held' | 'consumes' | 'isReserved'>;

/** Asks for every removal of a plan, whatever caused it (invariant 5). */
function guard(plan: Plan, facts: Facts): Guarded | Decision {
  const { state, held: read, nowMs } = facts;
  const none: Guarded = { held: new Set(), consumes: undefined, isReserved: false };
  if (plan.removals.length === 0) return isHoldOver(facts) ? dropHold('hold', 'approval') : none;
  if ((state.hold ?? state.approval) !== undefined && read === undefined)
    return { kind: 'read', what: ['held'] };
  const permitted = approvedBeside(state.approval, read?.approved, { plan, nowMs });
  if (state.approval !== undefined && permitted.length === 0) return dropHold('approval');
  return guardOthers({ plan, facts, permitted });
}

interface GuardContext {
  readonly plan: Plan;
  readonly facts: Facts;
  /** Approved next to the hold: the guard does not judge them. */
  readonly permitted: readonly PlatformUserId[];
}

/** Judges the removals that no approval next to the hold permits. */
function guardOthers({ plan, facts, permitted }: GuardContext): Guarded | Decision {
  const { state, settings, held: read, views, wanted, nowMs, reservation } = facts;
  const limits = settings.guard;
  const others = plan.removals.filter((user) => !permitted.includes(user));
  const current =
    state.hold &&
    read &&
    holdWithSay(state.hold, read, { plan: { ...plan, removals: others }, limits, nowMs });
  if (state.hold !== undefined && current === undefined) return dropHold('hold');
  const verdict = judgeByHold(others, current, nowMs);
  const size = views?.base === undefined ? 0 : withUnwanted(views.base, wanted?.group?.users).users.size;
  const holdAll = (users: readonly PlatformUserId[], rule: Hold['rule'], share?: number): Decision => ({
    kind: 'hold',
    users,
    approved: [...permitted, ...verdict.approved],
    size,
    rule,
    share,
    deletes: plan.departs,
  });
  if (verdict.superseded) return holdAll(others, current?.hold.rule ?? 'count');
  // A write that an approved hold permits also removes the users that were approved next to it, and uses up both approvals.
  const used = verdict.approved.length > 0 ? state.hold : state.approval;
  const consumes = used?.digest;
  const held = new Set(verdict.held);
  if (verdict.unjudged.length === 0 || limits === null) return { held, consumes, isReserved: false };
  // Either the earlier write happens yet or this one does, so the larger of the two is what is at stake.
  const replaces = state.uncertain?.removals;
  const atStake = Math.max(verdict.unjudged.length, replaces?.removals ?? 0);
  if (reservation?.removals !== atStake) return { kind: 'reserve', removals: atStake, size, replaces };
  const { recent } = reservation;
  const asked = { limits, size, removals: atStake, deletesGroup: plan.departs, recent };
  const judgement = judgeRemovals(asked);
  if (judgement.allowed) return { held, consumes, isReserved: true };
  if (isOnlyTwo(asked)) return yielding(reservation.intent);
  return holdAll([...verdict.held, ...verdict.unjudged], judgement.rule, judgement.share);
}

/** Nobody is to go. A platform group that answers 404 may be there again, and with it whoever was held in it. */
function isHoldOver({ state: { hold, approval, platformId, previousLink }, nowMs }: Facts): boolean {
  const held = hold ?? approval;
  return (
    held !== undefined && (platformId !== undefined || previousLink?.isGone !== true || isOver(held, nowMs))
  );
}

/**
 * Two messages may wake two workers with one group, and both put the same removals into the book. Nobody is asked about
 * what only both together are too many of: they come back one after the other.
 */
function isOnlyTwo({ recent, ...input }: GuardInput & Pick<Reservation, 'recent'>): boolean {
  const { group, connection, underWay } = recent;
  const alone = { ...recent, group: group - underWay, connection: connection - underWay };
  return judgeRemovals({ ...input, recent: alone }).allowed;
}

const yielding = (own: IntentId): Wait => ({
  kind: 'wait',
  yields: true,
  waitMs: 1_000 * (1 + (own.charCodeAt(own.length - 1) % 8)),
  why: { code: 'waiting', message: 'another look at the group is under way' },
});
