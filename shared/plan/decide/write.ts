import type { GroupTreatment } from '../../contract/group-policy.ts';
import { hasDeparted } from '../../domain/group.ts';
import type { GroupField } from '../../domain/group-fields.ts';
import type { StoredMember } from '../../domain/group-state.ts';
import type { PlatformGroupId, PlatformUserId } from '../../domain/ids.ts';
import { sourceOf } from '../../domain/source.ts';
import { stampAt } from '../../domain/stamp.ts';
import { isWhole, type ListedGroup, type View, withUnwanted } from '../../domain/view.ts';
import { countsOf } from '../counts.ts';
import { type Decision, type Read, readList, type Wait } from '../decision.ts';
import { type DraftInput, releasesDeleted, type WantedGroup } from '../draft.ts';
import { isOurCreation } from '../external-change.ts';
import type { Facts, Wanted } from '../facts.ts';
import { decideAdoption, decideGone, LISTING_AGE_MS, listedAgain, previousGroup } from '../gone.ts';
import { draftWithHidden } from '../hidden.ts';
import { decideListedWhole } from '../incomplete-list.ts';
import { modeOf, permitsMore, withMode, withWanted } from '../marks.ts';
import { clashFinder, fieldMatches, findExisting } from '../names.ts';
import type { Plan } from '../plan.ts';
import { differingWithheld, dueField, fieldFailure, refusedOf } from '../refused-fields.ts';
import { endedMembers, removalText, wantedLastIn } from '../removal-cause.ts';
import { isRestated } from '../restore.ts';
import { uncertainDeletion } from '../uncertain.ts';
import { clear, decideFetched } from './drift.ts';
import { causesIn, type Guarded, guard, settleUnheld, UNGUARDED } from './holds.ts';
import { NAME_IN_USE, ofOtherSource, TRIED } from './refusal.ts';
import { SETTLED, settle } from './settle.ts';

/**
 * Compares the desired state with the stored view. The first matching line counts:
 *
 *     the group                                          | decision
 *     ---------------------------------------------------|------------------------------------------------
 *     has no name and was never deleted                  | settle unnamed; see `decideUnnamed`
 *     has a view that cannot be read                     | read the group; see `decideFetched`
 *     has marks of another mode                          | read the group, then mark; see `withMode`
 *     was deleted in the directory; policy releases      | remove its members, then release
 *     needs a change or deletion, and was not read yet   | read the group, once in an attempt
 *     would lose more users than the guard allows        | hold; then write the other changes; see `guard`
 *     must be created, but exists already                | adopt; see `decideNew`
 *     must be created, but the platform has the name     | wait, or settle as name_clash; see `decideNamesakes`
 *     must be changed, created or deleted                | write
 *     equals the desired state                           | settle
 */
export function decideWanted(facts: Facts, treatment: GroupTreatment): Decision {
  const { state, wanted, views } = facts;
  if (wanted === undefined || views === undefined) return { kind: 'read', what: ['wanted', 'views'] };
  if (wanted.state === 'unnamed' && !hasDeparted(state.registers))
    return decideUnnamed({ ...facts, wanted }, views.base);
  if (views.isUnreadable) return decideFetched(facts) ?? clear(facts);
  return decideDifference({ ...facts, wanted }, views.base, treatment);
}

/** Until the new source of a moved group names it, only people who ended or are blocked leave the platform group. */
function decideUnnamed(facts: Known, current: View | undefined): Decision {
  const { departed, blocked } = facts;
  if (current === undefined || modeOf(current) === 'report')
    return settleUnheld(facts, settle('unnamed', { driftOutcome: 'open' }));
  if (departed === undefined) return { kind: 'read', what: ['departed'] };
  const leavers = { whyNot: departed, blocked, isDeletionHeld: true };
  const policy = { mode: 'authoritative', onGroupDeleted: 'delete', whole: false } as const;
  const decision = decideProven({ ...policy, ...leavers, wanted: undefined, current }, facts);
  return decision.kind === 'settle' ? { ...decision, driftOutcome: 'open' } : decision;
}

