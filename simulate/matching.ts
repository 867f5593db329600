import { addressOf, numberOf } from './messages.ts';
import type { HeldEmployee } from './platform/platform.ts';
import type { Reading } from './reading.ts';
import type { CompanyAction, Happening, SimulationRun } from './simulation-run.ts';

export interface ExpectedUsers {
  /** The ids that the platform group should have in `users`. This includes the ids of matched members in `unsure`. */
  readonly users: ReadonlySet<string>;
  /** The person of each member. A pending member has no entry. */
  readonly userOf: ReadonlyMap<string, string>;
  readonly pending: ReadonlyMap<string, Cause>;
  /**
   * Members whose data an operator erased, members that have no value but were bound by an operator, members with a
   * contested value (`contestedValues`), and members of a person who may be blocked. Such a member may be pending, or
   * bound to an earlier holder.
   */
  readonly unsure: ReadonlySet<string>;
  /** The ids of all persons that a member in `unsure` may be bound to. */
  readonly may: ReadonlySet<string>;
}

/**
 * For each contested value (`valueKey`), the roles that may match the value. If the HR system removed the user id of a
 * role, the entry of the role contains the removed id.
 */
export type Contested = ReadonlyMap<string, ReadonlyMap<string, string | undefined>>;

/** Returns the key of an address or of an employee number. The key ignores the case of an address. */
const valueKey = (kind: 'address' | 'number', value: string): string =>
  `${kind} ${kind === 'address' ? folded(value) : value}`;

/** The employees by value (`valueKey`) and by user. */
interface Holders {
  readonly byValue: ReadonlyMap<string, readonly HeldEmployee[]>;
  readonly byUser: ReadonlyMap<string, readonly HeldEmployee[]>;
}

export function holdersAmong(employees: Iterable<HeldEmployee>): Holders {
  const byValue = new Map<string, HeldEmployee[]>();
  const byUser = new Map<string, HeldEmployee[]>();
  const add = (to: Map<string, HeldEmployee[]>, key: string, one: HeldEmployee) =>
    to.set(key, [...(to.get(key) ?? []), one]);
  for (const one of employees) {
    add(byValue, valueKey('address', one.email ?? ''), one);
    if (one.number !== undefined) add(byValue, valueKey('number', one.number), one);
    if (one.userId !== null) add(byUser, one.userId, one);
  }
  return { byValue, byUser };
}

interface Who {
  readonly holders: Holders;
  readonly settings: {
    readonly includeStates?: readonly string[];
    readonly memberIdField?: 'userId' | 'id';
    readonly match?: readonly string[];
    /** Conditions of the form `email=ADDRESS`. */
    readonly people?: { readonly exclude: readonly string[] } | undefined;
  };
  readonly contested?: Contested;
  /** Bindings that operators set. A member without an address can be bound only in this way. */
  readonly rebound?: readonly { readonly member: string; readonly role: string }[];
  /** Members whose data an operator erased. Only a bound one certainly stays bound. */
  readonly forgotten?: ReadonlySet<string>;
  /** The ids of people that an operator certainly blocked. */
  readonly blocked?: ReadonlySet<string>;
  /** The ids of people that may be blocked. This includes the ids in `blocked`. */
  readonly maybeBlocked?: ReadonlySet<string>;
}

type Cause = 'unknown' | 'inactive' | 'ambiguous' | 'blocked';

type Found = { readonly id: string } | { readonly cause: Cause };

/** The states of employees that the platform lists by default. */
const LISTED_STATES: ReadonlySet<string> = new Set(['ACTIVE', 'TERMINATED']);

/** Returns three functions. `who` receives all roles that share an address or number, and chooses the person. */
function choosing(holders: Holders, settings: Who['settings']) {
  const { includeStates = ['ACTIVE'], memberIdField = 'userId' } = settings;
  const idOf = ({ role, userId }: HeldEmployee) => (memberIdField === 'id' ? role : userId);
  // The platform lists future roles only if a request asks for all states. Without such a request, groupsync does not
  // know these roles and their users.
  const asksForAll = includeStates.some((state) => !LISTED_STATES.has(state));
  const isListed = ({ state }: HeldEmployee) => asksForAll || LISTED_STATES.has(state);
  /** Returns all roles of the person who has this role. */
  const rolesOf = (one: HeldEmployee): readonly HeldEmployee[] =>
    memberIdField === 'id' || one.userId === null || !isListed(one)
      ? [one]
      : (holders.byUser.get(one.userId) ?? [one]);
  const mayBeMember = (one: HeldEmployee) => rolesOf(one).some(({ state }) => includeStates.includes(state));
  const isActive = ({ state }: HeldEmployee) => state === 'ACTIVE';
  const personsOf = (found: readonly HeldEmployee[]) => [
    ...new Map(found.map((one) => [idOf(one) ?? `role ${one.role}`, one])).values(),
  ];
  const who = (found: readonly HeldEmployee[]): Found => {
    if (found.length === 0) return { cause: 'unknown' };
    const persons = personsOf(found);
    const holding = personsOf(found.filter(isActive));
    const active = holding.length > 0 ? holding : persons.filter((one) => rolesOf(one).some(isActive));
    const [person, ...others] = persons.length > 1 ? active : persons;
    if (person === undefined || others.length > 0) return { cause: 'ambiguous' };
    if (!mayBeMember(person)) return { cause: 'inactive' };
    const id = idOf(person);
    return id == null ? { cause: 'unknown' } : { id };
  };
  return { who, idOf, mayBeMember };
}

