import type { GroupTreatment } from '../../contract/group-policy.ts';
import { hasDeparted } from '../../domain/group.ts';
import type { GroupField } from '../../domain/group-fields.ts';
import type { MemberCounts, SettledState } from '../../domain/group-state.ts';
import type { PlatformGroupId } from '../../domain/ids.ts';
import { sourceOf } from '../../domain/source.ts';
import { isWhole, type ListedGroup, type View, withUnwanted } from '../../domain/view.ts';
import { decideAbsence, decideAdoption, LISTING_AGE_MS, listedAgain, previousGroup } from '../absence.ts';
import { latestStampsOf } from '../accepted-drift.ts';
import { countsOf } from '../counts.ts';
import { type Decision, readList } from '../decision.ts';
import type { DraftInput, WantedGroup } from '../draft.ts';
import { isOurCreation } from '../external-change.ts';
import type { Facts, Wanted } from '../facts.ts';
import { alreadyThere } from '../names.ts';
import type { Plan } from '../plan.ts';
import { dueField, fieldFailure, leftDiffering, refusedOf } from '../refused-fields.ts';
import { uncertainDeletion } from '../uncertain.ts';
import { decideListedWhole } from '../unlisted.ts';
import { draftRested } from '../unshown.ts';
import { clear, decideFetched, LIST_AGES_MS, stillAccepted } from './drift.ts';
import { type Guarded, guard, settleUnheld } from './holds.ts';
import { NAME_IN_USE, ofOtherSource, TRIED } from './refusal.ts';
import { SETTLED, settle } from './settle.ts';

/**
 * Compares the desired state with the stored view. The first matching line counts:
 *
 *     the group                                          | decision
 *     ---------------------------------------------------|------------------------------------------------
 *     has no name and was never deleted                  | settle unnamed
 *     has a view that cannot be read                     | read the group; see `decideFetched`
 *     was deleted externally, and the policy accepts it  | settle in_sync
 *     was deleted by the directory; the policy releases  | release
 *     would be changed or deleted                        | read the group first, once in an attempt
 *     would lose more than the guard allows              | hold, then the other changes; see `guard`
 *     would be created, and exists already               | adopt; see `decideNew`
 *     would be created, and another source has it        | wait; see `decideDuplicate`
 *     would be changed, created or deleted               | write
 *     equals the desired state                           | settle
 */
export function decideWanted(facts: Facts, treatment: GroupTreatment): Decision {
  const { state, wanted, views } = facts;
  if (wanted === undefined || views === undefined) return { kind: 'read', what: ['wanted', 'views'] };
  if (wanted.state === 'unnamed' && !hasDeparted(state.registers))
    return settle('unnamed', { driftOutcome: 'open' });
  if (views.isUnreadable) return decideFetched(facts) ?? clear(facts);
  if (treatment.drift !== 'restore' && isLeftDeleted(facts, wanted))
    return decideAdoption(facts, listedAgain(state)) ?? settleUnheld(facts, 'in_sync');
  return decideDifference({ ...facts, wanted }, views.base, treatment);
}

/** Compares the wanted group with the stored view, without the differences that the drift policy accepts. */
function decideDifference(facts: Known, base: View | undefined, treatment: GroupTreatment): Decision {
  const { state, settings, wanted } = facts;
  const current = base && withUnwanted(base, sentAgain(facts, wanted));
  const acceptedDrift =
    treatment.drift !== 'restore' && current ? stillAccepted(facts, wanted, current) : undefined;
  if (acceptedDrift !== undefined && 'kind' in acceptedDrift) return acceptedDrift;
  return decideDraft(
    {
      wanted: wanted.group,
      current,
      membership: settings.membership,
      mode: treatment.mode,
      onGroupDeleted: settings.onGroupDeleted,
      whole: state.link?.takeOver === true && facts.isNarrowed !== true,
      whyNot: wanted.whyNot,
      acceptedDrift,
      excluded: facts.excluded,
      fixed: leftFields(facts, wanted.group),
    },
    facts,
    treatment,
  );
}

