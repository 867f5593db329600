import { HOUR_MS } from '../../domain/duration.ts';
import { EVENT_FIELDS } from '../../domain/group-fields.ts';
import type { FlapDamping, GroupState, SuspectedChange } from '../../domain/group-state.ts';
import { holdWith } from '../../domain/hold.ts';
import { laterStamp, STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import { type ObservedGroup, type View, withUnwanted } from '../../domain/view.ts';
import type { Decision, Read } from '../decision.ts';
import type { Facts, Views, Wanted } from '../facts.ts';
import { fieldMatches } from '../names.ts';
import { treatmentOf } from '../treatment.ts';

/** groupsync makes this many restorations of a group within an hour without a wait. */
const RESTORED_AT_ONCE = 2;

const NO_USERS = { users: new Map() };

const FLAP_DAMPED = {
  code: 'contested',
  message: 'another client changes the group repeatedly: groupsync restores it once an hour',
};

/**
 * Flap damping: after two restorations within an hour, the group waits for the rest of the hour, because each
 * restoration costs three or four calls. Five things end the wait early: a newer directory event, a managed member that
 * must be removed, a blocked person in the group, an approved hold, and a suspected change without a version, such as an
 * operator's `sync`. While a person is blocked, each suspected change is read at once.
 */
export function decideDamping(facts: Facts): Decision | undefined {
  const { state, nowMs, wanted, views } = facts;
  const damping = dampingNow(state, nowMs);
  if (damping === undefined || passesDamping(state)) return undefined;
  if (wanted === undefined || views === undefined) return { kind: 'read', what: ['wanted', 'views'] };
  if (newestStampOf(state, wanted) > (damping.seen ?? STAMP_ZERO)) return undefined;
  if (mayHaveBlocked(facts, views)) return undefined;
  // If removals are held, or the mode is `report`, a write would not remove the member. So the group keeps waiting.
  const mayLeave = state.removals === undefined && treatmentOf(facts).mode !== 'report';
  if (mayLeave && hasLeaver(wanted, views)) return undefined;
  return { kind: 'wait', waitMs: damping.sinceMs + HOUR_MS - nowMs, why: FLAP_DAMPED };
}

export function newestStampOf({ registers }: GroupState, wanted: Wanted): Stamp {
  const ofFields = EVENT_FIELDS.flatMap((field) => registers[field]?.stamp ?? []);
  const ofMembers = wanted.registers.map(({ stamp }) => stamp);
  return [
    registers.upserted,
    registers.deleted,
    registers.snapshot,
    ...ofFields,
    ...ofMembers,
    ...wanted.userFloors.values(),
  ].reduce(laterStamp);
}

/** Whether groupsync may remove a blocked person now: from the view, or after it has read a change of another client. */
function mayHaveBlocked(facts: Facts, { base }: Views): boolean {
  const { state, blocked } = facts;
  if (blocked === undefined || treatmentOf(facts).mode === 'report') return false;
  return (
    state.suspectedChange !== undefined || [...(base?.users.keys() ?? [])].some((user) => blocked.has(user))
  );
}

/**
 * Returns the flap damping that applies now; undefined if none applies. After more than `RESTORED_AT_ONCE`
 * restorations, damping applies for the rest of the hour.
 */
function dampingNow({ flapDamping }: GroupState, nowMs: number): FlapDamping | undefined {
  if (flapDamping === undefined || flapDamping.count <= RESTORED_AT_ONCE) return undefined;
  return nowMs < flapDamping.sinceMs + HOUR_MS ? flapDamping : undefined;
}

const passesDamping = (state: GroupState): boolean =>
  isUnversioned(state.suspectedChange) || holdWith('approved', state) !== undefined;

/** Whether a user that the directory has wanted must be removed. A user that another client added does not count. */
function hasLeaver({ group }: Wanted, { base }: Views): boolean {
  const { users } = group ?? NO_USERS;
  const current = base && withUnwanted(base, users);
  return [...(current?.users ?? [])].some(([user, isManaged]) => isManaged && !users.has(user));
}

/** Whether the change has no version: from `sync`, or because the group was missing or differed in the same version. */
export const isUnversioned = (suspectedChange: SuspectedChange | undefined): boolean =>
  suspectedChange?.version === null;

/**
 * Returns the flap counter after this restoration. If damping begins and the wanted state is already written, the
 * counter stores the newest directory stamp as `seen`. Directory events up to this stamp do not end the wait early.
 */
export function flapDampingAfter(
  { state, nowMs, wanted, views }: Facts,
  shown: ObservedGroup,
): FlapDamping | Read {
  const counted = countedAgain(state, nowMs);
  if (counted.count <= RESTORED_AT_ONCE || counted === state.flapDamping) return counted;
  if (wanted === undefined) return { kind: 'read', what: ['wanted'] };
  if (!isWritten(wanted, views?.base, shown)) return counted;
  return { ...counted, seen: newestStampOf(state, wanted) };
}

/**
 * Returns the flap counter with this restoration:
 *
 *     the stored counter                                       | this restoration
 *     ---------------------------------------------------------|----------------------------------
 *     is missing or over 2 h old, or change without version    | counts as the first
 *     is under 1 h old                                         | counts as one more
 *     is 1 to 2 h old, had no damping                          | counts as the first
 *     is 1 to 2 h old, had damping, no write after the hour    | is not counted
 *     is 1 to 2 h old, had damping, a write after the hour     | begins the next hour of damping
 */
function countedAgain({ flapDamping, suspectedChange, lastWriteAtMs = 0 }: GroupState, nowMs: number) {
  const first = { sinceMs: nowMs, count: 1 };
  if (flapDamping === undefined || isUnversioned(suspectedChange)) return first;
  const { sinceMs, count } = flapDamping;
  if (nowMs - sinceMs >= 2 * HOUR_MS) return first;
  if (nowMs - sinceMs < HOUR_MS) return { sinceMs, count: count + 1 };
  if (count <= RESTORED_AT_ONCE) return first;
  return lastWriteAtMs < sinceMs + HOUR_MS ? flapDamping : { sinceMs: nowMs, count };
}

/**
 * Whether the group already contains the wanted users and name. If not, a directory event is not written yet, and the
 * write of that event must not wait for the damping.
 */
function isWritten({ group }: Wanted, base: View | undefined, shown: ObservedGroup): boolean {
  if (base === undefined || !fieldMatches(base, 'name', group?.name ?? base.name)) return false;
  const known = new Set([...shown.users, ...base.users.keys()]);
  return [...(group?.users.keys() ?? [])].every((user) => known.has(user));
}
