import { actsOf } from './acts.ts';
import { roleOf, type Town } from './draw-people.ts';
import { numberOf } from './messages.ts';
import { between, type Random, some, weighted } from './random.ts';
import {
  DAY_MS,
  type DirectoryAction,
  type Happening,
  HOUR_MS,
  MINUTE_MS,
  type OperatorAction,
  type PersonSpec,
} from './simulation-run.ts';

/*
 * Additional happenings in some runs. Each kind uses separate random numbers, so one kind does not change the rest of
 * the run.
 */

/** For each kind, the share of connections with this kind. For `lateRequests`, only connections with SCIM count. */
export const SHARES = {
  numbers: 0.4,
  ties: 0.35,
  lateRequests: 0.6,
  erasures: 0.3,
  blocks: 0.4,
  newGroups: 0.35,
  revocations: 0.2,
  excluded: 0.25,
};

/** The time of day of the daily check. `RHYTHMS` in schedules.ts has the same value. */
const CHECKED_AT_MS = 3 * HOUR_MS;

interface Place {
  readonly town: Town;
  readonly endMs: number;
}

export function drawWider(random: Random, { town, endMs }: Place): readonly Happening[] {
  const parts = { numbers: drawNumbered, ties: drawTies, lateRequests: drawLateRequests };
  const others = { erasures: drawErasures, newGroups: drawNewGroups, revocations: drawRevocations };
  const last = { blocks: drawBlocks };
  const all = { ...parts, ...others, ...last };
  const chosen = (Object.keys(all) as (keyof typeof all)[]).filter((kind) =>
    kind === 'numbers' ? town.hasNumbers : random.fork(`share ${kind}`).chance(SHARES[kind]),
  );
  return chosen.flatMap((kind) => all[kind](random.fork(kind), { town, endMs }));
}

const anyTime = (random: Random, endMs: number) => between(random, HOUR_MS, endMs - 2 * HOUR_MS);
const within = (atMs: number, endMs: number) => Math.max(0, Math.min(atMs, endMs - HOUR_MS));

const NUMBERED = ['n0', 'n1', 'n2', 'n3'];

/** Employees without an address, who match only by the second rule (employee number). */
export const numberedPeople = (connection: string): readonly PersonSpec[] =>
  NUMBERED.map((id) => ({
    role: roleOf(connection, id),
    email: null,
    number: numberOf(id, connection) ?? '',
  }));

/**
 * Draws members that match only by employee number. `n1` has an address that matches no employee. The number of `n2`
 * becomes ambiguous. The number of `n3` changes in the directory and in the HR system.
 */
function drawNumbered(random: Random, { town, endMs }: Place): readonly Happening[] {
  const { name: connection, groups } = town;
  const { event, company } = actsOf(connection);
  const formOf = () => weighted(random, { native: 4, sns: 1, eventbridge: 1, okta: 1 });
  const memberships = NUMBERED.flatMap((member) =>
    some(random, groups, between(random, 1, 3)).flatMap((group): Happening[] => {
      const atMs = anyTime(random, endMs);
      const joins = event(atMs, { kind: 'join', group, members: [member] }, { form: formOf() });
      if (random.chance(0.6)) return [joins];
      const leftMs = within(atMs + between(random, HOUR_MS, DAY_MS), endMs);
      return [joins, event(leftMs, { kind: 'leave', group, members: [member] })];
    }),
  );
  const number = (member: string) => numberOf(member, connection) ?? '';
  const profiles = NUMBERED.map((member) => {
    const email = member === 'n1' ? { email: `${member}@nowhere.test` } : {};
    const action = { kind: 'profile', member, number: number(member), ...email } as const;
    return event(between(random, MINUTE_MS, 5 * MINUTE_MS), action);
  });
  const double = { role: roleOf(connection, 'n2-double'), email: null, number: number('n2') };
  const doubledMs = anyTime(random, endMs);
  const renumberedMs = anyTime(random, endMs);
  const [n3, next] = [roleOf(connection, 'n3'), `${number('n3')}-new`];
  const leavesMs = doubledMs + between(random, HOUR_MS, DAY_MS);
  const laterMs = () => between(random, -6 * HOUR_MS, 6 * HOUR_MS);
  return [
    ...profiles,
    ...memberships,
    company(doubledMs, { kind: 'hire', person: double }),
    company(within(leavesMs, endMs), { kind: 'terminate', role: double.role }),
    company(within(renumberedMs + laterMs(), endMs), { kind: 'renumber', role: n3, number: next }),
    event(within(renumberedMs + laterMs(), endMs), { kind: 'profile', member: 'n3', number: next }),
  ];
}

/**
 * Draws people for long runs. They leave all groups at the beginning of the run, and join a group more than 430 days
 * later. The addresses of these members (`h…`) are sent only once, at the beginning. In half of the runs, a group or the
 * connection is paused for the same time.
 */
