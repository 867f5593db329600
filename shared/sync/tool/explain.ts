import { policyFor } from '../../contract/group-policy.ts';
import { fieldName, matchForm } from '../../contract/match-rule.ts';
import { matchRules } from '../../contract/settings.ts';
import { groupExists, groupFloor, groupName, memberCounts } from '../../domain/group.ts';
import { type GroupRef, type MemberId, memberId, platformUserId } from '../../domain/ids.ts';
import { readStamp, STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import type { AuditEntry, AuditLog } from '../ports/audit.ts';
import type { Connection } from '../ports/connections.ts';
import type { UserState, UserStore } from '../ports/desired.ts';
import type { GateStore } from '../ports/gate.ts';
import type { GroupState, GroupStore, StoredMember } from '../ports/groups.ts';
import type { PeopleStore, Person } from '../ports/people.ts';
import { NotFound } from './find-group.ts';

export interface ExplainPorts {
  readonly groups: Pick<GroupStore, 'read' | 'registers' | 'members' | 'readView' | 'readHeld'>;
  readonly users: Pick<UserStore, 'read'>;
  readonly people: Pick<PeopleStore, 'read' | 'holding'>;
  readonly audit: Pick<AuditLog, 'read'>;
  readonly gates: Pick<GateStore, 'read'>;
}

/** The event that said something, as its stamp names it. */
export interface ExplainedEvent {
  /** `member`, `group.upserted`, `group.deleted`, `group.snapshot`, `group.name` or `user.deleted`. */
  readonly register: string;
  readonly says: string;
  readonly id: string | null;
  readonly source: string | null;
  readonly time: string | null;
}

export interface ExplainedRule {
  readonly rule: string;
  readonly value: string | null;
  readonly found: readonly { readonly id: string; readonly state: string }[];
}

/** Why somebody is, or is not, in a group: from the event to the version on the platform. */
export interface Explanation {
  readonly group: string;
  readonly member: string;
  /** In the platform's group, as it was last written or read. */
  readonly present: boolean;
  /** The whole answer in one sentence. */
  readonly because: string;
  /** Whether the directory has them in the group. */
  readonly wanted: boolean;
  readonly events: readonly ExplainedEvent[];
  readonly match: {
    readonly rules: readonly ExplainedRule[];
    readonly bound: string | null;
    readonly person: { readonly id: string; readonly userId: string | null; readonly state: string } | null;
    readonly user: string | null;
  };
  readonly decision: { readonly outcome: string; readonly detail: string };
  readonly write: {
    readonly at: string;
    readonly action: string;
    readonly reason: string;
    readonly cause: string;
    readonly versionBefore: string | null;
    readonly versionAfter: string | null;
    readonly outcome: string;
  } | null;
}

interface Facts {
  readonly connection: Connection;
  readonly state: GroupState;
  readonly member: MemberId;
  readonly register: StoredMember | undefined;
  readonly user: UserState | undefined;
  readonly rules: readonly ExplainedRule[];
  readonly person: Person | undefined;
  readonly platformUser: string | undefined;
  readonly present: boolean;
  readonly held: boolean;
  readonly gate: string;
}

/**
 * Follows one member through one group.
 * @param text the member's id in the directory, or a value of one of its attributes (an e-mail address)
 * @throws NotFound where the group has never heard of such a member
 */
export async function explainMember(
  ref: GroupRef,
  text: string,
  { connection, ports }: { readonly connection: Connection; readonly ports: ExplainPorts },
): Promise<Explanation> {
  const state = await ports.groups.read(ref);
  if (state === undefined) throw new NotFound(`there is no group ${ref.group}`);
  const member = await findMember(ref, text, ports);
  const facts = await gather(state, member, { connection, ports });
  const decision = decide(facts);
  return {
    group: ref.group,
    member,
    present: facts.present,
    because: decision.detail,
    wanted: isWanted(facts),
    events: eventsOf(facts),
    match: {
      rules: facts.rules,
      bound: facts.user?.role ?? facts.register?.user?.role ?? null,
      person: facts.person === undefined ? null : shown(facts.person),
      user: facts.platformUser ?? null,
    },
    decision,
    write: await lastWrite(ref, facts, ports),
  };
}

const shown = ({ role, userId, state }: Person) => ({ id: role, userId: userId ?? null, state });

async function findMember(ref: GroupRef, text: string, { groups, users }: ExplainPorts): Promise<MemberId> {
  const id = memberId(text);
  if ((await groups.registers(ref, [id])).length > 0) return id;
  const members = (await groups.members(ref)).map(({ member }) => member);
  const known = await users.read(ref.connection, members);
  const found = [...known.values()].filter(({ attributes }) =>
    [...attributes.values()].some(({ value }) => value.toLowerCase() === text.toLowerCase()),
  );
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only.member;
  if (others.length > 0) {
    throw new NotFound(`"${text}" fits ${found.map(({ member }) => member).join(', ')}; give the id`);
  }
  throw new NotFound(
    `no event has ever named "${text}" in the group ${ref.group}; the directory has not sent them`,
  );
}

async function gather(
  state: GroupState,
  member: MemberId,
  { connection, ports }: { readonly connection: Connection; readonly ports: ExplainPorts },
): Promise<Facts> {
  const { ref } = state;
  const { name, settings } = connection;
  const [register] = await ports.groups.registers(ref, [member]);
  const user = (await ports.users.read(name, [member])).get(member);
  const rules = await tryRules(connection, member, user, ports);
  const role = user?.role ?? register?.user?.role;
  const person = role === undefined ? undefined : (await ports.people.read(name, [role])).get(role);
  const platformUser = settings.memberIdField === 'userId' ? person?.userId : person?.role;
  const view = state.view === undefined ? undefined : await ports.groups.readView(ref, state.view);
  const held = state.hold === undefined ? undefined : await ports.groups.readHeld(ref, state.hold);
  const asUser = platformUser === undefined ? undefined : platformUserId(platformUser);
  return {
    connection,
    state,
    member,
    register,
    user,
    rules,
    person,
    platformUser,
    present: asUser !== undefined && view?.users.has(asUser) === true,
    held: asUser !== undefined && held?.has(asUser) === true,
    gate: (await ports.gates.read(name)).state,
  };
}

async function tryRules(
  { name, settings }: Connection,
  member: MemberId,
  user: UserState | undefined,
  { people }: ExplainPorts,
): Promise<readonly ExplainedRule[]> {
  const tried: ExplainedRule[] = [];
  for (const { memberAttribute, employeeField } of matchRules(settings)) {
    const value = memberAttribute === 'id' ? member : user?.attributes.get(memberAttribute)?.value;
    const field = fieldName(employeeField);
    const found = value === undefined ? [] : await people.holding(name, field, matchForm(field, value));
    tried.push({
      rule: `${memberAttribute}=${field}`,
      value: value ?? null,
      found: found.map(({ role, state }) => ({ id: role, state })),
    });
  }
  return tried;
}

const isWanted = ({ state, register, user }: Facts): boolean =>
  register !== undefined &&
  groupExists(state.registers) &&
  memberCounts(register, groupFloor(state.registers), user?.floor ?? register.user?.floor ?? STAMP_ZERO);

type Decision = Explanation['decision'];

const decision = (outcome: string, detail: string): Decision => ({ outcome, detail });

/** The first thing, in the order of apply's own steps, that decides. */
function decide(facts: Facts): Decision {
  const { state, present, connection, gate } = facts;
  const { registers } = state;
  const treatment = policyFor(connection.settings, state.ref.group, groupName(registers));
  if (state.released)
    return decision('released', 'a person let go of this group: groupsync adopt takes it back');
  if (treatment.excluded)
    return decision('excluded', 'the settings groups.include and groups.exclude leave this group out');
  if (!groupExists(registers)) return decision('group_absent', 'the directory has no such group (any more)');
  if (groupName(registers) === undefined) {
    return decision('unnamed', 'no event has named the group yet, and the platform wants a name');
  }
  if (!isWanted(facts)) return unwanted(facts);
  const pending = pendingDecision(facts);
  if (pending !== undefined) return pending;
  if (present) return decision('in_sync', 'the directory has them in the group, and so has the platform');
  return notYet(facts, gate);
}

function unwanted(facts: Facts): Decision {
  const { register, state, user, present, held } = facts;
  const floor = groupFloor(state.registers);
  const userFloor = user?.floor ?? register?.user?.floor ?? STAMP_ZERO;
  const why =
    register?.value === 'absent'
      ? 'the directory took them out of the group'
      : register !== undefined && register.stamp <= userFloor
        ? 'the directory deleted this user'
        : register !== undefined && register.stamp < floor
          ? 'a later snapshot or deletion of the group does not name them'
          : 'the directory has never put them in';
  if (!present) return decision('not_wanted', why);
  if (held)
    return decision('held', `${why}; the guard holds the removal until a person decides: groupsync holds`);
  if (state.dirtySinceMs !== undefined) return decision('waiting', `${why}; the removal is not written yet`);
  return decision('kept', `${why}; a policy (membership additive, upsertOnly or drift) lets them stay`);
}

function pendingDecision({ register, person, rules, connection, user }: Facts): Decision | undefined {
  const { includeStates } = connection.settings;
  const cause = register?.pending?.cause;
  if (cause === 'refused')
    return decision('pending:refused', 'the platform left them out of what it answered to our write');
  if (user?.review === true && cause === 'ambiguous') {
    return decision(
      'pending:ambiguous',
      'their attributes now point to somebody else: groupsync rebind MEMBER ROLE_ID confirms one',
    );
  }
  if (person !== undefined) {
    if ((includeStates as readonly string[]).includes(person.state)) return undefined;
    return decision(
      'pending:inactive',
      `their roleState is ${person.state}; members may be ${includeStates.join(', ')}`,
    );
  }
  const several = rules.find(({ found }) => found.length > 1);
  if (several !== undefined) {
    return decision('pending:ambiguous', `several employees have the same ${several.rule.split('=')[1]}`);
  }
  if (rules.some(({ found }) => found.length === 1)) return undefined;
  const values = rules.filter(({ value }) => value !== null);
  return decision(
    'pending:unknown',
    values.length === 0
      ? `no event gave them an attribute that a match rule uses (${rules.map(({ rule }) => rule).join(', ')})`
      : `no employee has this value: ${values.map(({ rule, value }) => `${rule} "${value}"`).join(', ')}`,
  );
}

function notYet({ state, connection }: Facts, gate: string): Decision {
  if (connection.observing) return decision('observing', 'the connection only observes: groupsync resume');
  if (state.paused) return decision('paused', 'the group is paused: groupsync resume GROUP');
  if (gate !== 'open')
    return decision('gate_closed', `they will be added when the gate opens; it is ${gate}: groupsync doctor`);
  if (state.dirtySinceMs !== undefined) {
    const error = state.lastError === undefined ? '' : `; last try: ${state.lastError.message}`;
    return decision('waiting', `they will be added by the next write${error}`);
  }
  if (state.failedAtMs !== undefined) {
    return decision(
      'failed',
      `the platform refused the group: ${state.lastError?.message ?? 'no reason kept'}`,
    );
  }
  return decision('waived', 'somebody took them out on the platform, and the drift policy lets that stand');
}

function eventsOf({ state, register, user }: Facts): readonly ExplainedEvent[] {
  const { upserted, deleted, snapshot, name } = state.registers;
  const floor = user?.floor ?? STAMP_ZERO;
  return [
    ...(register === undefined ? [] : [eventOf('member', register.value, register.stamp)]),
    eventOf('group.upserted', 'the group exists', upserted),
    eventOf('group.snapshot', 'all members were stated', snapshot),
    eventOf('group.deleted', 'the group was deleted', deleted),
    ...(name === undefined ? [] : [eventOf('group.name', name.value, name.stamp)]),
    eventOf('user.deleted', 'the user was deleted', floor),
  ].filter(({ time }) => time !== null);
}

function eventOf(register: string, says: string, stamp: Stamp): ExplainedEvent {
  const parts = stamp === STAMP_ZERO ? undefined : readStamp(stamp);
  return {
    register,
    says,
    id: parts?.id ?? null,
    source: parts?.source ?? null,
    time: parts?.time ?? null,
  };
}

/** The newest write that put them in or took them out. */
async function lastWrite(
  ref: GroupRef,
  facts: Facts,
  { audit }: ExplainPorts,
): Promise<Explanation['write']> {
  const isAbout = ({ changes }: AuditEntry) =>
    changes.find(
      ({ member, before, after }) =>
        member === facts.member ||
        (facts.platformUser !== undefined && (before === facts.platformUser || after === facts.platformUser)),
    );
  for await (const page of audit.read(ref)) {
    for (const entry of page) {
      const change = isAbout(entry);
      if (change === undefined) continue;
      return {
        at: new Date(entry.atMs).toISOString(),
        action: entry.action,
        reason: change.reason,
        cause: entry.cause,
        versionBefore: entry.versionBefore,
        versionAfter: entry.versionAfter,
        outcome: entry.outcome,
      };
    }
  }
  return null;
}