/** Matches the members of one group with employees, one rule after the other. */
export function expectedUsers(
  reading: Reading,
  group: string,
  {
    holders,
    settings,
    contested,
    rebound = [],
    forgotten = new Set(),
    blocked = new Set(),
    maybeBlocked = blocked,
  }: Who,
): ExpectedUsers {
  const { match = [BY_ADDRESS] } = settings;
  const { who, idOf, mayBeMember } = choosing(holders, settings);
  const pending = new Map<string, Cause>();
  const userOf = new Map<string, string>();
  const unsure = new Set<string>();
  const possible = new Map<string, string | undefined>();
  for (const member of reading.groups.get(group)?.members ?? []) {
    if (reading.inactive.has(member)) continue;
    // An erased member may have lost the address that excludes the member.
    if (excludes(settings, reading.emails.get(member)) && !forgotten.has(member)) continue;
    const values = valuesOf(member, reading, match);
    const holding = values.map((value) => holders.byValue.get(value) ?? []);
    const bindings = rebound.filter((one) => values.length === 0 && one.member === member);
    const left = forgotten.has(member) ? holding.flat() : [];
    const roles = [
      ...[...bindings, ...left].map(({ role }) => [role, undefined] as const),
      ...values.flatMap((value) => [...(contested?.get(value) ?? [])]),
    ];
    for (const [role, previousUser] of roles) possible.set(role, previousUser);
    // The first rule that finds an employee decides. Later rules have no effect.
    const found = unlessBlocked(who(holding.find((some) => some.length > 0) ?? []), blocked);
    if ('id' in found) userOf.set(member, found.id);
    else pending.set(member, found.cause);
    const mayBeBlocked = holding.flat().some(({ role }) => maybeBlocked.has(role));
    const isUnsure = mayBeBlocked && pending.get(member) !== 'blocked';
    if (roles.length > 0 || forgotten.has(member) || isUnsure) unsure.add(member);
  }
  const all = possible.size === 0 ? [] : [...holders.byValue.values()].flat();
  const may = all.filter((one) => possible.has(one.role) && mayBeMember(one));
  const mayIds = may.flatMap((one) => idOf(one) ?? possible.get(one.role) ?? []);
  return { users: new Set(userOf.values()), userOf, pending, unsure, may: new Set(mayIds) };
}

const unlessBlocked = (found: Found, blocked: ReadonlySet<string>): Found =>
  'id' in found && blocked.has(found.id) ? { cause: 'blocked' } : found;

const excludes = ({ people }: Who['settings'], email = ''): boolean =>
  people?.exclude.some((condition) => folded(condition) === folded(`email=${email}`)) ?? false;

const BY_ADDRESS = 'email=workEmail';
const BY_NUMBER = 'employeeNumber=employeeNumber';

function valuesOf(member: string, { emails, numbers }: Reading, match: readonly string[]): readonly string[] {
  const valuesBy = (rule: string) => {
    if (rule === BY_ADDRESS) return emails;
    return rule === BY_NUMBER ? numbers : undefined;
  };
  return match.flatMap((rule) => {
    const value = valuesBy(rule)?.get(member);
    if (value === undefined || value.trim() === '') return [];
    return [valueKey(rule === BY_ADDRESS ? 'address' : 'number', value)];
  });
}

/**
 * Returns the contested addresses and employee numbers (`valueKey`), each with the roles that may match. A value is
 * contested if it changes, if it moves to another person, or if an operator binds its member to another person. A
 * member keeps an earlier binding, so the correct person depends on the order in time. If a role loses its user id, its
 * values are contested too, because groupsync may keep the id.
 */
export function contestedValues(run: SimulationRun, connection: string): Contested {
  const contested = new Map<string, ReadonlyMap<string, string | undefined>>();
  const userIdOf = furtherRolesIn(run, connection);
  const previousUsers = previousUsersIn(run);
  for (const all of connectedIn(holdings(run, connection))) {
    const named = (kind: string) =>
      [...all].filter((one) => one.startsWith(kind)).map((one) => one.slice(kind.length));
    const [addresses, numbers] = [named('address '), named('number ')];
    const [roles, members] = [named('person '), named('member ')];
    const persons = new Set(roles.map((role) => userIdOf.get(role) ?? role));
    const isPlain = addresses.length < 2 && numbers.length < 2 && persons.size < 2 && members.length < 2;
    if (isPlain && !roles.some((role) => previousUsers.has(role))) continue;
    const meant = new Map(roles.map((role) => [role, previousUsers.get(role)]));
    for (const address of addresses) contested.set(valueKey('address', address), meant);
    for (const number of numbers) contested.set(valueKey('number', number), meant);
  }
  return contested;
}