function decideDifference(facts: Known, base: View | undefined, { mode }: GroupTreatment): Decision {
  const { state, settings, wanted } = facts;
  if (base !== undefined && modeOf(base) !== mode) return decideMarks(base, mode, facts);
  const input = { mode, onGroupDeleted: settings.onGroupDeleted };
  const current = base && withDeparted(withUnwanted(base, sentAgain(facts, wanted)), input, facts);
  if (current !== undefined && 'kind' in current) return current;
  const naming = readNewName(facts, current);
  if (naming !== undefined) return naming;
  const decision = decideDraft(
    {
      ...input,
      wanted: wanted.group,
      current,
      whole: state.link?.takeOver === true && facts.isNarrowed !== true,
      whyNot: causesIn(facts),
      blocked: facts.blocked,
      isolated: facts.isolated,
      withheld: withheldFields(facts, wanted.group),
      isUnrestated: !isRestated(state, facts.restoredAtMs),
    },
    facts,
  );
  const marked = base && decision.kind === 'settle' ? withWanted(base, wanted.group?.users) : undefined;
  return marked === undefined ? decision : { kind: 'mark', view: marked };
}

/** Marks a group whose mode has changed. It is read first, because users that other clients have just added wait, too. */
function decideMarks(base: View, mode: DraftInput['mode'], facts: Known): Decision {
  const seen = permitsMore(base, mode) && !isCurrent(facts) ? decideFetched(facts) : undefined;
  if (seen !== undefined) return seen;
  return { kind: 'mark', view: withMode(base, mode, facts.wanted.group?.users) };
}

/**
 * Returns the view in which each user that left the directory group is marked as wanted since the link, although apply
 * never read the group while the directory wanted the user. Only users without a mark that may stay need this read. A
 * membership that ended before a takeover does not count, because its source did not own the group.
 */
function withDeparted(
  current: View,
  input: Pick<DraftInput, 'mode' | 'onGroupDeleted'>,
  { wanted, departed, state }: Known,
): View | Read {
  const mayStay = input.mode === 'additive' || (wanted.group === undefined && releasesDeleted(input));
  const isUnmarked = ([user, isMarked]: readonly [PlatformUserId, boolean]) =>
    !isMarked && wanted.group?.users.has(user) !== true;
  if (input.mode === 'report' || !mayStay || ![...current.users].some(isUnmarked)) return current;
  if (departed === undefined) return { kind: 'read', what: ['departed'] };
  const { movedAt } = state;
  const wantedLast = wantedLastIn(state);
  const isFormer = (one: StoredMember) => movedAt !== undefined && wantedLast(one) < stampAt(movedAt);
  const former = new Set<unknown>(wanted.registers.filter(isFormer).map(({ member }) => member));
  const hasWanted = (user: PlatformUserId) =>
    (departed.has(user) && !former.has(departed.get(user)?.member)) || wanted.whyNot.has(user);
  const users = [...current.users].map(([user, isMarked]) => [user, isMarked || hasWanted(user)] as const);
  return { ...current, users: new Map(users) };
}

/** Plans the write. If only refused fields differ, the write contains the refused field that is due, if any. */
function decideDraft(input: Drafting, known: Known): Decision {
  const decision = decidePlan(input, known);
  const due = decision.kind === 'settle' && decision.failing ? dueRefused(known) : undefined;
  if (due === undefined) return decision;
  const others = new Set([...(input.withheld ?? [])].filter((field) => field !== due));
  return decidePlan({ ...input, withheld: others }, known);
}

/**
 * Returns the wanted users that the plan adds again if they are hidden. During the search for refused users, these are
 * only the users that the attempt isolates. All other hidden users count as present, so every attempt sends them.
 */
const sentAgain = ({ isNarrowed, isolated = new Set() }: Facts, { group }: Wanted) =>
  isNarrowed && group ? new Map([...group.users].filter(([user]) => isolated.has(user))) : group?.users;

