import type { ExplainedEvent, ExplainedRule, Explanation, LogEntry } from '../contract/answers.ts';
import { policyFor } from '../contract/group-policy.ts';
import { fieldName, matchForm } from '../contract/match-rule.ts';
import { matchRules } from '../contract/settings.ts';
import { isActive } from '../domain/active.ts';
import type { GroupState, StoredMember } from '../domain/group-state.ts';
import { type GroupRef, type MemberId, memberId, platformUserId, roleId } from '../domain/ids.ts';
import { readStamp, STAMP_ZERO } from '../domain/stamp.ts';
import type { Facts } from '../plan/facts.ts';
import { personsOf } from '../plan/person.ts';
import { type Asked, isPresent, isWanted, type Verdict, verdictOf } from '../plan/verdict.ts';
import { reportWaiting, waitingOf } from '../plan/waiting.ts';
import { learn } from '../sync/apply/facts.ts';
import { type PreviewPorts, previewGroup, readingOf, undisturbed } from '../sync/apply/preview.ts';
import { type MemberStanding, refusedRevisionOf, standingNow, standingOf } from '../sync/member-standing.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { type UserState, undescribed } from '../sync/ports/desired.ts';
import { GONE, type Person } from '../sync/ports/people.ts';
import { NotFound, NothingFits } from './find-group.ts';
import { findMember as findAmongAll, findMemberOf, membersHolding } from './find-member.ts';
import { type LogPorts, readLog, shownActor } from './log.ts';
import { type NamesPorts, shellWords, usersOf } from './names.ts';
import { type Word, wordsOfGroup } from './taken.ts';

export type ExplainPorts = PreviewPorts &
  LogPorts &
  NamesPorts &
  Pick<ToolPorts, 'gates' | 'index' | 'people' | 'connections' | 'scim'>;

/**
 * Follows one member through one group: what the directory says, who they are, and what apply decides.
 * @param text the member's id in the directory, or a value of one of its attributes (an e-mail address); of somebody
 *   whom no event named, also an address or id that the platform has
 * @throws NotFound where nobody of that name is known, or has ever been in the group
 */
export async function explainMember(
  ref: GroupRef,
  text: string,
  { connection, ports }: Explaining,
): Promise<Explanation> {
  const state = await ports.groups.read(ref);
  if (state === undefined) throw new NotFound(`there is no group ${ref.group}`);
  const [{ member, isOutside, stranger, who, entries }, gate, { decision, known }] = await Promise.all([
    findOut(state, text, { connection, ports }),
    ports.gates.read(ref.connection),
    undisturbed(state, ports, async (now) => {
      const { decision, facts } = await previewGroup(now, connection, ports);
      return { decision, known: await withWords(facts, connection, ports) };
    }),
  ]);
  const asked: Asked = {
    member,
    user: who.platformUser === undefined ? undefined : platformUserId(who.platformUser),
    facts: known,
    decision,
    obstacle: obstacleTo(known.state, connection, gate.state),
    whyPending: whyPending(who, connection),
    userFloor: who.user?.floor ?? who.register?.user?.floor ?? STAMP_ZERO,
    isSwitchedOn: who.user === undefined || isActive(who.user.attributes),
  };
  const verdict = verdictOf(asked);
  const byHand = isOutside ? sayByHand(entries, who) : undefined;
  if (stranger && byHand === undefined && who.person === undefined && !isPresent(asked)) throw stranger;
  return {
    group: ref.group,
    member,
    present: isPresent(asked),
    because: byHand === undefined ? verdict.detail : `${byHand}; ${verdict.detail}`,
    wanted: isWanted(asked),
    events: eventsOf(known.state, who),
    match: {
      rules: who.rules,
      bound: who.user?.role ?? who.register?.user?.role ?? null,
      person: who.person === undefined ? null : shown(who.person),
      user: who.platformUser ?? null,
    },
    decision: verdict,
    waiting: reportWaiting(waitingOf(state, ports.clock())),
    write: lastWrite(entries, who),
  };
}

interface Explaining {
  readonly connection: Connection;
  readonly ports: ExplainPorts;
}

/** Who is meant, and what was written about them. */
async function findOut(state: GroupState, text: string, { connection, ports }: Explaining) {
  const { member, isOutside = false, stranger } = await findMember(state.ref, text, { connection, ports });
  const one = await identify(member, state, connection, ports);
  const who = stranger === undefined ? one : await withStranger(one, text, connection, ports);
  return { member, isOutside, stranger, who, entries: await entriesAbout(state.ref, who, ports) };
}

const shown = ({ role, userId, state }: Person) => ({ id: role, userId: userId ?? null, state });

