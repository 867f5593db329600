import { type GroupState, type Intent, READS_BEHIND_MS } from '../domain/group-state.ts';
import type { GroupRef, PlatformGroupId } from '../domain/ids.ts';
import type { ListedGroup } from '../domain/view.ts';
import { reportsDeletion } from './attribute.ts';
import { type Decision, type Drop, readList, type Wait } from './decision.ts';
import { existence, existenceLimits, type PresenceInList } from './existence.ts';
import type { Facts } from './facts.ts';
import { mayBeSpokeId } from './names.ts';
import { uncertainDeletion } from './uncertain.ts';

/** The usual maximum age of a list of platform groups. Apply reads an older list again. */
export const LISTING_AGE_MS = 60_000;

/** The deletion counts as refused if the platform has answered this many DELETEs (2xx or 404) and shows the group. */
const MAX_DELETES = 3;

const missing = (id: PlatformGroupId | undefined, rest: string) => ({
  code: 'missing',
  message: `the platform answers 404 for the group${id === undefined ? '' : ` ${id}`}${rest}`,
});
const notFoundYet = (id: PlatformGroupId | undefined) => missing(id, ': it will be read again');
const listedStill = (id: PlatformGroupId | undefined) =>
  missing(id, ', but still lists it: no other group is created while it is listed');
const unproven = (id: PlatformGroupId | undefined) =>
  missing(
    id,
    ' and lists no group that groupsync manages, so the base URL may be wrong: groupsync waits until the feed reports the deletion, at most an hour',
  );
const STILL_SHOWN = {
  code: 'kept',
  message:
    'groupsync sent a deletion, and the platform still shows the group: the group will be read again within a minute',
};
const NOT_DELETED = {
  code: 'platform_rejected',
  message: `the platform answered ${MAX_DELETES} deletions of the group and still shows it`,
};

/**
 * Decides whether a platform group is gone, after the platform answered 404 for the group. The rule is `existence`.
 * @param id the platform group; undefined for an adoption candidate that the platform answered with 404 earlier and
 * that is missing in the current list
 * @returns `gone`, or a decision to read or to wait if this is not proven yet
 */
export function decideGone(facts: Facts, id: PlatformGroupId | undefined): 'gone' | Decision {
  const { state, nowMs, createSettleMs, listed } = facts;
  const missingSinceMs = firstNotFoundAtMs(state, nowMs);
  const limits = existenceLimits(createSettleMs);
  const wasGone = wasGoneBefore(state, id);
  const sinceFirstMs = nowMs - (missingSinceMs ?? nowMs);
  const secondReadInMs = wasGone ? 0 : limits.apartMs - sinceFirstMs;
  if (!wasGone && missingSinceMs === undefined) return { kind: 'note', what: 'missing' };
  if (secondReadInMs > 0) return { kind: 'wait', waitMs: secondReadInMs, why: notFoundYet(id) };
  const ageMs = wasGone ? LISTING_AGE_MS : Math.min(LISTING_AGE_MS, sinceFirstMs);
  if (listed === undefined || listed.ageMs > ageMs) return readList(ageMs);
  const listing = presenceIn(wasGone ? { showsManaged: false, ...listed } : listed, id);
  if (listing === undefined) return { kind: 'read', what: ['managed'] };
  const verdict = existence(
    {
      firstNotFoundAtMs: missingSinceMs,
      lastNotFoundAtMs: nowMs,
      listing,
      isDeletionReportedByFeed: reportsDeletion(state.suspectedChange?.activityEvents),
      isDeletionAnswered: false,
      wasGone,
    },
    limits,
  );
  if (verdict === 'gone') return 'gone';
  if (verdict === 'exists') return { kind: 'wait', waitMs: undefined, why: listedStill(id) };
  // Each wait is twice the time since the first 404, but ends when the group counts as gone without further evidence.
  const leftMs = limits.uncertainMs - sinceFirstMs;
  return { kind: 'wait', waitMs: Math.min(2 * sinceFirstMs, leftMs), why: unproven(id) };
}

/** Whether the previous link of the directory group was to this platform group, and ended because it was gone. */
const wasGoneBefore = ({ previousLink }: GroupState, id: PlatformGroupId | undefined): boolean =>
  previousLink?.isGone === true && previousLink.platformId === id;

/** If the latest 404 is older than this, it is ignored, and the next 404 counts as the first. */
const STALE_MS = 2 * 3_600_000;

function firstNotFoundAtMs({ missingSinceMs, lastError }: GroupState, nowMs: number): number | undefined {
  if (missingSinceMs === undefined) return undefined;
  const lastAtMs = Math.max(missingSinceMs, lastError?.code === 'missing' ? lastError.atMs : 0);
  return nowMs - lastAtMs > STALE_MS ? undefined : missingSinceMs;
}

