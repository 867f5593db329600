import { actsOf } from './acts.ts';
import { drawAws } from './draw-crashes.ts';
import type { Rhythm } from './draw-directory.ts';
import { roleOf, type Town } from './draw-people.ts';
import { DAYS, PLATFORM_FAULTS, type PlatformFault, type PlatformFaultRange } from './platform-faults.ts';
import { between, type Random, some, weighted } from './random.ts';
import {
  type ClientAction,
  DAY_MS,
  type DirectoryAction,
  type Happening,
  HOUR_MS,
  MINUTE_MS,
  type OperatorAction,
} from './simulation-run.ts';

interface Scene extends Pick<Rhythm, 'leavings' | 'refusals'> {
  readonly towns: readonly Town[];
  readonly endMs: number;
}

/** Draws for one connection: faults of its platform, actions of other clients, and actions of operators. */
export function drawFaults(random: Random, town: Town, scene: Scene): readonly Happening[] {
  const { name: connection } = town;
  const isFirst = scene.towns[0] === town;
  return [
    ...drawPlatformFaults(random.fork('tempers'), town, scene).flatMap((one) => [
      one,
      ...drawMeanwhile(random.fork(`renaming ${one.atMs}`), town, one),
    ]),
    ...drawClientActions(random.fork('somebody'), town, scene),
    ...drawOperators(random.fork('operators'), town, scene),
    ...(isFirst ? drawAws(random.fork('aws'), connection, scene.endMs) : []),
  ];
}

/** Returns the id of this employee in the `users` of a group. */
const userOf = ({ settings }: Town, role: string): string =>
  settings.memberIdField === 'id' ? role : `u-${role}`;

/** Values of Retry-After: seconds, or `date` for a date a minute ahead. groupsync never waits two hours. */
const RETRY_AFTERS = ['0', '30', '7200', 'date'];

function drawPlatformFaults(random: Random, town: Town, { endMs }: Scene): readonly Happening[] {
  const weights = Object.entries(PLATFORM_FAULTS).map(([platformFault, [weight]]) => [platformFault, weight]);
  const count = Number(weighted(random, { 0: 1, 1: 4, 2: 3, 3: 1 }));
  const drawn = Array.from({ length: count }).flatMap(() =>
    drawPlatformFault(random, town, weighted<PlatformFault>(random, Object.fromEntries(weights)), endMs),
  );
  const seldom = SELDOM_PLATFORM_FAULTS.filter((platformFault) =>
    random.fork(`share ${platformFault}`).chance(SELDOM_SHARE),
  );
  return [
    ...drawn,
    ...seldom.flatMap((platformFault) =>
      drawPlatformFault(random.fork(platformFault), town, platformFault, endMs),
    ),
  ];
}

/** Platform faults with small weights. By their weights alone, each would occur in only one of fifty runs. */
const SELDOM_PLATFORM_FAULTS: readonly PlatformFault[] = [
  'deletes_ignored',
  'refuses_name',
  'refuses_spoke_id',
  'list_cut',
  'answers_lag',
  'answers_lack_users',
  'answers_404',
];
/** For each of these faults, the share of connections that have the fault in addition to the faults drawn by weight. */
const SELDOM_SHARE = 0.1;

function drawPlatformFault(
  random: Random,
  town: Town,
  platformFault: PlatformFault,
  endMs: number,
): readonly Happening[] {
  const [, minutes, percent, about]: PlatformFaultRange = PLATFORM_FAULTS[platformFault];
  const isLong = /^writes_(503|403)/.test(platformFault) && random.chance(0.25);
  const [least, most] = isLong ? DAYS : minutes;
  const users = some(random, town.people, between(random, 1, 3)).map(({ role }) => userOf(town, role));
  const named = () => {
    if (about === 'retryAfter') return [random.pick(RETRY_AFTERS)];
    return random.chance(0.6) ? users : undefined;
  };
  const drawnNames = named();
  // If all long faults affected all groups, the gate would be closed for days in most runs. So some long faults affect
  // only a few groups.
  const few = isLong ? some(random, town.groups, 3) : undefined;
  const chosen = few ?? (about === undefined ? undefined : drawnNames);
  // A platform fault may occur several times in a run, most often a fault of the token.
  const spells = () => {
    if (platformFault.startsWith('token')) return between(random, 1, 3);
    return random.chance(0.1) ? 2 : 1;
  };
  return Array.from({ length: spells() }, (): Happening => {
    const atMs = between(random, 0, Math.max(0, endMs - 2 * HOUR_MS));
    const forMs = Math.min(between(random, least, most) * MINUTE_MS, endMs - atMs);
    const hasShare = percent !== undefined && !isLong && (about !== 'users' || drawnNames === undefined);
    const share = hasShare ? { share: between(random, ...percent) / 100 } : {};
    const action = {
      kind: 'platformFault',
      platformFault,
      forMs,
      ...(chosen && { about: chosen }),
      ...share,
    } as const;
    return actsOf(town.name).platform(atMs, action);
  });
}

