import { groupExists, groupName, hasDeparted, isUnheardOf } from '../domain/group.ts';
import type { Hold } from '../domain/hold.ts';
import type { MemberId, PlatformUserId } from '../domain/ids.ts';
import type { Stamp } from '../domain/stamp.ts';
import { sentApprovals } from './decide/holds.ts';
import type { Decision } from './decision.ts';
import { causeByMark } from './draft.ts';
import type { Facts } from './facts.ts';
import { hasFailed } from './refused-fields.ts';
import { whyReleased } from './release.ts';
import { type CauseDetail, removalCauseOf, removalText } from './removal-cause.ts';
import { UNRESTATED } from './restore.ts';
import { treatmentOf } from './treatment.ts';

/** The answer of `explain` for one member: a code and a sentence. */
export interface Verdict {
  readonly outcome: string;
  readonly detail: string;
}

/** The facts from which `explain` derives the verdict for one member of a group. */
export interface VerdictInput {
  readonly member: MemberId;
  readonly user: PlatformUserId | undefined;
  /** The facts, with the wanted state and the views. */
  readonly facts: Facts;
  /** The decision that apply would reach now. */
  readonly decision: Decision;
  /** The reason why groupsync does not write the group; undefined if nothing prevents a write. */
  readonly obstacle: Verdict | undefined;
  readonly whyPending: string;
  /** The block of the person, as a sentence; undefined if the person is not blocked. */
  readonly whyBlocked: string | undefined;
  readonly userFloor: Stamp;
  /** Why no membership of the user counts; undefined if they count. */
  readonly uncounted: CauseDetail | undefined;
}

const verdict = (outcome: string, detail: string): Verdict => ({ outcome, detail });

export const isWanted = ({ member, facts: { wanted } }: VerdictInput): boolean =>
  wanted !== undefined &&
  (wanted.pending.has(member) ||
    [...wanted.membersByUser.values()].some((members) => members.some((one) => one.member === member)));

/** Whether the user is in the last known state of the platform group. */
export const isPresent = ({ user, facts: { views } }: VerdictInput): boolean =>
  user !== undefined && views?.base?.users.has(user) === true;

/** Whether a successful write sent the user, but the platform does not show the user. */
const isHidden = (input: VerdictInput): boolean =>
  input.user !== undefined &&
  !isPresent(input) &&
  input.facts.wanted?.membersByUser
    .get(input.user)
    ?.some(({ member, hidden }) => member === input.member && hidden !== undefined) === true;

/** Returns the first verdict that applies. The order is the order of apply's own checks. */
export function verdictOf(input: VerdictInput): Verdict {
  const ofGroup = verdictOfGroup(input);
  if (ofGroup !== undefined) return ofGroup;
  if (input.whyBlocked !== undefined) return verdictOfBlocked(input, input.whyBlocked);
  return isWanted(input) ? verdictOfWanted(input) : verdictOfUnwanted(input);
}

/** @returns undefined if the verdict depends on the member */
function verdictOfGroup(input: VerdictInput): Verdict | undefined {
  const { facts } = input;
  const { released, movedTo, registers } = facts.state;
  if (released) {
    const next = movedTo === undefined ? 'adopt the group to sync it again' : 'look at that group';
    return verdict('released', `${whyReleased(facts.state)}; ${next}`);
  }
  if (treatmentOf(facts).excluded)
    return verdict('excluded', 'the settings groups.include and groups.exclude leave this group out');
  if (isUnheardOf(registers)) return verdict('group_unknown', UNHEARD_OF);
  if (!groupExists(registers)) return verdict('group_absent', 'the directory has no such group');
  const isUnnamed = groupName(registers) === undefined && !leavesUnnamed(input);
  return isUnnamed ? verdict('unnamed', whyUnnamed(input)) : undefined;
}

/** Whether the person leaves a moved group that its new source has not named yet. */
const leavesUnnamed = (input: VerdictInput): boolean =>
  isPresent(input) &&
  !hasDeparted(input.facts.state.registers) &&
  (input.whyBlocked !== undefined || leaverIn(input) !== undefined);

const leaverIn = ({ facts, user }: VerdictInput): CauseDetail | undefined =>
  user && facts.departed?.get(user);

function verdictOfBlocked(input: VerdictInput, why: string): Verdict {
  const { obstacle } = input;
  if (!isPresent(input)) return verdict('blocked', why);
  const waits = obstacle?.detail ?? `the removal is not done yet${lastTry(input)}`;
  return verdict('waiting', `${why}; still in the group: ${waits}`);
}