export function drawComebacks(random: Random, { town, endMs }: Place): readonly Happening[] {
  const { name: connection, people, groups } = town;
  const handed = people
    .filter(({ role, email, state }) => /-h\d+$/.test(role) && email !== null && state === undefined)
    .map(({ role }) => role.slice(roleOf(connection, '').length));
  const pausing = random.fork('pauses');
  const group = pausing.pick(groups);
  const { event, operator } = actsOf(connection);
  const [pause, resume] = pausing.chance(0.5)
    ? [operator(DAY_MS, { kind: 'pause', group }), operator(endMs - 3 * HOUR_MS, { kind: 'resume', group })]
    : [operator(DAY_MS, { kind: 'pause_all' }), operator(endMs - 3 * HOUR_MS, { kind: 'resume_all' })];
  const pauses = pausing.chance(0.5) ? [pause, resume] : [];
  const comebacks = some(random, handed, 3).flatMap((member): Happening[] => {
    // A long run stretches the time between `leftMs` and `backMs` to more than 430 days.
    const leftMs = DAY_MS + between(random, 0, 12 * HOUR_MS);
    const backMs = endMs - between(random, 2 * HOUR_MS, 12 * HOUR_MS);
    const members = [member];
    const leaves = groups.map((group, index) =>
      event(leftMs + index * 1_000, { kind: 'leave', group, members }),
    );
    return [...leaves, event(backMs, { kind: 'join', group: random.pick(groups), members })];
  });
  return [...comebacks, ...pauses];
}

/** Draws pairs of events. The two events of a pair have equal stamps and different content, and arrive in any order. */
function drawTies(random: Random, { town, endMs }: Place): readonly Happening[] {
  const { name: connection, groups } = town;
  return Array.from({ length: between(random, 2, 5) }, (_, index) => {
    const atMs = anyTime(random, endMs);
    const group = random.pick(groups);
    const members = some(random, ['p0', 'p1', 'p2', 'p3', 'p4'], between(random, 1, 2));
    const title = (n: number): DirectoryAction => {
      return { kind: 'name', group, name: `Tied ${random.below(100)} ${n} ${group} ${connection}` };
    };
    const restated = { kind: 'snapshot', group, name: null, members, parts: 1 } as const;
    const changes = (): readonly DirectoryAction[] => [
      { kind: 'join', group, members },
      { kind: 'leave', group, members },
      random.chance(0.9) ? restated : { kind: 'delete', group },
    ];
    const actions = random.chance(0.3) ? [title(1), title(2), title(3)] : changes();
    return some(random, actions, 2).map((action) => {
      const lates = { none: 0, seconds: random.below(90_000), minutes: between(random, 1, 90) * MINUTE_MS };
      const lateMs = lates[weighted(random, { none: 2, seconds: 2, minutes: 1 })];
      const time = weighted(random, { exact: 1, whole_second: 1 });
      return actsOf(connection).event(atMs, action, { lateMs, time, eventId: `tied-${index}` });
    });
  }).flat();
}

/** Draws late SCIM requests: after a newer one, together with another one, or after a deletion. */
function drawLateRequests(random: Random, { town, endMs }: Place): readonly Happening[] {
  if (!town.hasScim) return [];
  const { name: connection } = town;
  const { event } = actsOf(connection);
  const way = { form: 'scim_request', time: 'none' } as const;
  const title = (group: string) => `Late ${random.below(1_000)} ${group} ${connection}`;
  const members = () => some(random, ['q0', 'q1', 'q2', 'q3', 'q4', 'q5'], between(random, 1, 3));
  const change = (group: string): DirectoryAction =>
    random.pick<DirectoryAction>([
      { kind: 'join', group, members: members() },
      { kind: 'leave', group, members: members() },
      { kind: 'snapshot', group, name: title(group), members: members(), parts: 1 },
      { kind: 'name', group, name: title(group) },
    ]);
  return Array.from({ length: 10 }, (_, index): Happening[] => {
    const group = `s${random.below(4)}`;
    const atMs = anyTime(random, endMs);
    const lateMs = Math.min(between(random, 1, 300) * MINUTE_MS, endMs - HOUR_MS - atMs);
    const late = event(atMs, change(group), { ...way, lateMs });
    const arrivesMs = atMs + lateMs;
    const other = (beforeMs: number, action: DirectoryAction) => event(arrivesMs - beforeMs, action, way);
    // `other` creates a request that arrives `beforeMs` before `late`. The client sends `newer` after `late`.
    const newer = other(between(random, 1_000, MINUTE_MS), change(group));
    const earlierMs = within(atMs - between(random, 1, 60) * MINUTE_MS, endMs);
    const overlaps = { ...way, lateMs: arrivesMs - earlierMs + random.below(30) - 15 };
    const earlier = event(earlierMs, change(group), overlaps);
    const together = [earlier, other(random.below(80) - 40, change(group))];
    const deletes: DirectoryAction = random.chance(0.5)
      ? { kind: 'delete', group }
      : { kind: 'forget', member: random.pick(members()) };
    if (index % 5 === 4) return [late, other(between(random, 2, 60) * 1_000, deletes)];
    return [late, newer, ...(index % 2 === 0 ? together : [])];
  }).flat();
}