/** Returns the evidence that the list gives; undefined if the owners of the listed groups must be read first. */
function presenceIn(
  { groups, showsManaged }: NonNullable<Facts['listed']>,
  id: PlatformGroupId | undefined,
): PresenceInList | undefined {
  const showsThisGroup = groups.some((group) => group.id === id);
  if (showsThisGroup || groups.length === 0) return { showsThisGroup, showsOtherManagedGroups: false };
  return showsManaged === undefined ? undefined : { showsThisGroup, showsOtherManagedGroups: showsManaged };
}

/**
 * Decides about an open intent to delete a group. The answer to the DELETE alone does not prove that the group is gone.
 *
 *   the platform shows the group | the DELETE is     | decision
 *   -----------------------------|-------------------|---------------------------------------------------
 *   no (404)                     | just answered 2xx | observe that the group is gone
 *   no (404)                     | in another state  | observe that the group is gone, after `decideGone` proved it
 *   yes                          | under 60 s old    | wait; the fetch may show the state before the DELETE
 *   yes                          | over 60 s old     | drop the intent and plan again; abandon it after 3 answered DELETEs
 *
 * A DELETE without an answer does not count as one of the 3.
 */
export function decideDeletion(facts: Facts, intent: Intent, drop: Drop): Decision {
  const { fetched, deletion, isCounted, nowMs } = facts;
  if (fetched === 'gone') {
    const proof = deletion === 'deleted' ? 'gone' : decideGone(facts, intent.platformId);
    return proof === 'gone' ? { kind: 'observe', observed: 'gone', intent } : proof;
  }
  const waitMs = READS_BEHIND_MS - (nowMs - intent.atMs);
  if (waitMs > 0 && deletion !== undefined && isCounted !== true) {
    const tries = (uncertainDeletion(facts.state)?.tries ?? 0) + 1;
    return { kind: 'note', what: { ...intent, tries } };
  }
  if (waitMs > 0) return { kind: 'wait', waitMs, why: STILL_SHOWN };
  return (intent.tries ?? 0) >= MAX_DELETES ? { kind: 'abandon', drop, why: NOT_DELETED } : drop;
}

/**
 * Returns the decision about the first candidate that counts: to adopt it, or to wait or read more first. A candidate
 * does not count if it is gone, or if another group owns it and `isForSame` is false.
 * @returns undefined if no candidate counts
 */
export function decideAdoption(facts: Facts, candidates: readonly ListedGroup[]): Decision | undefined {
  const { passedOver, state } = facts;
  for (const candidate of candidates) {
    const why = passedOver?.get(candidate.id);
    if (why === undefined) return { kind: 'adopt', candidate };
    if (why === 'not_found') {
      const proof = decideGone(facts, candidate.id as PlatformGroupId);
      if (proof !== 'gone') return proof;
    } else if (isForSame(candidate, why, state.ref)) {
      return ownedElsewhere(candidate);
    }
  }
  return undefined;
}

/**
 * Whether another directory group owns the candidate, and the candidate has the external id of this directory group. If
 * the two ids differ only in form, the candidate may have the id of its owner.
 */
const isForSame = ({ spokeId }: ListedGroup, owner: GroupRef, { connection, group }: GroupRef): boolean =>
  spokeId === group ||
  (owner.connection !== connection && mayBeSpokeId(spokeId, group) && owner.group === group);

/**
 * Returns a wait, because another directory group owns the platform group. This directory group must not write that
 * group, and must not create a second platform group with the same external id. The message does not name another
 * connection, because its reader may have no access to that connection.
 */
const ownedElsewhere = ({ id }: ListedGroup): Wait => ({
  kind: 'wait',
  waitMs: undefined,
  why: {
    code: 'owned',
    message: `the platform group ${id} has the external id of this group, and belongs to another directory group (see 'groupsync platform-groups'): release it there, or remove that connection`,
  },
});

/**
 * Returns the previously linked platform group as an adoption candidate, if the link ended because that group was gone.
 * If that group exists after all, a new group would be a duplicate.
 */
export const previousGroup = ({ previousLink }: GroupState): readonly ListedGroup[] =>
  previousLink?.isGone === true ? [{ id: previousLink.platformId, spokeId: null }] : [];

/**
 * Returns the candidate of `previousGroup` if a sweep has seen the candidate in a list again. The caller uses this
 * function for a directory group that needs no platform group now.
 */
export const listedAgain = (state: GroupState): readonly ListedGroup[] =>
  state.previousLink?.isListed === true ? previousGroup(state) : [];