/**
 * For half of the platform faults of some kinds, draws events of the directory or edits of another client during the
 * fault, because some bugs need both. For example, groups are renamed while a wrong base URL answers 404.
 */
function drawMeanwhile(random: Random, town: Town, { atMs, action }: Happening): readonly Happening[] {
  if (action.kind !== 'platformFault' || random.chance(0.5)) return [];
  const acts = actsOf(town.name);
  const directoryHappening = (laterMs: number, what: DirectoryAction) =>
    acts.event(atMs + Math.round(laterMs), what);
  if (action.platformFault === 'wrong_route') {
    return some(random, town.groups, 12).map((group) => {
      const name = `Dept ${group.toUpperCase()} ${town.name}`;
      return directoryHappening(between(random, 0, action.forMs / 2), { kind: 'name', group, name });
    });
  }
  if (action.platformFault === 'deletes_ignored') {
    return some(random, town.groups, 3).map((group) =>
      directoryHappening(between(random, 0, action.forMs / 2), { kind: 'delete', group }),
    );
  }
  if (action.platformFault === 'loses_answers' || action.platformFault === 'refuses_spoke_id') {
    // The ids contain the name of the connection, so that two connections of one company never have the same group.
    return Array.from({ length: 6 }, (_, n) =>
      directoryHappening(between(random, 0, action.forMs / 2), {
        kind: 'name',
        group: `late${n}${town.name}`,
        name: `Late ${n} ${town.name}`,
      }),
    );
  }
  if (action.platformFault === 'get_denies') {
    return some(random, town.groups, 6).map((group): Happening => {
      const edit = { kind: 'edit', group, name: `Looked at ${random.below(100)}` } as const;
      const laterMs = between(random, 0, action.forMs / 2);
      return acts.client(atMs + laterMs, edit);
    });
  }
  if (action.platformFault !== 'late_writes') return [];
  const group = random.pick(town.groups);
  const members = some(random, ['p0', 'p1', 'p2', 'p3'], 1);
  return Array.from({ length: 40 }, (_, index) =>
    directoryHappening(index * between(random, 15_000, 45_000), {
      kind: index % 2 === 0 ? 'join' : 'leave',
      group,
      members,
    }),
  );
}

/** For up to eight groups, draws a change of the group by another client, and two events about the group. */
export function drawAfterthoughts(random: Random, town: Town, endMs: number): readonly Happening[] {
  return some(random, town.groups, 8).flatMap((group) => {
    const [first, second] = some(random, ['p0', 'p1', 'p2', 'p3'], 2);
    const atMs = between(random, HOUR_MS, endMs - HOUR_MS);
    const events = [first, second].map((member, at): Happening => {
      const action = {
        kind: random.chance(0.5) ? 'join' : 'leave',
        group,
        members: [member ?? 'p0'],
      } as const;
      const laterMs = at * between(random, 900, 4_000);
      return actsOf(town.name).event(atMs + laterMs, action);
    });
    const edit = { kind: 'edit', group, name: `Seen ${random.below(100)}` } as const;
    const earlierMs = between(random, 1_000, 20_000);
    return [actsOf(town.name).client(atMs - earlierMs, edit), ...events];
  });
}

const CLIENT_WEIGHTS = { edit: 12, delete: 2, recreate: 2, strip: 2, twin: 1, own: 2 };

function drawClientActions(random: Random, town: Town, { endMs }: Scene): readonly Happening[] {
  const edit = (group: string): ClientAction => {
    const users = some(random, town.people, between(random, 1, 2)).map(({ role }) => userOf(town, role));
    const adds = random.chance(0.7);
    const removes = random.chance(0.4);
    const isWar = random.chance(0.12);
    return {
      kind: 'edit',
      group,
      ...(adds && { add: random.chance(0.2) ? [userOf(town, roleOf(town.name, 'outsider'))] : users }),
      ...(removes && { remove: between(random, 1, 3) }),
      ...((random.chance(0.2) || !(adds || removes)) && { name: `Ours ${random.below(100)}` }),
      ...(isWar && { again: { everyMs: between(random, 2, 40) * MINUTE_MS, times: between(random, 5, 60) } }),
    };
  };
  const own = (group: string): ClientAction => ({
    kind: 'own',
    name: `Team ${group.toUpperCase()} ${between(random, 1, town.groups.length)} ${town.name}`,
    spokeId: random.chance(0.3) ? group : null,
  });
  const actionOf = (kind: keyof typeof CLIENT_WEIGHTS, group: string): ClientAction => {
    if (kind === 'edit') return edit(group);
    return kind === 'own' ? own(group) : { kind, group };
  };
  const all: Happening[] = [];
  for (let left = random.below(4); left > 0; left -= 1) {
    const group = random.pick(town.groups);
    const kind = weighted(random, CLIENT_WEIGHTS);
    const action = actionOf(kind, group);
    // A client may create the group before the first directory event. The purpose of such a group is to test adoption.
    const isEarly = kind === 'own' && random.chance(0.6);
    const atMs = isEarly ? between(random, 2_000, MINUTE_MS) : between(random, HOUR_MS, endMs - HOUR_MS);
    all.push(actsOf(town.name).client(atMs, action));
  }
  return all;
}