/** Draws operators who erase the data of a person. In most cases, the person leaves a group before the erasure. */
function drawErasures(random: Random, { town, endMs }: Place): readonly Happening[] {
  const { name: connection, people, groups } = town;
  const known = people.filter(({ email, role }) => email !== null && /-[ph]\d+$/.test(role));
  return some(random, known, between(random, 1, 3)).flatMap(({ role }): Happening[] => {
    const member = role.slice(roleOf(connection, '').length);
    const atMs = anyTime(random, endMs);
    const erases = actsOf(connection).operator(atMs, { kind: 'forget', member });
    if (random.chance(0.4)) return [erases];
    const group = random.pick(groups);
    const leftMs = Math.max(HOUR_MS, atMs - between(random, 1, 600) * MINUTE_MS);
    return [actsOf(connection).event(leftMs, { kind: 'leave', group, members: [member] }), erases];
  });
}

/**
 * Draws operators who block a person, and most of them end the block later. Before and during the block, the directory
 * and another client add the person to groups. Some of the groups are paused at the time of the block.
 */
function drawBlocks(random: Random, { town, endMs }: Place): readonly Happening[] {
  const { name: connection, people, groups, settings } = town;
  const acts = actsOf(connection);
  const operator = (atMs: number, action: OperatorAction) => acts.operator(within(atMs, endMs), action);
  const known = people.filter(
    ({ email, userId, state, role }) =>
      email !== null && userId === undefined && state === undefined && /-[ph]\d+$/.test(role),
  );
  return some(random, known, between(random, 1, 3)).flatMap(({ role }): Happening[] => {
    const members = [role.slice(roleOf(connection, '').length)];
    const atMs = anyTime(random, endMs);
    const untilMs = within(atMs + between(random, 2 * HOUR_MS, 2 * DAY_MS), endMs);
    const join = (fromMs: number, toMs: number) => {
      const joinsMs = within(between(random, fromMs, toMs), endMs);
      return acts.event(joinsMs, { kind: 'join', group: random.pick(groups), members });
    };
    const add = [settings.memberIdField === 'id' ? role : `u-${role}`];
    const editMs = between(random, atMs, untilMs);
    const edit = acts.client(editMs, { kind: 'edit', group: random.pick(groups), add });
    const group = random.pick(groups);
    const pauses = [
      operator(atMs - between(random, 1, 60) * MINUTE_MS, { kind: 'pause', group }),
      operator(atMs + between(random, 5, 180) * MINUTE_MS, { kind: 'resume', group }),
    ];
    return [
      join(atMs - 10 * HOUR_MS, atMs),
      join(atMs - HOUR_MS, atMs + 10 * MINUTE_MS),
      join(atMs, untilMs),
      operator(atMs, { kind: 'block', role }),
      edit,
      ...(random.chance(0.3) ? pauses : []),
      ...(random.chance(0.65) ? [operator(untilMs, { kind: 'unblock', role })] : []),
    ];
  });
}

/** Draws changes of settings shortly after an event creates a group, while the index does not show this group yet. */
function drawNewGroups(random: Random, { town, endMs }: Place): readonly Happening[] {
  const { name: connection } = town;
  const atMs = anyTime(random, endMs);
  const group = `new-${connection}`;
  const name = `New ${connection}`;
  const setMs = atMs + between(random, 10_000, 80_000);
  const value = random.pick(['{name} ({id})', '{name} [{connection}]']);
  return [
    actsOf(connection).event(atMs, { kind: 'snapshot', group, name, members: ['p0', 'p1'], parts: 1 }),
    actsOf(connection).operator(setMs, { kind: 'set', key: 'nameTemplate', value }),
  ];
}

/** Draws a revocation of the token at the time of the daily check of the credential. */
function drawRevocations(random: Random, { town, endMs }: Place): readonly Happening[] {
  const days = Math.max(1, Math.floor(endMs / DAY_MS));
  const atMs = random.below(days) * DAY_MS + CHECKED_AT_MS - between(random, 5, 50) * MINUTE_MS;
  const action = { kind: 'platformFault', platformFault: 'token_revoked', forMs: HOUR_MS } as const;
  return [actsOf(town.name).platform(atMs, action)];
}
