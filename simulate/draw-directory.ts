import { actsOf } from './acts.ts';
import { roleOf, type Town } from './draw-people.ts';
import { BY_REQUEST, drawScimGroups } from './draw-scim.ts';
import { between, type Random, some, weighted } from './random.ts';
import {
  type CompanyAction,
  DAY_MS,
  type DirectoryAction,
  type Happening,
  HOUR_MS,
  MINUTE_MS,
  type Way,
} from './simulation-run.ts';

export interface Rhythm {
  readonly happenings: readonly Happening[];
  /** Groups that many people leave at the same time. Each such change may cause a hold. */
  readonly leavings: readonly { readonly atMs: number; readonly group: string }[];
  /** The times of messages that ingest will refuse. */
  readonly refusals: readonly number[];
}

const OF_GROUPS = { join: 30, leave: 20, rename: 6, snapshot: 10, delete: 3, recreate: 4, massLeaving: 3 };
const OF_PEOPLE = { hire: 6, terminate: 5, handOn: 3, readdress: 2, person: 3 };
/** The weight of each kind of happening. */
const KINDS = { ...OF_GROUPS, ...OF_PEOPLE, burst: 1.5, again: 3, refused: 1.5 };
type Kind = keyof typeof KINDS;

interface Plan {
  readonly actions: number;
  readonly endMs: number;
}

/** Draws the ordinary happenings of one directory and its company. */
export function drawRhythm(random: Random, town: Town, { actions, endMs }: Plan): Rhythm {
  const scenario = createScenario(random, town, endMs);
  scenario.begin();
  const times = Array.from({ length: actions }, () => between(random, HOUR_MS, endMs - HOUR_MS)).sort(
    (a, b) => a - b,
  );
  for (const atMs of times) scenario.send[weighted<Kind>(random, KINDS)](atMs, scenario.existing());
  if (random.chance(1 / 15)) scenario.flood(between(random, HOUR_MS, endMs - HOUR_MS));
  return scenario;
}