/** Returns the read that shows whether a group of another source owns the new name of an existing group. */
function readNewName(facts: Known, current: View | undefined): Read | undefined {
  const { wanted, listed, state } = facts;
  const { group } = wanted;
  const isNew = current && group && !fieldMatches(current, 'name', group.name);
  if (!isNew || isNameTaken(facts)) return undefined;
  if (listed === undefined || listed.ageMs > LISTING_AGE_MS) return readList(LISTING_AGE_MS);
  const found = clashFinder(listed.groups)({ ...group, spokeId: null });
  const ids = found.map(({ id }) => id as PlatformGroupId).filter((id) => id !== state.link?.id);
  return ids.length === 0 || listed.namesakes ? undefined : { kind: 'read', what: ['namesakes'], ids };
}

function withheldFields(facts: Facts, wanted: WantedGroup | undefined): ReadonlySet<GroupField> {
  if (wanted === undefined || facts.views?.base === undefined) return new Set();
  const taken: readonly GroupField[] = isNameTaken(facts) || waitForOwner(facts) ? ['name'] : [];
  return new Set([...taken, ...(facts.withheld ?? []), ...refusedOf(wanted, facts.state)]);
}

const dueRefused = ({ wanted, state, nowMs }: Facts): GroupField | undefined =>
  wanted?.group && dueField(refusedOf(wanted.group, state), state, nowMs);

type Drafting = Omit<DraftInput, 'held'>;

type Known = Facts & { readonly wanted: Wanted };

/** Returns the write, or a decision that must come first. Returns a settlement or a wait if no write is needed. */
function decidePlan(input: Drafting, facts: Known): Decision {
  if (input.isUnrestated !== true) return decideProven(input, facts);
  const whole = draftWithHidden({ ...input, isUnrestated: false, held: new Set() }, facts.wanted);
  if (lacksCause(whole, input, facts)) return { kind: 'read', what: ['ended'] };
  const proven = decideProven(input, facts);
  if (proven.kind === 'write') return { ...proven, isUnrestated: true };
  const isWhole = proven.kind !== 'settle' || proven.as !== 'in_sync' || whole.action === 'none';
  return isWhole ? proven : { ...proven, as: 'unrestated', driftOutcome: 'open' };
}

function decideProven(input: Drafting, facts: Known): Decision {
  const unguarded = draftWithHidden({ ...input, held: new Set() }, facts.wanted);
  if (input.mode === 'report') return decideReported(unguarded, input, facts);
  if (unguarded.action === 'release') return { kind: 'release', reason: removalText('group_deleted') };
  const seen = changesGroup(unguarded) && !isCurrent(facts) ? decideFetched(facts) : undefined;
  if (seen !== undefined) return seen;
  const guarded = guard(unguarded, facts);
  if ('kind' in guarded) return guarded;
  // While its deletion is held, the group goes on, and only people who left are removed.
  if (guarded.isDeletionHeld) return decideProven({ ...input, isDeletionHeld: true }, facts);
  const { held } = guarded;
  const plan = draftWithHidden({ ...input, held }, facts.wanted);
  const first = decideFirst(plan, input, guarded, facts);
  if (first !== undefined) return first;
  const withheld = differingWithheld(input);
  if (plan.action !== 'none')
    return { kind: 'write', plan, known: [], ...guarded, ...(withheld.length > 0 && { withheld }) };
  const unwritten = whyUnwritten(input, withheld, facts);
  if (unwritten !== undefined) return unwritten;
  return settleOnceCertain(withFailure(settleGuarded(plan, input, guarded, facts), withheld, facts), facts);
}

function settleGuarded(plan: Plan, { isDeletionHeld }: Drafting, guarded: Guarded, { wanted, state }: Known) {
  const isHeld = (isDeletionHeld === true && hasDeparted(state.registers)) || guarded.held.size > 0;
  return settle(isHeld || guarded.isWaiting ? 'held' : SETTLED[wanted.state], {
    counts: countsOf(wanted, plan.after),
    driftOutcome: isHeld ? 'open' : 'restore',
  });
}