interface Found {
  readonly member: MemberId;
  /** No event has named them in the group. */
  readonly isOutside?: boolean;
  /** Why nobody is, with who is alike, where no event has named them at all. */
  readonly stranger?: NotFound;
}

/** A member, also by the id that the platform has of them; whom no event has named here may be known of other groups. */
async function findMember(ref: GroupRef, text: string, { connection, ports }: Explaining): Promise<Found> {
  const id = memberId(text);
  const [[register], bound] = await Promise.all([
    ports.groups.registers(ref, [id]),
    membersHolding(text, connection, ports),
  ]);
  if (register !== undefined) return { member: id };
  const only = bound.length === 1 ? bound[0] : undefined;
  // An exact id of a known user is never a part of another one's name.
  if ((await ports.users.read(ref.connection, [id])).has(id)) return { member: id, isOutside: true };
  // Whose address is sure need not be looked for among everybody.
  if (only !== undefined && (await ports.groups.registers(ref, [only])).length > 0) return { member: only };
  const none = `no event has ever named "${text}" in the group ${ref.group}, and nobody has put them in by hand`;
  try {
    return { member: await findMemberOf([ref], text, none, ports) };
  } catch (here) {
    if (!(here instanceof NothingFits)) throw here;
    const user = (await usersOf(ref, ports)).boundTo.get(text);
    if (user !== undefined) return { member: user.member };
    const found = await findAmongAll(connection.name, text, ports).catch((error: unknown) => {
      if (error instanceof NotFound) return error;
      throw error;
    });
    if (!(found instanceof NotFound)) return { member: found, isOutside: true };
    const says = !(found instanceof NothingFits) || found.message.includes('; is it ');
    return { member: id, isOutside: true, stranger: says ? found : here };
  }
}

/** A member, and who that is on the platform. */
interface Who {
  readonly member: MemberId;
  readonly register: StoredMember | undefined;
  readonly user: UserState | undefined;
  readonly rules: readonly ExplainedRule[];
  readonly person: Person | undefined;
  readonly platformUser: string | undefined;
  readonly cause: MemberStanding['cause'];
}

async function identify(member: MemberId, { ref }: GroupState, connection: Connection, ports: ExplainPorts) {
  const { name, settings } = connection;
  const [[register], users] = await Promise.all([
    ports.groups.registers(ref, [member]),
    ports.users.read(name, [member]),
  ]);
  const user = users.get(member);
  const { role, userId } = register?.user ?? {};
  const copied = { ...(role !== undefined && { role }), ...(userId !== undefined && { userId }) };
  const described = user ?? { ...undescribed(member), ...copied };
  const refusedRevision = refusedRevisionOf(register?.pending, ports.clock());
  const [rules, { cause, person }] = await Promise.all([
    tryRules(connection, member, user, ports),
    standingNow(described, refusedRevision, { connection, people: ports.people }),
  ]);
  const platformUser = person && standingOf(person, undefined, settings).id;
  return { member, register, user, rules, person, platformUser, cause };
}

/** Where apply does not even read what the directory wants, a person still wants to know. */
const withWords = (facts: Facts, connection: Connection, ports: ExplainPorts): Promise<Facts> =>
  facts.wanted !== undefined && facts.views !== undefined
    ? Promise.resolve(facts)
    : learn({ kind: 'read', what: ['wanted', 'views'] }, facts, readingOf(facts.state, connection, ports));

/** What keeps every write of the group back. */
function obstacleTo(state: GroupState, connection: Connection, gate: string): Verdict | undefined {
  if (connection.observing)
    return { outcome: 'observing', detail: 'the connection only observes: groupsync resume' };
  const { group } = state.ref;
  if (state.paused)
    return { outcome: 'paused', detail: `the group is paused: groupsync resume ${shellWords(group)}` };
  if (policyFor(connection.settings, group, state.registers.name?.value).mode === 'report')
    return { outcome: 'observing', detail: 'the settings have this group only watched (mode report)' };
  if (gate === 'open') return undefined;
  return { outcome: 'gate_closed', detail: `nothing is written while the gate is ${gate}: groupsync doctor` };
}

