import type { GroupId, MemberId } from '../domain/ids.ts';
import { boundToOf, personsBoundTo } from './bound-person.ts';
import { atOnce, gather } from './gather.ts';
import { refusedRevisionOf, standingNow } from './member-standing.ts';
import type { PeoplePorts } from './ports/bundles.ts';
import type { Connection } from './ports/connections.ts';
import { type UserState, undescribed } from './ports/desired.ts';
import type { PeopleStore, Person } from './ports/people.ts';
import { READS_IN_FLIGHT, WRITES_IN_FLIGHT } from './tuning.ts';
import { wakeAll } from './wake.ts';
import { walkUser } from './walk.ts';

/**
 * Wakes the groups of all members who are bound to the persons of these roles. If a binding names a role that is no longer
 * decisive, it is first changed to the decisive role. Then `askUnlisted` asks for the role that keeps the member in.
 * @throws Error if a group could not be woken
 */
export async function wakeMembersOf(
  connection: Connection,
  roles: readonly Person[],
  ports: PeoplePorts,
): Promise<readonly GroupId[]> {
  const { name } = connection;
  const members = await membersBoundTo(connection, roles, ports);
  const known = await ports.users.read(name, members);
  const users = members.map((member) => known.get(member) ?? undescribed(member));
  const persons = await personsBoundTo(users, connection, ports.people);
  const walking: UserState[] = [];
  const groups = new Set<GroupId>();
  await atOnce(WRITES_IN_FLIGHT, users.entries(), async ([at, user]) => {
    const walked = await followed(user, persons[at], connection, ports);
    if (walked !== undefined) walking.push(walked);
    const reached =
      walked === undefined
        ? await gather(ports.users.groupsOf(name, user.member))
        : await walkUser(ports.users, name, walked);
    for (const group of reached) groups.add(group);
  });
  await wakeAll(
    [...groups].map((group) => ({ connection: name, group })),
    ports,
  );
  await atOnce(WRITES_IN_FLIGHT, walking, ({ member, revision }) =>
    ports.users.endWalk(name, member, revision),
  );
  return [...groups];
}

/** Members that are, or once were, bound to a role of these persons, or to the user that a role had before. */
async function membersBoundTo(
  { name, settings }: Connection,
  roles: readonly Person[],
  { people }: PeoplePorts,
): Promise<readonly MemberId[]> {
  const all = new Set(roles.map(({ role }) => role));
  if (settings.memberIdField === 'userId') {
    const users = new Set(roles.flatMap(({ userId, formerUserId }) => [userId, formerUserId]));
    const found = await atOnce(READS_IN_FLIGHT, users, (userId) =>
      userId === undefined ? [] : people.ofUser(name, userId),
    );
    for (const { role } of found.flat()) all.add(role);
  }
  const members = await atOnce(READS_IN_FLIGHT, all, (role) => gather(people.membersBoundTo(name, role)));
  return [...new Set(members.flat())];
}

/** @returns the user after the change, if its binding named another role or user than the decisive one */
async function followed(
  { member, role, userId }: UserState,
  person: Person | undefined,
  { name, settings }: Connection,
  { users }: PeoplePorts,
): Promise<UserState | undefined> {
  if (settings.memberIdField === 'id' || role === undefined || person === undefined) return undefined;
  const to = boundToOf(person);
  if (to.role === role && (to.userId ?? userId) === userId) return undefined;
  return users.followRole(name, member, role, to);
}

/** Groups with a pending member who would no longer be pending, or would be pending for another reason. */
export async function groupsOfSolvable(
  connection: Connection,
  ports: PeoplePorts,
): Promise<readonly GroupId[]> {
  const groups: GroupId[] = [];
  const asked = new Map<string, ReturnType<PeopleStore['holding']>>();
  // A member who is pending in many groups is searched for only once.
  const holding: PeopleStore['holding'] = (name, field, value) => {
    const found = asked.get(`${field} ${value}`) ?? ports.people.holding(name, field, value);
    asked.set(`${field} ${value}`, found);
    return found;
  };
  const people = { ...ports.people, holding };
  for await (const page of ports.index.pending(connection.name)) {
    const members = page.map(({ member }) => member);
    const known = await ports.users.read(connection.name, members);
    const solved = await atOnce(WRITES_IN_FLIGHT, page, async (entry) => {
      // A member without any event of its own can still be found by its id.
      const user = known.get(entry.member) ?? undescribed(entry.member);
      const refused = refusedRevisionOf(entry, ports.clock());
      const { cause } = await standingNow(user, refused, { connection, people });
      return cause === entry.cause ? [] : [entry.ref.group];
    });
    groups.push(...solved.flat());
  }
  return groups;
}
