import type { PersonReport } from '../contract/answers/explain.ts';
import type { PersonAt } from '../contract/answers/groups.ts';
import { blockOf } from '../domain/block.ts';
import { type MemberId, memberId } from '../domain/ids.ts';
import { stampTimeMs } from '../domain/stamp.ts';
import { personsOf } from '../plan/person.ts';
import { compareText } from '../plan/plan.ts';
import { personsBoundTo } from '../sync/match/resolve.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { collectPages, mapConcurrently, READS_IN_FLIGHT } from '../sync/tuning.ts';
import { explainMember } from './explain.ts';
import { findMember, groupsOfMember, membersHolding } from './find-member.ts';
import { journalOf } from './journal.ts';
import { readLog } from './log.ts';
import { allGroups, formatPerson, NotFound } from './names.ts';
import { listPastMembers } from './past.ts';
import { blockRow } from './who.ts';

/**
 * The maximum number of groups in the report, because each is planned completely. `explain` can show further groups.
 */
const MOST_GROUPS = 200;
const AT_ONCE = 8;
const MOST_ACTIONS = 20;

/**
 * Reports one member of the directory: the person on the platform, operators' actions about the person, and the groups
 * that may contain the person through any member (at most `MOST_GROUPS`), with the outcome and its reason.
 * @param text the member's id, or a value of one of its attributes. For a bound member, the text may also be a value of
 * the employee that a match rule compares, such as an address
 * @throws NotFound
 */
export async function reportPerson(
  text: string,
  connection: Connection,
  ports: ToolPorts,
): Promise<PersonReport> {
  const { name } = connection;
  const member = await findPerson(text, connection, ports);
  const members = await membersOfEmployee(member, connection, ports);
  const groupsOf = await mapConcurrently(AT_ONCE, members, async (id) =>
    (await groupsOfMember(name, id, ports)).toSorted().map((group) => ({ group, id })),
  );
  const named = groupsOf.flat();
  const memberships = named
    .slice(0, MOST_GROUPS)
    .map(({ group, id }) => ({ ref: { connection: name, group }, id }));
  const refs = memberships.map(({ ref }) => ref);
  const [[scim], users, states, { entries: actions }, explained] = await Promise.all([
    ports.scim.read(name, 'User', [member]),
    ports.users.read(name, [member]),
    ports.groups.readMany(refs, () => {}),
    readLog(name, { group: journalOf(name).group, member: new Set(members), limit: MOST_ACTIONS }, ports),
    mapConcurrently(AT_ONCE, memberships, ({ ref, id }) => explainMember(ref, id, { connection, ports })),
  ]);
  const user = users.get(member);
  const storedAttributes = [...(user?.attributes ?? [])].map(([key, { value, stamp }]) => {
    return [key, { value, at: new Date(stampTimeMs(stamp)).toISOString() }] as const;
  });
  const [person] = await personsBoundTo([user ?? {}], connection, ports.people);
  const block = blockOf(connection.blocks, { ...(person ?? user), member });
  const nameOf = new Map(states.map(({ ref, registers }) => [String(ref.group), registers.name?.value]));
  return {
    member,
    members,
    name: (user && formatPerson(user.attributes)) ?? null,
    bound: user?.role ?? null,
    person: person ? { id: person.role, userId: person.userId ?? null, state: person.state } : null,
    attributes: Object.fromEntries(storedAttributes),
    values: Object.fromEntries(person ? person.values : []),
    scim: (scim?.attributes ?? null) as PersonReport['scim'],
    groups: explained.map(({ group, member: as, wanted, present, decision, because, events, write }) => {
      const event = events.find(({ register }) => register === 'member') ?? null;
      const { outcome } = decision;
      const name = nameOf.get(group) ?? null;
      return { group, name, member: as, wanted, present, outcome, because, event, write };
    }),
    moreGroups: named.length - memberships.length,
    blocked: block === undefined ? null : blockRow(block),
    actions,
  };
}