function verdictOfWanted(input: VerdictInput): Verdict {
  const { facts, member, decision, obstacle } = input;
  const { state, wanted } = facts;
  const cause = wanted?.pending.get(member)?.cause ?? (isHidden(input) ? 'refused' : undefined);
  if (cause !== undefined) return verdict(`pending:${cause}`, input.whyPending);
  if (isPresent(input))
    return verdict('in_sync', 'the directory and the platform both have them in the group');
  if (obstacle !== undefined) return obstacle;
  if (hasFailed(state) && state.dirtySinceMs === undefined) return refused(input, '');
  if (decision.kind === 'settle' && decision.as === 'name_clash')
    return verdict('name_clash', `the platform has an unmanaged group with this name; ${SEE_PLAN}`);
  if (decision.kind === 'settle' && decision.as === 'unrestated') return verdict('unrestated', UNRESTATED);
  return state.dirtySinceMs === undefined
    ? verdict(
        'waiting',
        'they were matched after the last read of the group; groupsync adds them after the next read',
      )
    : verdict('waiting', `they will be added by the next write${lastTry(input)}`);
}

const SEE_PLAN = 'to see it, and what to do: groupsync plan GROUP';

const UNHEARD_OF =
  'no event about the group itself has arrived yet; until then, the stored events about its members have no effect';

const whyUnnamed = ({ facts: { state } }: VerdictInput): string =>
  hasDeparted(state.registers)
    ? 'the directory deleted the group; the group counts as deleted until a later event gives it a name'
    : 'no event has given the group a name yet, and the platform requires a name';

function verdictOfUnwanted(input: VerdictInput): Verdict {
  const { facts, decision, user, obstacle } = input;
  const { state } = facts;
  const why = whyUnwanted(input);
  const [twin] = (user && facts.wanted?.membersByUser.get(user)) ?? [];
  if (twin !== undefined)
    return verdict('not_wanted', `${why}; the same person is in the group as member ${twin.member}`);
  if (user === undefined || !isPresent(input)) return verdict('not_wanted', why);
  if (isHeld(decision, facts, user)) return verdict('held', `${why}; ${whyHeld(facts, user)}`);
  if (isKept(decision, user) && !hasFailed(state))
    return verdict('kept', `${why}; the mode ${treatmentOf(facts).mode} lets them stay`);
  if (obstacle !== undefined) return verdict(obstacle.outcome, `${why}; ${obstacle.detail}`);
  if (state.dirtySinceMs === undefined && hasFailed(state)) return refused(input, `${why}; `);
  return verdict('waiting', `${why}; the removal is not done yet${lastTry(input)}`);
}

const isKept = (decision: Decision, user: PlatformUserId): boolean =>
  decision.kind === 'settle' || (decision.kind === 'write' && !decision.plan.removals.includes(user));

function whyHeld(facts: Facts, user: PlatformUserId): string {
  const decision = stoppingSet(facts, user)?.hold.decision;
  if (decision?.kind === 'approved') return 'the approved removal was sent, and its outcome is not known yet';
  if (decision?.kind === 'rejected')
    return `${decision.by} rejected the removal (${decision.reason}); to see it: groupsync holds`;
  const cause = facts.views?.base?.waits?.get(user);
  const why = cause === undefined ? '' : `${removalText(cause)}; `;
  return `${why}the guard holds the removal until an operator decides; to see it: groupsync holds`;
}

const isHeld = (decision: Decision, facts: Facts, user: PlatformUserId): boolean =>
  decision.kind === 'write'
    ? decision.held.has(user)
    : decision.kind === 'settle' && decision.as === 'held' && stoppingSet(facts, user) !== undefined;

function stoppingSet({ held, state, nowMs }: Facts, user: PlatformUserId) {
  const sent = sentApprovals(state, nowMs);
  const stops = ({ decision, digest }: Hold) => decision.kind !== 'approved' || sent.includes(digest);
  return held?.sets.find(({ hold, users }) => stops(hold) && users?.has(user));
}

function whyUnwanted(input: VerdictInput): string {
  const { facts, member, user, userFloor, uncounted } = input;
  const { state, wanted, settings, views } = facts;
  const register = wanted?.registers.find((one) => one.member === member);
  if (register === undefined && user !== undefined && isPresent(input)) {
    const { cause, detail } = leaverIn(input) ?? { cause: causeByMark(user, views?.base) };
    return removalText(cause, detail);
  }
  const known = removalCauseOf(state.registers, register, { floor: userFloor, uncounted }, settings);
  return removalText(known?.cause ?? 'no_member', known?.detail);
}

const lastTry = ({ facts: { state } }: VerdictInput): string =>
  state.lastError === undefined ? '' : `; last try: ${state.lastError.message}`;

const refused = ({ facts: { state } }: VerdictInput, before: string): Verdict =>
  verdict(
    'failed',
    `${before}the platform refused the group: ${state.lastError?.message ?? 'the reason is not stored'}`,
  );
