import { policyFor } from '../contract/group-policy.ts';
import { isActive } from '../domain/active.ts';
import { groupExists, groupFloor, groupName, hasDeparted, memberCounts } from '../domain/group.ts';
import type { MemberId } from '../domain/ids.ts';
import { STAMP_ZERO } from '../domain/stamp.ts';
import type { MemberStanding } from '../sync/member-standing.ts';
import type { Connection } from '../sync/ports/connections.ts';
import type { UserState } from '../sync/ports/desired.ts';
import type { GroupState, PendingCause, StoredMember } from '../sync/ports/groups.ts';
import { GONE, type Person } from '../sync/ports/people.ts';

export interface ExplainedRule {
  readonly rule: string;
  readonly value: string | null;
  readonly found: readonly { readonly id: string; readonly state: string }[];
}

/** Everything that is known of one member in one group. */
export interface Facts {
  readonly connection: Connection;
  readonly state: GroupState;
  readonly member: MemberId;
  readonly register: StoredMember | undefined;
  readonly user: UserState | undefined;
  readonly rules: readonly ExplainedRule[];
  readonly person: Person | undefined;
  readonly platformUser: string | undefined;
  /** What apply would make of the member now. */
  readonly cause: MemberStanding['cause'];
  /** Somebody took them, or the whole group, away on the platform, and a policy lets that stand. */
  readonly waived: boolean;
  readonly present: boolean;
  readonly held: boolean;
  readonly gate: string;
}

/** What decided, as a word and as a sentence. */
export interface Decision {
  readonly outcome: string;
  readonly detail: string;
}

export const isWanted = ({ state, register, user }: Facts): boolean =>
  register !== undefined &&
  groupExists(state.registers) &&
  isSwitchedOn(user) &&
  memberCounts(register, groupFloor(state.registers), user?.floor ?? register.user?.floor ?? STAMP_ZERO);

const isSwitchedOn = (user: UserState | undefined): boolean =>
  user === undefined || isActive(user.attributes);

const decision = (outcome: string, detail: string): Decision => ({ outcome, detail });

/** The first thing, in the order of apply's own steps, that decides. */
export function decide(facts: Facts): Decision {
  const { state, present, connection, gate } = facts;
  const { registers } = state;
  const treatment = policyFor(connection.settings, state.ref.group, registers.name?.value);
  if (state.released)
    return decision('released', 'a person let go of this group: groupsync adopt takes it back');
  if (treatment.excluded)
    return decision('excluded', 'the settings groups.include and groups.exclude leave this group out');
  if (!groupExists(registers)) return decision('group_absent', 'the directory has no such group (any more)');
  if (groupName(registers) === undefined) {
    return hasDeparted(registers)
      ? decision(
          'unnamed',
          'the directory deleted the group, and no event has named it since; until one does it counts as deleted',
        )
      : decision('unnamed', 'no event has named the group yet, and the platform wants a name');
  }
  if (!isWanted(facts)) return unwanted(facts);
  const pending = pendingDecision(facts);
  if (pending !== undefined) return pending;
  if (present) return decision('in_sync', 'the directory has them in the group, and so has the platform');
  return notYet(facts, gate);
}

function unwanted(facts: Facts): Decision {
  const { register, state, user, present, held, connection, gate } = facts;
  const floor = groupFloor(state.registers);
  const userFloor = user?.floor ?? register?.user?.floor ?? STAMP_ZERO;
  const why =
    register?.value === 'absent'
      ? 'the directory took them out of the group'
      : register !== undefined && register.stamp <= userFloor
        ? 'the directory deleted this user'
        : register !== undefined && register.stamp < floor
          ? 'a later snapshot or deletion of the group does not name them'
          : isSwitchedOn(user)
            ? 'the directory has never put them in'
            : 'the directory has switched their account off; the membership counts again when it is switched on';
  if (!present) return decision('not_wanted', why);
  if (held)
    return decision('held', `${why}; the guard holds the removal until a person decides: groupsync holds`);
  if (state.dirtySinceMs !== undefined) {
    const obstacle = obstacleOf(state, connection, gate);
    if (obstacle !== undefined) return decision(obstacle.outcome, `${why}; ${obstacle.detail}`);
    return decision('waiting', `${why}; the removal is not done yet${lastTry(state)}`);
  }
  if (state.failedAtMs !== undefined) return refused(state, `${why}; `);
  return decision('kept', `${why}; a policy (membership additive, upsertOnly or drift) lets them stay`);
}

const lastTry = ({ lastError }: GroupState): string =>
  lastError === undefined ? '' : `; last try: ${lastError.message}`;

const refused = ({ lastError }: GroupState, before = ''): Decision =>
  decision('failed', `${before}the platform refused the group: ${lastError?.message ?? 'no reason kept'}`);

function pendingDecision(facts: Facts): Decision | undefined {
  const { cause } = facts;
  return cause === 'solved' ? undefined : decision(`pending:${cause}`, WHY_PENDING[cause](facts));
}

const WHY_PENDING: Readonly<Record<PendingCause, (facts: Facts) => string>> = {
  refused: () => 'the platform left them out of what it answered to our write',
  ambiguous: ({ user, rules }) => {
    const several = rules.find(({ found }) => found.length > 1);
    return user?.role !== undefined || several === undefined
      ? 'their attributes now point to somebody else: groupsync rebind MEMBER ROLE_ID confirms one'
      : `several employees have the same ${several.rule.split('=')[1]}`;
  },
  inactive: ({ person, connection }) =>
    person?.state === GONE
      ? 'the platform has no such employee any more: it answers 404 to their id'
      : `their roleState is ${person?.state}; members may be ${connection.settings.includeStates.join(', ')}`,
  unknown: ({ person, user, rules }) => {
    if (person !== undefined) return `the platform does not tell the userId of ${person.role}`;
    if (user?.role !== undefined) return `no refresh of people has met ${user.role}, whom they are bound to`;
    const values = rules.filter(({ value }) => value !== null);
    return values.length === 0
      ? `no event gave them an attribute that a match rule uses (${rules.map(({ rule }) => rule).join(', ')})`
      : `no employee has this value: ${values.map(({ rule, value }) => `${rule} "${value}"`).join(', ')}`;
  },
};

/** What keeps every write of the group back. */
function obstacleOf(state: GroupState, connection: Connection, gate: string): Decision | undefined {
  if (connection.observing) return decision('observing', 'the connection only observes: groupsync resume');
  if (state.paused) return decision('paused', 'the group is paused: groupsync resume GROUP');
  if (policyFor(connection.settings, state.ref.group, state.registers.name?.value).mode === 'report') {
    return decision('observing', 'the settings have this group only watched (mode report)');
  }
  if (gate === 'open') return undefined;
  return decision('gate_closed', `nothing is written while the gate is ${gate}: groupsync doctor says why`);
}

function notYet({ state, connection, waived }: Facts, gate: string): Decision {
  const obstacle = obstacleOf(state, connection, gate);
  if (obstacle !== undefined) return obstacle;
  if (state.dirtySinceMs !== undefined) {
    return decision('waiting', `they will be added by the next write${lastTry(state)}`);
  }
  if (state.failedAtMs !== undefined) return refused(state);
  return waived
    ? decision('waived', 'somebody took them out on the platform, and the drift policy lets that stand')
    : decision('waiting', 'they became known since the group was last looked at; the next look adds them');
}
