import { fieldName, matchForm } from '../contract/match-rule.ts';
import { matchRules } from '../contract/settings.ts';
import { type GroupRef, type MemberId, memberId, platformUserId } from '../domain/ids.ts';
import { readStamp, STAMP_ZERO, type Stamp } from '../domain/stamp.ts';
import { standingNow, standingOf, undescribed } from '../sync/member-standing.ts';
import type { Connection, GateStore } from '../sync/ports/connections.ts';
import type { UserState, UserStore } from '../sync/ports/desired.ts';
import type { GroupState, GroupStore } from '../sync/ports/groups.ts';
import type { AuditEntry, AuditLog } from '../sync/ports/logs.ts';
import type { PeopleStore, Person } from '../sync/ports/people.ts';
import { type Decision, decide, type ExplainedRule, type Facts, isWanted } from './explain-decision.ts';
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
  readonly decision: Decision;
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
  const described = user ?? { ...undescribed(member), ...(role !== undefined && { role }) };
  const refusedRevision = register?.pending?.personRevision;
  const { cause, person } = await standingNow(described, refusedRevision, {
    connection,
    people: ports.people,
  });
  const platformUser = person && standingOf(person, undefined, settings).id;
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
    cause,
    waived:
      state.deletionWaiver !== undefined ||
      (asUser !== undefined && view?.waiver?.absent.has(asUser) === true),
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
      const { action, cause, versionBefore, versionAfter, outcome } = entry;
      const at = new Date(entry.atMs).toISOString();
      return { at, action, reason: change.reason, cause, versionBefore, versionAfter, outcome };
    }
  }
  return null;
}