/** Plans the write. If only refused fields differ, a refused field that is due is tried again. */
function decideDraft(input: Drafting, known: Known, treatment: GroupTreatment): Decision {
  const decision = decidePlan(input, known, treatment);
  const due = decision.kind === 'settle' && decision.failing ? dueRefused(known) : undefined;
  if (due === undefined) return decision;
  const others = new Set([...(input.fixed ?? [])].filter((field) => field !== due));
  return decidePlan({ ...input, fixed: others }, known, treatment);
}

/**
 * Returns the hidden wanted users that the plan treats as additions. During the search for refused users, these are
 * only the users that the current attempt excludes. All other hidden users may be in the group, so every attempt sends
 * them.
 */
const sentAgain = (
  { isNarrowed, excluded = new Set() }: Facts,
  { group }: Wanted,
): WantedGroup['users'] | undefined =>
  isNarrowed && group ? new Map([...group.users].filter(([user]) => excluded.has(user))) : group?.users;

/** Returns the fields of an existing group that this attempt does not write. */
function leftFields(facts: Facts, wanted: WantedGroup | undefined): ReadonlySet<GroupField> {
  if (wanted === undefined || facts.views?.base === undefined) return new Set();
  const taken: readonly GroupField[] = isNameTaken(facts) ? ['name'] : [];
  return new Set([...taken, ...(facts.withheld ?? []), ...refusedOf(wanted, facts.state)]);
}

const dueRefused = ({ wanted, state, nowMs }: Facts): GroupField | undefined =>
  wanted?.group && dueField(refusedOf(wanted.group, state), state, nowMs);

type Drafting = Omit<DraftInput, 'held' | 'isDeletionHeld'>;

type Known = Facts & { readonly wanted: Wanted };

/**
 * Returns the write, a decision that must come before the write, or the decision that applies if no write is needed.
 */
function decidePlan(input: Drafting, facts: Known, treatment: GroupTreatment): Decision {
  const unguarded = draftRested({ ...input, held: new Set() }, facts.wanted);
  if (unguarded.action === 'release') return { kind: 'release', reason: 'the directory deleted this group' };
  const seen = changesGroup(unguarded) && !isCurrent(facts) ? decideFetched(facts) : undefined;
  if (seen !== undefined) return seen;
  const guarded = guard(unguarded, facts);
  if ('kind' in guarded) return guarded;
  const { held, isDeletionHeld } = guarded;
  const plan = draftRested({ ...input, held, isDeletionHeld }, facts.wanted);
  if (plan.action === 'create' && plan.after !== undefined)
    return decideNew(plan, plan.after, guarded, facts);
  const left = leftDiffering(input);
  if (plan.action !== 'none')
    return { kind: 'write', plan, known: [], ...guarded, ...(left.length > 0 && { left }) };
  const unwritten = whyUnwritten(input, left, facts, treatment);
  if (unwritten !== undefined) return unwritten;
  const as = isDeletionHeld || held.size > 0 ? 'held' : SETTLED[facts.wanted.state];
  const settled = settleAs(as, countsOf(facts.wanted, plan.after), { left, facts, treatment });
  return settleOnceCertain(settled, facts);
}

function settleAs(
  as: SettledState,
  counts: MemberCounts,
  { left, facts, treatment }: Settling,
): Extract<Decision, { kind: 'settle' }> {
  // A group that is only observed has no plan, so there is no difference to compare.
  if (treatment.mode === 'report') return settle(as, { counts, driftOutcome: 'report' });
  const failing = fieldFailure(left, facts.state);
  return failing === undefined
    ? settle(as, { counts })
    : { ...settle(as, { counts, driftOutcome: 'open' }), failing };
}

interface Settling {
  readonly left: readonly GroupField[];
  readonly facts: Facts;
  readonly treatment: GroupTreatment;
}

/** Returns the reason why a group is not done although it needs no write now. */
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
  return isTriedLater || hasExcludedMember(facts, facts.wanted) ? TRIED : undefined;
}

/**
 * Settles a group. While an uncertain write may still take effect, the group stays scheduled. After that time, apply
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
 * Whether the sent name was refused because another group has it. The name then stays as it is, and the other changes
 * are written.
 */
const isNameTaken = ({ rejected, views }: Facts): boolean =>
  rejected?.name !== undefined && views?.base !== undefined;