/**
 * Decides about a group in the mode `report`. An existing platform group is linked, because its members can then be
 * compared. All changes are only shown.
 */
function decideReported(plan: Plan, input: Drafting, facts: Known): Decision {
  const first = decideFirst(plan, input, UNGUARDED, facts);
  if (first?.kind === 'read' || first?.kind === 'adopt') return first;
  const counts = countsOf(facts.wanted, facts.views?.base);
  const settled = settle(SETTLED[facts.wanted.state], { counts, driftOutcome: 'report' });
  const unheld = settleUnheld(facts, settled);
  if (unheld !== settled) return unheld;
  return settleOnceCertain(plan.changes.length === 0 ? settled : { ...settled, reported: plan }, facts);
}

/** Returns the decision that must come before the write of the plan: a read of causes, or a check for a creation. */
function decideFirst(plan: Plan, input: Drafting, guarded: Guarded, facts: Known): Decision | undefined {
  if (lacksCause(plan, input, facts)) return { kind: 'read', what: ['ended'] };
  if (plan.action !== 'create' || plan.after === undefined) return undefined;
  return decideNew(plan, plan.after, guarded, facts);
}

/** Whether the plan removes a user without a known cause, and members that left the group may explain the removal. */
function lacksCause({ departs, removals }: Plan, { whyNot }: Drafting, facts: Known): boolean {
  const { state, wanted, ended = facts.departed } = facts;
  if (departs || ended !== undefined || removals.every((user) => whyNot.has(user))) return false;
  return endedMembers(state.registers, wanted.registers, wanted.userFloors).length > 0;
}

function withFailure(settled: ReturnType<typeof settle>, withheld: readonly GroupField[], { state }: Facts) {
  const failing = fieldFailure(withheld, state);
  return failing === undefined ? settled : { ...settled, driftOutcome: 'open' as const, failing };
}

/** Returns the decision for a group that needs no write now but is not done; undefined if the group is done. */
function whyUnwritten({ wanted, current }: Drafting, withheld: readonly GroupField[], facts: Known) {
  const needsNoGroup = wanted === undefined && current === undefined;
  const recovered = needsNoGroup ? decideAdoption(facts, listedAgain(facts.state)) : undefined;
  if (recovered !== undefined) return recovered;
  if (withheld.includes('name') && waitForOwner(facts)) return waitForOwner(facts);
  if (isNameTaken(facts)) return NAME_IN_USE;
  const isTriedLater = withheld.some((field) => facts.withheld?.has(field));
  return isTriedLater || hasIsolatedMember(facts, facts.wanted) ? TRIED : undefined;
}

/**
 * Settles a group. While an uncertain write may still take effect, a wake-up stays scheduled. At the wake-up, apply
 * fetches the group once more.
 */
function settleOnceCertain(settled: Decision, facts: Facts): Decision {
  const { state, nowMs } = facts;
  const { uncertain, link } = state;
  const mayTakeEffect = uncertain?.write !== undefined || uncertainDeletion(state) !== undefined;
  if (uncertain === undefined || !mayTakeEffect) return settled;
  if (nowMs < uncertain.untilMs) return { ...settled, againAtMs: uncertain.untilMs } as Decision;
  return (link === undefined ? undefined : decideFetched(facts)) ?? settled;
}

/**
 * Whether the platform refused the sent name because another group has the name. The group then keeps its old name, and
 * the other changes are written.
 */
const isNameTaken = ({ rejected, views }: Facts): boolean =>
  rejected?.name !== undefined && views?.base !== undefined;

