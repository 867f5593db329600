import { groupFloor, memberCounts } from '../../domain/group.ts';
import { type MemberId, memberId, type PlatformUserId, platformUserId } from '../../domain/ids.ts';
import type { Stamp } from '../../domain/stamp.ts';
import type { View } from '../../domain/view.ts';
import type { Facts, Views, Wanted, WantedMember } from '../../plan/facts.ts';
import { modeOf } from '../../plan/marks.ts';
import { whyUncounted } from '../../plan/removal-cause.ts';
import { treatmentOf } from '../../plan/treatment.ts';
import type { Connection } from '../ports/connections.ts';
import { type UserState, undescribed } from '../ports/desired.ts';
import { eligibilityOf, type Resolution } from './resolve.ts';

/*
 * Every change raises rev by one. If rev is one higher than when the group was in sync, there was only one change. Only
 * an event about the group itself names the members that it changes. After such a change, all other members are as in
 * the view, and need not be read (architecture.md).
 */

const TWO_HOURS_MS = 7_200_000;

/**
 * Whether apply may read only the changed members. The group was in sync before the last change, this change named its
 * members, and the group needs no other work.
 */
export function mayReadPart(facts: Facts, { replanSinceMs }: Connection): boolean {
  const { state, nowMs } = facts;
  const {
    rev,
    link,
    inSync,
    changedMembers,
    intent,
    suspectedChange,
    removals,
    uncertain,
    missingSinceMs,
    flapDamping,
    containsGroups,
  } = state;
  const isNext = link !== undefined && inSync?.rev === rev - 1 && inSync.view === link.view.id;
  // A separate read of each changed member costs more than one read of all members if half of the members have changed.
  if (!isNext || changedMembers === undefined || changedMembers.length > 1 + link.view.size / 2) return false;
  const isQuiet = [intent, suspectedChange, removals, uncertain, missingSinceMs, replanSinceMs].every(
    (one) => one === undefined,
  );
  const { mode, excluded } = treatmentOf(facts);
  const isPlain =
    mode !== 'report' &&
    !excluded &&
    !link.takeOver &&
    // A member that leaves the outer group may still be a member of a nested group, so all members are read.
    !containsGroups;
  const isBisecting = facts.isolated?.size !== 0 || facts.isNarrowed === true;
  return isQuiet && isPlain && !isBisecting && nowMs >= (flapDamping?.sinceMs ?? 0) + TWO_HOURS_MS;
}

interface Read extends Pick<Wanted, 'registers'>, Pick<Views, 'base'> {
  readonly users: ReadonlyMap<MemberId, UserState>;
}

/** A placeholder for unchanged members, because no decision depends on which member this is. */
const UNCHANGED_MEMBER: readonly WantedMember[] = [{ member: memberId(''), revision: '' }];

/**
 * Returns the users of the group after the changed members were added or removed. In the view, each user belongs to
 * exactly one member. So if a member left, its user is removed.
 * @returns undefined if the registers of all members must be read
 */
export async function membersAfter(
  facts: Facts,
  { base, registers, users }: Read,
  resolve: (users: readonly UserState[]) => Promise<ReadonlyMap<MemberId, Resolution>>,
): Promise<Wanted['membersByUser'] | undefined> {
  const { state, settings } = facts;
  const { changedMembers = [], registers: groupRegisters } = state;
  const floor = groupFloor(groupRegisters);
  const changes = changedMembers.flatMap(({ member, left }) => {
    const id = memberId(member);
    const user = users.get(id) ?? undescribed(id);
    const uncounted = whyUncounted(user.attributes, settings)?.cause;
    const counts = (stamp: Stamp | undefined) =>
      stamp !== undefined &&
      memberCounts({ value: 'present', stamp }, floor, user.floor) &&
      uncounted !== 'suspended';
    const isIn = counts(registers.find((one) => one.member === member && one.value === 'present')?.stamp);
    return isIn || counts(left) ? [{ user, isIn, isExcluded: uncounted === 'excluded' }] : [];
  });
  const isPending = registers.some(({ pending }) => pending !== undefined);
  if (base === undefined || isUnsure(base, facts) || changes.some(isUnclear) || isPending) return undefined;
  const resolutions = await resolve(changes.map(({ user }) => user));
  const membersByUser = unchangedIn(base);
  for (const { user, isIn } of changes) {
    const { member } = user;
    const resolution = resolutions.get(member);
    if (resolution?.kind !== 'person') return undefined;
    const { cause, id = '', revision } = eligibilityOf(resolution.person, undefined, settings);
    const shown = platformUserId(id);
    // In these cases, the user cannot be a member, its membership did not change, or another member has the same user.
    if (cause !== 'solved' || base.users.has(shown) === isIn || membersByUser.has(shown) === isIn)
      return undefined;
    if (isIn) membersByUser.set(shown, [{ member, revision }]);
    else membersByUser.delete(shown);
  }
  return membersByUser;
}

/** Returns the members before the change. A user without a mark is not a member: the directory never wanted the user. */
const unchangedIn = ({ users }: View): Map<PlatformUserId, readonly WantedMember[]> =>
  new Map([...users].flatMap(([user, isMarked]) => (isMarked ? [[user, UNCHANGED_MEMBER] as const] : [])));

/** Whether the members cannot be derived from the view. */
const isUnsure = (base: View, facts: Facts): boolean =>
  base.waits !== undefined || base.hidden !== undefined || modeOf(base) !== treatmentOf(facts).mode;

/** Whether the member is excluded, must be matched again, or has left the group and has no known role. */
const isUnclear = ({ user, isIn, isExcluded }: MemberChange): boolean =>
  isExcluded || user.review === true || (!isIn && user.role === undefined);

interface MemberChange {
  readonly user: UserState;
  readonly isIn: boolean;
  readonly isExcluded: boolean;
}