function whyPending({ cause, user, rules, person, register }: Who, { settings }: Connection): string {
  if (cause === 'solved' && register?.pending?.unshown !== undefined)
    return 'the platform did not show them in its answer to our write; they are sent with each write, and at least once an hour';
  switch (cause) {
    case 'solved':
      return '';
    case 'refused':
      return 'the platform refuses each write that adds them; they are tried again once a day';
    case 'ambiguous': {
      const several = rules.find(({ found }) => found.length > 1);
      return user?.role !== undefined || several === undefined
        ? `their attributes now point to somebody else than ${user?.role ?? 'before'}`
        : `several employees have the same ${several.rule.split('=')[1]}`;
    }
    case 'inactive':
      return person?.state === GONE
        ? 'the platform has no such employee any more: it answers 404 to their id'
        : `their roleState is ${person?.state}; members may be ${settings.includeStates.join(', ')}`;
    case 'unknown': {
      if (person !== undefined) return `the platform does not tell the userId of ${person.role}`;
      if (user?.role !== undefined)
        return `no refresh of people has met ${user.role}, whom they are bound to`;
      const values = rules.filter(({ value }) => value !== null);
      return values.length === 0
        ? `no event gave them an attribute that a match rule uses (${rules.map(({ rule }) => rule).join(', ')})`
        : `no employee has this value: ${values.map(({ rule, value }) => `${rule} "${value}"`).join(', ')}`;
    }
  }
}

async function tryRules(
  { name, settings }: Connection,
  member: MemberId,
  user: UserState | undefined,
  { people }: ExplainPorts,
): Promise<readonly ExplainedRule[]> {
  const tries = matchRules(settings).map(async ({ memberAttribute, employeeField }) => {
    const value = memberAttribute === 'id' ? member : user?.attributes.get(memberAttribute)?.value;
    const field = fieldName(employeeField);
    const found = value === undefined ? [] : await people.holding(name, field, matchForm(field, value));
    const holders = found.map(({ role, state }) => ({ id: role, state }));
    return { rule: `${memberAttribute}=${field}`, value: value ?? null, found: holders };
  });
  return Promise.all(tries);
}

function eventsOf(state: GroupState, { register, user }: Who): readonly ExplainedEvent[] {
  const words: readonly Word[] = [
    ...(register === undefined ? [] : [{ ...register, register: 'member', says: register.value }]),
    ...wordsOfGroup(state.registers),
    { register: 'user.deleted', says: 'the user was deleted', stamp: user?.floor ?? STAMP_ZERO },
  ];
  return words.flatMap(({ register, says, stamp, actor }) => {
    const event = stamp === STAMP_ZERO ? undefined : readStamp(stamp);
    if (event === undefined) return [];
    const { id, source, time } = event;
    return [{ register, says, id, source, time, actor: actor === undefined ? null : shownActor(actor) }];
  });
}

/** Whom the platform knows by that address or id; a user id stands for itself. */
async function withStranger(
  who: Who,
  text: string,
  { name, settings }: Connection,
  { people }: ExplainPorts,
): Promise<Who> {
  const fields = matchRules(settings).map(({ employeeField }) => fieldName(employeeField));
  const holding = fields.map((field) => people.holding(name, field, matchForm(field, text)));
  const byId = (await people.read(name, [roleId(text)])).get(roleId(text));
  const found = (await Promise.all(holding)).map((roles) => personsOf(roles, settings));
  const person = who.person ?? byId ?? found.find(({ length }) => length === 1)?.[0]?.[0];
  const platformUser = person === undefined ? text : standingOf(person, undefined, settings).id;
  return { ...who, person, platformUser };
}

const MOST_ENTRIES = 20;

/** The newest of what was written about them in this group, and of what others did, newest last. */
const entriesAbout = async (
  { connection, group }: GroupRef,
  { member, platformUser }: Who,
  ports: ExplainPorts,
) => {
  const ids = new Set([member, platformUser].filter((id) => id !== undefined));
  return (await readLog(connection, { group, member: ids, limit: MOST_ENTRIES }, ports)).entries;
};

/** undefined where nobody has put them in on the platform. */
function sayByHand(entries: readonly LogEntry[], { platformUser }: Who): string | undefined {
  const added = entries.findLast(({ action }) => action === 'drift_members_added');
  if (added === undefined) return undefined;
  const { id, name } = added.actor;
  const out = entries.find(
    ({ at, changes }) =>
      at > added.at && changes.some(({ before, after }) => before === platformUser && after === null),
  );
  const end = out === undefined ? '' : `, taken out again at ${out.at}`;
  return `added by hand on the platform by ${name === null ? id : `${name} (${id})`} at ${added.at}${end}`;
}

/** The newest write that put them in or took them out. */
function lastWrite(entries: readonly LogEntry[], { member, platformUser }: Who): Explanation['write'] {
  const write = entries.findLast(({ actor }) => actor.kind !== 'platform');
  const change = write?.changes.find(
    (one) => one.member === member || one.before === platformUser || one.after === platformUser,
  );
  if (write === undefined || change === undefined) return null;
  const { at, action, cause, versionBefore, versionAfter, outcome } = write;
  return { at, action, reason: change.reason, cause, versionBefore, versionAfter, outcome };
}