/** The settings that operators change, with their values. */
export const SETTINGS: readonly (readonly [key: string, values: readonly unknown[]])[] = [
  ['mode', ['authoritative', 'additive', 'report']],
  ['onGroupDeleted', ['delete', 'release']],
  ['guard.maxRemovedCount', [3, 20, 200]],
  ['guard.perHourCount', [10, 50, 500]],
  ['includeStates', [['ACTIVE'], ['ACTIVE', 'HIRED']]],
  ['nameTemplate', ['{name}', '{name} [{id}]']],
  ['groups.exclude', [['g1', 'G1'], []]],
];

const RARE = { pauseAll: 1, observe: 1, token: 1, farewell: 0.4 };
const ROUTINES = { pause: 3, release: 2, sync: 2, rebind: 2, set: 4, deadLetters: 2, ...RARE };
type Routine = keyof typeof ROUTINES;

function drawOperators(
  random: Random,
  town: Town,
  { leavings, refusals, towns, endMs }: Scene,
): readonly Happening[] {
  const all: Happening[] = [];
  const operate = (atMs: number, action: OperatorAction) =>
    all.push(actsOf(town.name).operator(atMs, action));
  const deadLetters = () => random.pick(['replay_all', 'discard_one', 'edit_one'] as const);
  const setting = (): OperatorAction => {
    const [key, values] = random.pick(SETTINGS);
    return { kind: 'set', key, value: random.pick(values) };
  };
  const company = () => (random.chance(0.5) ? town.company : random.pick(towns).company);
  const role = () => random.pick(town.people).role;
  const routines: Readonly<Record<Routine, (group: string) => readonly OperatorAction[]>> = {
    pause: (group) => [
      { kind: 'pause', group },
      { kind: 'resume', group },
    ],
    pauseAll: () => [{ kind: 'pause_all' }, { kind: 'resume_all' }],
    observe: () => [{ kind: 'observe' }, { kind: 'resume_all' }],
    release: (group) => [
      { kind: 'release', group },
      { kind: 'adopt', group },
    ],
    sync: (group) => [{ kind: 'sync', group }],
    rebind: () => [{ kind: 'rebind', member: `p${random.below(town.count)}`, role: role() }],
    set: () => [setting(), setting()],
    deadLetters: () => [{ kind: deadLetters() }],
    token: () => [{ kind: 'new_token' }],
    farewell: () => [{ kind: 'remove_connection' }, { kind: 'connect', company: company() }],
  };
  for (let left = random.below(4); left > 0; left -= 1) {
    const atMs = between(random, HOUR_MS, endMs - HOUR_MS);
    const [first, second] = routines[weighted(random, ROUTINES)](random.pick(town.groups));
    if (first !== undefined) operate(atMs, first);
    const laterMs = random.chance(0.15) ? 0 : between(random, 5 * MINUTE_MS, DAY_MS);
    if (second !== undefined) operate(Math.min(atMs + laterMs, endMs - MINUTE_MS), second);
  }
  for (const leaving of leavings) {
    if (random.chance(0.45)) continue;
    const atMs = leaving.atMs + between(random, 3, random.chance(0.5) ? 60 : 1_800) * MINUTE_MS;
    const decide = (at: number) => {
      const kind = weighted(random, { approve: 2, reject: 1 });
      const oldMs = random.chance(0.65) ? 0 : between(random, 10, 600) * MINUTE_MS;
      operate(at, { kind, group: leaving.group, oldMs, isPart: random.chance(0.4) });
    };
    decide(atMs);
    if (random.chance(0.3)) decide(random.chance(0.5) ? atMs : atMs + between(random, 1, 300) * MINUTE_MS);
  }
  for (const sentAtMs of refusals) {
    if (random.chance(0.5)) operate(sentAtMs + between(random, 10, 300) * MINUTE_MS, { kind: deadLetters() });
  }
  return all;
}