/** Decides about a creation. The group may exist already. */
function decideNew(plan: Plan, after: View, guarded: Guarded, facts: Facts): Decision {
  const { listed, settings, state } = facts;
  const { previousLink } = state;
  // A list from before the last write may lack a platform group that this directory group has released since then. If
  // adoption by name is allowed, the platform group may also have been released by another directory group.
  const mostMs = settings.adoptExisting === 'byName' ? LIST_AGES_MS[0] : LISTING_AGE_MS;
  const ageMs = Math.min(mostMs, Math.max(0, facts.nowMs - (state.lastWriteAtMs ?? 0)));
  if (listed === undefined || listed.ageMs > ageMs) return readList(ageMs);
  const { candidates, known, namesakes, ...odd } = alreadyThere(after, listed.groups, settings.adoptExisting);
  const late = lateCreation(facts, listed.groups);
  const found = [...previousGroup(state), ...(late === undefined ? candidates : [late])];
  const adopted = decideAdoption(facts, found);
  if (adopted !== undefined) return adopted;
  const duplicate = decideDuplicate(facts, namesakes);
  if (duplicate !== undefined) return duplicate;
  // Earlier the platform answered 404 for a candidate, and the list does not show it now. A wrong base URL would give
  // the same result.
  const isUnproven = state.missedAtMs !== undefined && found.length === 0;
  const absence = isUnproven ? decideAbsence(facts, undefined) : 'gone';
  if (absence !== 'gone') return absence;
  const incomplete = decideListedWhole(facts);
  if (incomplete !== undefined) return incomplete;
  // The previously linked group must not count as the created group. With a wrong base URL the list does not show it,
  // so the intent names it too.
  return {
    kind: 'write',
    plan,
    known: previousLink ? [...known, previousLink.platformId] : known,
    ...odd,
    ...guarded,
  };
}

/**
 * Decides about a creation if platform groups with the name or the external id exist. A group of another source of this
 * connection may own one of them. A second platform group would then be a duplicate.
 */
function decideDuplicate({ state, listed }: Facts, ids: readonly PlatformGroupId[]): Decision | undefined {
  if (ids.length === 0) return undefined;
  if (listed?.namesakes === undefined) return { kind: 'read', what: ['namesakes'], ids };
  const source = sourceOf(state.registers.upserted);
  const other = listed.namesakes.find(({ registers }) => sourceOf(registers.upserted) !== source);
  return other && ofOtherSource(other.ref.group, source);
}

/** Returns a listed group that an earlier uncertain creation made. */
function lateCreation({ state: { uncertain }, nowMs, views }: Facts, listed: readonly ListedGroup[]) {
  const { write, untilMs = 0 } = uncertain ?? {};
  if (write?.action !== 'create' || nowMs >= untilMs) return undefined;
  const made = listed.filter((group) => isWhole(group) && isOurCreation(group, write, views?.created));
  return made.find(({ spokeId }) => spokeId === write.spokeId) ?? made[0];
}

const changesGroup = ({ action }: Plan): boolean =>
  action === 'patch' || action === 'put' || action === 'delete';

/** The maximum age, at the beginning of a pass, of a fetch or an answer from which a change is planned. */
const CURRENT_MS = 5_000;

/**
 * Whether the stored view is current: a recent pass of this attempt fetched or wrote the group, and the platform showed
 * the stored version.
 */
function isCurrent({ state, fetched, shown, nowMs }: Facts): boolean {
  if (fetched !== undefined || shown === undefined || nowMs - shown.atMs > CURRENT_MS) return false;
  return shown.id === state.link?.id && shown.version === state.link.version;
}

/** Whether a wanted user is still excluded from the writes. The group then does not match the desired state. */
const hasExcludedMember = ({ excluded = new Set(), views }: Facts, { group }: Wanted): boolean =>
  [...excluded].some((user) => group?.users.has(user) && !views?.base?.users.has(user));

/** Whether the policy accepted an external deletion of the group, and no directory event has come since. */
function isLeftDeleted({ state }: Facts, wanted: Wanted): boolean {
  const { acceptedDeletion, registers } = state;
  if (acceptedDeletion === undefined || wanted.state !== 'present') return false;
  if (state.link !== undefined) return false;
  const stamp =
    acceptedDeletion.policy === 'adopt' ? registers.upserted : latestStampsOf(state, wanted).newest;
  return stamp <= acceptedDeletion.seen;
}