/**
 * Returns the connected sets. Each set contains values and their holders. Two values are connected if they have a
 * common holder, or if each is connected with the same third value.
 */
function connectedIn(held: readonly Holding[]): readonly ReadonlySet<string>[] {
  const neighbours = new Map<string, Set<string>>();
  const meet = (one: string, other: string) =>
    neighbours.set(one, (neighbours.get(one) ?? new Set()).add(other));
  for (const [value, holder] of held) {
    if (value === undefined) continue;
    meet(value, holder);
    meet(holder, value);
  }
  const found: ReadonlySet<string>[] = [];
  const met = new Set<string>();
  for (const start of neighbours.keys()) {
    if (met.has(start)) continue;
    const all = new Set([start]);
    for (const one of all) for (const next of neighbours.get(one) ?? []) all.add(next);
    for (const one of all) met.add(one);
    found.push(all);
  }
  return found;
}

/** For each role whose user also has another role, returns this user. */
function furtherRolesIn(
  { connections, happenings }: SimulationRun,
  connection: string,
): ReadonlyMap<string, string> {
  const holdsRoles = connections.find(({ name }) => name === connection)?.settings['memberIdField'] === 'id';
  const further = happenings.flatMap(({ action }): (readonly [string, string])[] =>
    action.kind === 'hire' && action.person.userId ? [[action.person.role, action.person.userId]] : [],
  );
  if (holdsRoles || further.length === 0) return new Map();
  const users = new Set(further.map(([, userId]) => userId));
  const first = [...users].map((userId) => [userId.replace(/^u-/, ''), userId] as const);
  return new Map([...first, ...further]);
}

function previousUsersIn({ happenings }: SimulationRun): ReadonlyMap<string, string> {
  const losers = happenings.flatMap(({ action }) => (action.kind === 'lose_user_id' ? [action.role] : []));
  const changed = new Map(
    happenings.flatMap(({ action }) =>
      action.kind === 'change_user_id' ? [[action.role, action.userId] as const] : [],
    ),
  );
  return new Map(losers.map((role) => [role, changed.get(role) ?? `u-${role}`]));
}

type Holding = readonly [value: string | undefined, holder: string];

const address = (email: string | null | undefined): string | undefined =>
  email == null ? undefined : valueKey('address', email);
const numbered = (number: string | undefined): string | undefined =>
  number === undefined ? undefined : valueKey('number', number);

function holdings(run: SimulationRun, connection: string): readonly Holding[] {
  const company = run.connections.find(({ name }) => name === connection)?.company;
  const colleagues = run.connections.filter((one) => one.company === company);
  return [
    ...colleagues.flatMap(({ people }) =>
      people.flatMap(({ role, email, number }): Holding[] => [
        [address(email), `person ${role}`],
        [numbered(number), `person ${role}`],
      ]),
    ),
    ...run.happenings.flatMap((one): readonly Holding[] => {
      if (one.actor === 'company') {
        return colleagues.some(({ name }) => name === one.connection) ? holdingsInCompany(one.action) : [];
      }
      return one.connection === connection ? holdingsInDirectory(one) : [];
    }),
  ];
}

function holdingsInCompany(action: CompanyAction): readonly Holding[] {
  if (action.kind === 'hire') {
    const { role, email, number } = action.person;
    return [
      [address(email), `person ${role}`],
      [numbered(number), `person ${role}`],
    ];
  }
  if (action.kind === 'renumber') return [[numbered(action.number), `person ${action.role}`]];
  return action.kind === 'readdress' ? [[address(action.email), `person ${action.role}`]] : [];
}

function holdingsInDirectory({ connection, action }: Happening): readonly Holding[] {
  if (action.kind === 'profile')
    return [
      [address(action.email), `member ${action.member}`],
      [numbered(action.number), `member ${action.member}`],
    ];
  if (action.kind === 'rebind') {
    const values = [
      address(addressOf(action.member, connection)),
      numbered(numberOf(action.member, connection)),
    ];
    // The person and the member both count as holders of the value.
    const holders = [`person ${action.role}`, `member rebound ${action.member}`];
    return values.flatMap((value) => holders.map((one): Holding => [value, one]));
  }
  const members = 'members' in action ? action.members : [];
  return members.flatMap((id): Holding[] => [
    [address(addressOf(id, connection)), `member ${id}`],
    [numbered(numberOf(id, connection)), `member ${id}`],
  ]);
}

/** Returns the address without surrounding spaces, and with its ASCII letters in lower case. */
const folded = (email: string): string => email.trim().replace(/[A-Z]/g, (capital) => capital.toLowerCase());
