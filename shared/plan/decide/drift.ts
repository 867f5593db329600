import type { Difference, Settlement } from '../../domain/drift.ts';
import { READS_BEHIND_MS } from '../../domain/group-state.ts';
import { idTimeMs, type PlatformUserId } from '../../domain/ids.ts';
import type { ObservedGroup, View } from '../../domain/view.ts';
import {
  type Decision,
  type ObserveExternal,
  READ_GROUP,
  type Read,
  readList,
  type Wait,
} from '../decision.ts';
import { asMode } from '../draft.ts';
import {
  emptiedFields,
  externalDifferences,
  isSameVersion,
  mayPrecedeWriteForMs,
  shows,
  viewOf,
  withHidden,
} from '../external-change.ts';
import type { Facts, Listing, Views } from '../facts.ts';
import { withUnknown } from '../marks.ts';
import { treatmentOf } from '../treatment.ts';
import { lateWrites } from '../uncertain.ts';
import { flapDampingAfter, isUnversioned } from './damping.ts';
import { decideMissing, OBSERVED_GONE } from './missing.ts';

/**
 * The maximum ages of the list, tried in this order. A list that is up to 5 s old can serve many groups. If that list
 * lacks the needed information, apply reads a new list, because the first list may be older than the change.
 */
const LIST_AGES_MS = [5_000, 0] as const;

const UNPROVEN_READ = {
  code: 'waiting',
  message: 'the platform may show the group as it was before the last write: it will be read again',
};

/**
 * Decides after a fetch of the platform group.
 *
 *     the platform shows                           | decision
 *     ---------------------------------------------|-----------------------------
 *     the known version and content                | undefined: nothing changed
 *     the known version and content, after a 404   | observe that nothing changed
 *     another version within 60 s of a write       | wait
 *     any content, but the view is unreadable      | observe; see `decideUnreadable`
 *     the known version, fewer users, within 60 s  | wait
 *     the known version, fewer users, after 60 s   | observe: the users are hidden; wanted users are sent again
 *     any other version or content                 | observe
 *     nothing (404)                                | see `decideMissing`
 */
export function decideFetched(facts: Facts): Decision | undefined {
  const { state, fetched, views } = facts;
  if (state.link === undefined) return OBSERVED_GONE;
  if (fetched === undefined) return READ_GROUP;
  if (fetched === 'gone') return decideMissing(facts);
  const unproven = waitForProof(facts, fetched);
  if (unproven !== undefined) return unproven;
  if (views === undefined) return { kind: 'read', what: ['views'] };
  if (views.base === undefined) return decideUnreadable(facts, fetched);
  if (fetched.version !== state.link.version || !shows(fetched, views.base))
    return decideMissingUsers(facts, fetched, [views.base]) ?? decideExternal(facts, fetched, [views.base]);
  return state.missingSinceMs === undefined ? undefined : clear(facts);
}

export function waitForProof(facts: Facts, fetched: ObservedGroup): Wait | undefined {
  const waitMs = mayPrecedeWriteForMs(fetched, facts);
  return waitMs > 0 ? { kind: 'wait', waitMs, why: UNPROVEN_READ } : undefined;
}

/**
 * Returns a wait if a fetch soon after groupsync's own write lacks users. The fetch may show the state from before that
 * write, so it does not prove that the users were removed.
 */
export function decideMissingUsers(
  { state, nowMs, createSettleMs }: Facts,
  fetched: ObservedGroup,
  views: readonly (View | undefined)[],
): Wait | undefined {
  const { intent, lastWriteAtMs = 0 } = state;
  const provenAtMs = Math.max(lastWriteAtMs, intent?.atMs ?? 0) + Math.min(READS_BEHIND_MS, createSettleMs);
  const waitMs = provenAtMs - nowMs;
  if (waitMs <= 0) return undefined;
  const knownViews = views.filter((view) => view !== undefined);
  const hasMissing = externalDifferences(knownViews, fetched).some(({ kind }) => kind === 'members_removed');
  return hasMissing ? { kind: 'wait', waitMs, why: UNPROVEN_READ } : undefined;
}

/**
 * Decides about a fetched group whose stored view cannot be read. Without the view, groupsync does not know which users
 * the directory has wanted since the link, so all count as wanted. The removal of a user without a register waits. A
 * tombstone is a register.
 */
export function decideUnreadable(facts: Facts, fetched: ObservedGroup): Decision {
  const observe = decideExternal(facts, fetched, []);
  const { wanted, departed } = facts;
  if (observe.kind === 'read') return observe;
  if (wanted === undefined) return { kind: 'read', what: ['wanted'] };
  if (departed === undefined) return { kind: 'read', what: ['departed'] };
  const isKnown = (user: PlatformUserId) =>
    departed.has(user) || wanted.whyNot.has(user) || wanted.group?.users.has(user) === true;
  const all = [...observe.view.users.keys()];
  const users = new Map(all.map((user) => [user, true]));
  const view = { ...observe.view, users, ...asMode(treatmentOf(facts).mode) };
  return {
    ...observe,
    view: withUnknown(
      view,
      all.filter((user) => !isKnown(user)),
    ),
  };
}

/**
 * Returns the decision that ends the suspected change. A change without a version, such as an operator's `sync`, also
 * resets the flap counter, so that a damped group is written now.
 */