/**
 * Reports the groups in which a person was at a past time, or may have been.
 * @param isThorough searches every group; false: the groups in which an event has named the person
 * @throws NotFound
 */
export async function reportPersonAt(
  text: string,
  { atMs, isThorough }: { readonly atMs: number; readonly isThorough: boolean },
  connection: Connection,
  ports: ToolPorts,
): Promise<PersonAt> {
  const { name } = connection;
  const nowMs = ports.clock();
  const member = await findPerson(text, connection, ports);
  const members = await membersOfEmployee(member, connection, ports);
  const named = await mapConcurrently(AT_ONCE, members, (id) => groupsOfMember(name, id, ports));
  const refs = isThorough
    ? await allGroups(name, ports)
    : named.flat().map((group) => ({ connection: name, group }));
  const pasts = await mapConcurrently(AT_ONCE, refs, (ref) =>
    listPastMembers(ref, [atMs], ports, members).catch((error: unknown) => {
      // Of such a group, only the item of the index is left.
      if (!(error instanceof NotFound)) throw error;
      return { group: String(ref.group), name: null, known: false, knownSince: null, members: [] };
    }),
  );
  // Several of the groups may have been one platform group, before and after a takeover.
  const ofGroup = new Map(pasts.map((past) => [past.group, past]));
  const groups = [...ofGroup.values()].flatMap(({ group, name, known, knownSince, members: then }) => {
    const own = then.filter((row) => row.member !== null && members.includes(memberId(row.member)));
    const row = own.find(({ states }) => states.includes('in')) ?? own[0];
    if (known && row === undefined) return [];
    const { user = null, changedBetween = null } = row ?? {};
    const state = changedBetween === null ? ('in' as const) : ('uncertain' as const);
    return { group, name, user, state: row ? state : ('unknown' as const), changedBetween, knownSince };
  });
  const user = (await ports.users.read(name, [member])).get(member);
  return {
    member,
    members,
    name: (user && formatPerson(user.attributes)) ?? null,
    time: new Date(atMs).toISOString(),
    knownUntil: atMs > nowMs ? new Date(nowMs).toISOString() : null,
    groups: groups.toSorted((a, b) => compareText(a.group, b.group)),
  };
}

/** Several members with one address are one person if they are bound to one employee. @throws NotFound */
async function findPerson(text: string, connection: Connection, ports: ToolPorts): Promise<MemberId> {
  return findMember(connection.name, text, ports).catch(async (error: unknown) => {
    const holding = await membersHolding(text, connection, ports);
    const [first] = holding;
    const own = first === undefined ? [] : await membersOfEmployee(first, connection, ports);
    if (first === undefined || !holding.every((one) => own.includes(one))) throw error;
    return first;
  });
}

/**
 * Returns the member, and all other members that are bound to the same person. For example, an employee has one member
 * for each source of the connection. The given member is first.
 */
export async function membersOfEmployee(
  member: MemberId,
  connection: Connection,
  { users, people }: Pick<ToolPorts, 'users' | 'people'>,
): Promise<readonly MemberId[]> {
  const { name, settings } = connection;
  const user = (await users.read(name, [member])).get(member);
  if (user?.role === undefined) return [member];
  const roles = await people.rolesOf(name, user);
  const bindings = await mapConcurrently(READS_IN_FLIGHT, roles, ({ role }) =>
    collectPages(people.membersBoundTo(name, role)),
  );
  const ids = new Set(bindings.flat().map((binding) => binding.member));
  ids.delete(member);
  // The bindings include former bindings, so the person of each member is read.
  const others = [...(await users.read(name, [...ids])).values()].filter(({ role }) => role !== undefined);
  const [own, ...persons] = await personsBoundTo([user, ...others], connection, people);
  const isSame = (at: number) => {
    const person = persons[at];
    return own !== undefined && person !== undefined && personsOf([own, person], settings).length === 1;
  };
  const same = others.filter((_, at) => isSame(at)).map((one) => one.member);
  return [member, ...same.toSorted(compareText)];
}