function createScenario(
  random: Random,
  { name: connection, groups: ids, count, hasScim, people }: Town,
  endMs: number,
) {
  const happenings: Happening[] = [];
  const leavings: { atMs: number; group: string }[] = [];
  const refusals: number[] = [];
  const roles = new Set(people.map(({ role }) => role));
  const isHere = (id: string) => roles.has(roleOf(connection, id));
  // Some of these members match no employee.
  const everybody = [
    ...Array.from({ length: count }, (_, index) => `p${index}`),
    ...Array.from({ length: count }, (_, index) => `h${index}`).filter(isHere),
  ];
  const groups = new Map<string, Set<string>>();
  let newcomers = count;
  let names = 0;

  const company = (atMs: number, action: CompanyAction) =>
    happenings.push(actsOf(connection).company(atMs, action));
  const happen = (atMs: number, action: DirectoryAction, way: Way = drawWay(random, action, endMs - atMs)) =>
    happenings.push(actsOf(connection).event(atMs, action, way));
  const soon = (atMs: number, longestMs = HOUR_MS) => atMs + between(random, 0, longestMs);
  const nameOf = (group: string): string => {
    names += 1;
    const name = `${random.pick(['Team', 'Crew', 'Squad', 'Ward'])} ${group.toUpperCase()} ${names} ${connection}`;
    return random.chance(0.12) ? random.pick([`${name} `, ` ${name}`, `${name}  x`]) : name;
  };
  const membersOf = (group: string): Set<string> => {
    const members = groups.get(group) ?? new Set();
    groups.set(group, members);
    return members;
  };
  const change = (kind: 'join' | 'leave') => (group: string, members: readonly string[], atMs: number) => {
    if (members.length === 0) return;
    for (const member of members) membersOf(group)[kind === 'join' ? 'add' : 'delete'](member);
    happen(atMs, { kind, group, members });
  };
  const join = change('join');
  const leave = change('leave');
  const snapshot = (group: string, members: readonly string[], atMs: number, name: string | null) => {
    groups.set(group, new Set(members));
    const parts = random.chance(0.8) || members.length < 2 ? 1 : between(random, 2, 4);
    happen(atMs, { kind: 'snapshot', group, name, members, parts });
  };
  const appear = (group: string, atMs: number) => {
    const most = random.chance(0.1) ? 60 : 14;
    const members = some(random, everybody, between(random, 1, Math.min(most, everybody.length)));
    if (random.chance(0.7)) snapshot(group, members, atMs, nameOf(group));
    else {
      const namedAt = soon(atMs, 5 * MINUTE_MS);
      join(group, members, soon(atMs, 5 * MINUTE_MS));
      happen(namedAt, { kind: 'name', group, name: nameOf(group) });
    }
  };
  /** Removes a leaver from all groups at the same time, or from one group after the other. */
  const goAway = (member: string, atMs: number) => {
    const place = everybody.indexOf(member);
    if (place >= 0) everybody.splice(place, 1);
    const groupsOfMember = [...groups].filter(([, members]) => members.has(member)).map(([group]) => group);
    if (random.chance(0.5)) {
      for (const group of groupsOfMember) membersOf(group).delete(member);
      happen(atMs, { kind: 'forget', member });
    } else for (const group of groupsOfMember) leave(group, [member], soon(atMs));
  };
  const come = (member: string, email: string, atMs: number) => {
    if (member.startsWith('h')) happen(atMs, { kind: 'profile', member, email });
    const joined = some(random, [...groups.keys()], between(random, 1, 3));
    for (const group of joined) join(group, [member], soon(atMs));
    everybody.push(member);
    const person = { role: roleOf(connection, member), email };
    company(soon(atMs - 6 * HOUR_MS, 12 * HOUR_MS), { kind: 'hire', person });
  };
  const anyMember = () => random.pick(everybody);
  const beginning = (prefix: string) => everybody.filter((member) => member.startsWith(prefix));

  const send: Readonly<Record<Kind, (atMs: number, group: string) => void>> = {
    join: (atMs, group) => {
      const members = some(random, everybody, between(random, 1, 4));
      const newOnes = members.filter((one) => !membersOf(group).has(one));
      join(group, newOnes, atMs);
    },
    leave: (atMs, group) => leave(group, some(random, [...membersOf(group)], between(random, 1, 3)), atMs),
    rename: (atMs, group) => happen(atMs, { kind: 'name', group, name: nameOf(group) }),
    snapshot: (atMs, group) => {
      const stay = [...membersOf(group)].filter(() => random.chance(0.93));
      const members = [...new Set([...stay, ...some(random, everybody, random.below(3))])];
      snapshot(group, members, atMs, random.chance(0.5) ? nameOf(group) : null);
    },
    delete: (atMs, group) => {
      if (groups.size < 3) return;
      groups.delete(group);
      happen(atMs, { kind: 'delete', group });
    },
    recreate: (atMs) => appear(random.pick(ids), atMs),
    hire: (atMs) => {
      newcomers += 1;
      come(`p${newcomers}`, `p${newcomers}@${connection}.test`, atMs);
    },
    terminate: (atMs) => {
      if (everybody.length < 6) return;
      const member = anyMember();
      const role = roleOf(connection, member);
      company(soon(atMs - 2 * HOUR_MS, 4 * HOUR_MS), { kind: 'terminate', role });
      goAway(member, atMs);
    },
    /** Gives the address of a leaver to a new employee. The directory or the HR system makes this change first. */
    handOn: (atMs) => {
      const leavers = beginning('p');
      if (leavers.length < 6) return;
      const leaver = random.pick(leavers);
      const role = roleOf(connection, leaver);
      newcomers += 1;
      company(soon(atMs - 12 * HOUR_MS, 24 * HOUR_MS), { kind: 'terminate', role });
      if (random.chance(0.4)) company(soon(atMs, DAY_MS), { kind: 'readdress', role, email: null });
      goAway(leaver, soon(atMs - 6 * HOUR_MS, 12 * HOUR_MS));
      come(`h${newcomers}`, `${leaver}@${connection}.test`, atMs);
    },
    readdress: (atMs) => {
      const [member] = some(random, beginning('h'), 1);
      if (member === undefined) return;
      const email = `${member}.${random.below(1_000)}@${connection}.test`;
      const role = roleOf(connection, member);
      company(soon(atMs - 3 * HOUR_MS, 6 * HOUR_MS), { kind: 'readdress', role, email });
      happen(atMs, { kind: 'profile', member, email });
    },
    person: (atMs) => {
      const kind = weighted(random, { terminate: 3, activate: 3, lose_user_id: 1, erase: 1 });
      const role = roleOf(connection, anyMember());
      company(atMs, { kind, role });
      if (kind === 'terminate') company(soon(atMs, DAY_MS), { kind: 'activate', role });
    },
    /** Many members leave at the same time, sometimes from several groups. */
    massLeaving: (atMs) => {
      const large = [...groups].filter(([, members]) => members.size >= 4).map(([group]) => group);
      for (const group of some(random, large, Number(weighted(random, { 1: 3, 2: 1, 4: 1 })))) {
        const leavers = [...membersOf(group)].filter(() => random.chance(0.85));
        const stay = [...membersOf(group)].filter((member) => !leavers.includes(member));
        if (random.chance(0.5)) leave(group, leavers, soon(atMs, MINUTE_MS));
        else snapshot(group, stay, soon(atMs, MINUTE_MS), null);
        leavings.push({ atMs, group });
        if (random.chance(0.3)) join(group, leavers, soon(atMs + HOUR_MS, DAY_MS));
      }
    },
    burst: (atMs, group) => {
      for (let left = between(random, 6, 14); left > 0; left -= 1) {
        const member = anyMember();
        const turn = membersOf(group).has(member) ? leave : join;
        turn(group, [member], soon(atMs, 2 * MINUTE_MS));
      }
    },
    /** Draws two events of the same second that contradict each other. */
    again: (atMs, group) => {
      const members = [anyMember()];
      const actions: readonly DirectoryAction[] = [
        { kind: 'join', group, members },
        { kind: 'leave', group, members },
        { kind: 'snapshot', group, name: null, members: [...membersOf(group)], parts: 1 },
      ];
      for (const action of some(random, actions, 2)) {
        const way: Way = { ...drawWay(random, action, endMs - atMs), time: 'whole_second' };
        happen(atMs - (atMs % 1_000) + random.below(1_000), action, way);
      }
    },
    refused: (atMs, group) => {
      refusals.push(atMs);
      const future: Way = { form: 'native', time: 'future', lateMs: 0, copies: 1 };
      if (random.chance(0.5)) happen(atMs, { kind: 'rubbish', body: random.pick(RUBBISH) });
      else happen(atMs, { kind: 'join', group, members: [anyMember()] }, future);
    },
  };

  return {
    happenings,
    leavings,
    refusals,
    send,
    existing: () => random.pick([...groups.keys()]),
    begin() {
      for (const { role, email } of people) {
        const member = role.slice(roleOf(connection, '').length);
        if (email === null || /^[pn]/.test(member)) continue;
        const way = member.startsWith('q') ? BY_REQUEST : undefined;
        happen(between(random, MINUTE_MS, 5 * MINUTE_MS), { kind: 'profile', member, email }, way);
      }
      for (const group of ids) appear(group, between(random, MINUTE_MS, 40 * MINUTE_MS));
      if (hasScim) happenings.push(...drawScimGroups(random.fork('scim'), connection, endMs));
    },
    flood(atMs: number) {
      const isHuge = random.chance(0.08);
      if (random.chance(0.5)) {
        happen(atMs, { kind: 'wide', prefix: `w${connection}`, groups: isHuge ? 4_500 : 60 });
        return;
      }
      const group = `all-${connection}`;
      const members = Array.from({ length: isHuge ? 10_000 : 300 }, (_, index) => `p${index}`);
      happen(atMs, { kind: 'snapshot', group, name: nameOf(group), members, parts: isHuge ? 3 : 1 });
      const half = members.slice(0, members.length / 2);
      if (random.chance(0.5)) happen(soon(atMs, DAY_MS), { kind: 'leave', group, members: half });
    },
  };
}

const RUBBISH = [
  '{"specversion":',
  '{}',
  '"joined"',
  '{"specversion":"1.0","id":"x","source":"s","type":"directory.group.renamed"}',
];

/** Draws the way in which a message is sent. Most messages arrive quickly and once, and have an exact time. */
function drawWay(random: Random, action: DirectoryAction, leftMs: number): Way {
  const form = weighted(random, { native: 9, sns: 2, eventbridge: 2, okta: 2 });
  const isLarge = 'members' in action && action.members.length > 2_000;
  const lates = {
    quick: random.below(4_000),
    minutes: between(random, MINUTE_MS, HOUR_MS),
    hours: between(random, HOUR_MS, 10 * HOUR_MS),
    days: between(random, DAY_MS, 3 * DAY_MS),
  };
  const lateMs = lates[weighted(random, { quick: 85, minutes: 9, hours: 4, days: 2 })];
  return {
    form: isLarge ? 'native' : form,
    time: weighted(random, { exact: 4, whole_second: 1 }),
    lateMs: Math.min(lateMs, Math.max(0, leftMs - HOUR_MS)),
    copies: Number(weighted(random, { 1: 9, 2: 1, 3: 0.5 })),
  };
}