export const clear = ({ fetched, nowMs, state: { flapDamping, suspectedChange } }: Facts): Decision => ({
  kind: 'observe',
  observed: fetched as ObservedGroup,
  flapDamping:
    flapDamping !== undefined && isUnversioned(suspectedChange) ? { sinceMs: nowMs, count: 0 } : undefined,
});

/**
 * Decides about external changes. Apply first records the changes, and then stores the observed group as the view. The
 * view keeps the marks of the users.
 * @param views the contents that groupsync may have written: the stored view, and the intended result of an open intent
 */
export function decideExternal(
  facts: Facts,
  observed: ObservedGroup,
  views: readonly (View | undefined)[],
): ObserveExternal | Read {
  if (facts.views === undefined) return { kind: 'read', what: ['views'] };
  const known = views.filter((view) => view !== undefined);
  const late = lateIn(facts, facts.views, observed);
  const knownViews = late === undefined ? known : [...known, late.view];
  const emptied = emptiedFields(observed, knownViews, facts.listed, LIST_AGES_MS);
  if ('kind' in emptied) return emptied;
  const hidden = hiddenUsers(known, observed, facts);
  if ('kind' in hidden) return hidden;
  const all = { ...observed, users: [...observed.users, ...hidden.map(([user]) => user)] };
  const differences = externalDifferences(known, all, { emptied, late });
  const flapDamping = dampingAfter(differences, facts, observed);
  if (flapDamping !== undefined && 'kind' in flapDamping) return flapDamping;
  const withoutLate = externalDifferences(known, all, { emptied });
  const tookEffect = weightOf(withoutLate) > weightOf(differences);
  const unknown = addedSinceRestore(facts, observed, knownViews);
  const shown = withUnknown(withHidden(viewOf(observed, ...knownViews), hidden), unknown);
  return {
    kind: 'observe',
    observed,
    view: { ...shown, ...Object.fromEntries([...emptied].map((field) => [field, null])) },
    intent: facts.state.intent,
    external: { differences, lateWrite: tookEffect ? facts.state.uncertain?.write : undefined },
    flapDamping,
  };
}

/** Returns the other users if the last view is older than the restore of the table: groupsync may have added them. */
export function addedSinceRestore(facts: Facts, { users }: ObservedGroup, views: readonly View[]) {
  const { state, restoredAtMs = 0 } = facts;
  const { view } = state.link ?? state.previousLink ?? {};
  if (view === undefined || idTimeMs(view.id) >= restoredAtMs) return [];
  return users.filter((user) => !views.some((one) => one.users.has(user)));
}

/** Returns the part of the shown group that uncertain writes of groupsync explain. */
function lateIn(
  { state: { uncertain } }: Facts,
  { base, uncertain: change }: Views,
  observed: ObservedGroup,
) {
  return uncertain && change && lateWrites(uncertain, change, observed, base);
}

function dampingAfter(differences: readonly Difference[], facts: Facts, observed: ObservedGroup) {
  const isRestored = differences.some((one) => settlementOf(one, facts) === 'restore');
  return isRestored ? flapDampingAfter(facts, observed) : undefined;
}

/**
 * Returns the hidden users: they are still in the group, but the fetch does not show them. All answers with the same
 * version have the same content, so the version shows which missing users are hidden:
 *
 *     the fetch shows     | hidden users
 *     --------------------|------------------------------------------------------
 *     the known version   | all missing users
 *     another version     | the missing users that a list shows for that version
 *
 * Apply reads the list only if the next write could remove a hidden user who must stay.
 */
function hiddenUsers([first, ...others]: readonly View[], observed: ObservedGroup, facts: Facts) {
  if (first === undefined) return [];
  const there = new Set(observed.users);
  const isInAll = (user: PlatformUserId) => others.every((view) => view.users.has(user));
  const missing = [...first.users].filter(([user]) => !there.has(user) && isInAll(user));
  if (observed.version === facts.state.link?.version) return missing;
  if (!missing.some(([, isOwn]) => mayBeRemoved(isOwn, facts))) return [];
  const users = listedUsers(observed, facts.listed);
  return 'kind' in users ? users : missing.filter(([user]) => users.has(user));
}

/**
 * Whether the next write could remove a hidden user who must stay, if groupsync assumed that another client had removed
 * the user. A write sends again all wanted users. So only a user that the directory never wanted could be emptied.
 */
function mayBeRemoved(isMarked: boolean, facts: Facts): boolean {
  const { mode } = treatmentOf(facts);
  return mode === 'report' || (mode === 'additive' && !isMarked);
}

/** Returns the users that a list shows for the same version of the group, or the decision to read a list first. */
function listedUsers(observed: ObservedGroup, listed: Listing | undefined): ReadonlySet<string> | Read {
  for (const ageMs of LIST_AGES_MS) {
    if (listed === undefined || listed.ageMs > ageMs) return readList(ageMs);
    const same = listed.groups.find((group) => isSameVersion(group, observed));
    if (same !== undefined) return new Set(same.users);
  }
  return new Set();
}

const weightOf = (differences: readonly Difference[]): number =>
  differences.flatMap(({ before, after }) => [before, after].flat()).length;

/**
 * Returns how a difference is settled. In the mode `report`, groupsync writes nothing. In the mode `additive`, members
 * that another client added stay, unless the directory has wanted them.
 */
export function settlementOf({ kind }: Difference, facts: Pick<Facts, 'settings' | 'state'>): Settlement {
  const { mode } = treatmentOf(facts);
  if (mode === 'report') return 'report';
  return kind === 'members_added' && mode === 'additive' ? 'adopt' : 'restore';
}