function decideNew(plan: Plan, after: View, guarded: Guarded, facts: Facts): Decision {
  const { listed, state } = facts;
  const { previousLink } = state;
  // The list must be newer than the last write of this group, because an older list may lack a platform group that this
  // group created and released.
  const ageMs = Math.min(LISTING_AGE_MS, Math.max(0, facts.nowMs - (state.lastWriteAtMs ?? 0)));
  if (listed === undefined || listed.ageMs > ageMs) return readList(ageMs);
  const { candidates, known, namesakes, ...malformed } = findExisting(after, listed.groups);
  const late = lateCreation(facts, listed.groups);
  const found = [...previousGroup(state), ...(late === undefined ? candidates : [late])];
  const adopted = decideAdoption(facts, found);
  if (adopted !== undefined) return adopted;
  const namesake = decideNamesakes(facts, namesakes);
  if (namesake !== undefined) return namesake;
  // The platform earlier answered 404 for a candidate, and the list does not show the candidate. A wrong base URL would
  // have the same result.
  const isUnproven = state.missingSinceMs !== undefined && found.length === 0;
  const proof = isUnproven ? decideGone(facts, undefined) : 'gone';
  if (proof !== 'gone') return proof;
  const incomplete = decideListedWhole(facts);
  if (incomplete !== undefined) return incomplete;
  // The previously linked group must not count as the created group. A list from a wrong base URL does not show that
  // group, so the intent names it in addition.
  return {
    kind: 'write',
    plan,
    known: previousLink ? [...known, previousLink.platformId] : known,
    ...malformed,
    ...guarded,
  };
}

/**
 * Decides about a creation if platform groups with the name or the external id exist. The first matching line counts:
 *
 *     one of these platform groups                           | decision
 *     -------------------------------------------------------|------------------------------------------
 *     belongs to a group of another source of the connection | wait, because a new group would be a duplicate
 *     has no owner, and no operator asked for a new group    | settle as `name_clash`, until an operator decides
 *     otherwise                                              | undefined: the group may be created
 */
function decideNamesakes(facts: Facts, ids: readonly PlatformGroupId[]): Decision | undefined {
  const { state, listed, wanted } = facts;
  if (ids.length === 0) return undefined;
  if (listed?.namesakes === undefined) return { kind: 'read', what: ['namesakes'], ids };
  const isClash = listed.namesakes.areUnmanaged && state.createsBeside !== wanted?.group?.name;
  return waitForOwner(facts) ?? (isClash ? settleUnheld(facts, settle('name_clash')) : undefined);
}

/** Returns the wait for the group of another source that owns a platform group with the wanted name, if any. */
function waitForOwner({ state, listed }: Facts): Wait | undefined {
  const source = sourceOf(state.registers.upserted);
  const other = listed?.namesakes?.owners.find(({ registers }) => sourceOf(registers.upserted) !== source);
  return other && ofOtherSource(other.ref.group, source);
}

function lateCreation({ state: { uncertain }, nowMs, views }: Facts, listed: readonly ListedGroup[]) {
  const { write, untilMs = 0 } = uncertain ?? {};
  if (write?.action !== 'create' || nowMs >= untilMs) return undefined;
  const made = listed.filter((group) => isWhole(group) && isOurCreation(group, write, views?.created));
  return made.find(({ spokeId }) => spokeId === write.spokeId) ?? made[0];
}

const changesGroup = ({ action }: Plan): boolean =>
  action === 'patch' || action === 'put' || action === 'delete';

/** The maximum age of the fetch or answer from which a change is planned, measured at the beginning of a pass. */
const CURRENT_MS = 5_000;

/** Whether the platform showed the stored version recently, in a fetch or answer of this attempt. */
function isCurrent({ state, fetched, shown, nowMs }: Facts): boolean {
  if (fetched !== undefined || shown === undefined || nowMs - shown.atMs > CURRENT_MS) return false;
  return shown.id === state.link?.id && shown.version === state.link.version;
}

/** Whether the writes still isolate a wanted user. The group then does not match the desired state. */
const hasIsolatedMember = ({ isolated = new Set(), views }: Facts, { group }: Wanted): boolean =>
  [...isolated].some((user) => group?.users.has(user) && !views?.base?.users.has(user));
