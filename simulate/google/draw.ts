import { REALISTIC_SETTINGS, type Settings } from '../../directory-simulator/engine/settings.ts';
import { drawConversions, drawPeople, drawUserIdChanges, roleOf, type Town } from '../draw-directory.ts';
import { crashPoints, drawFaults } from '../draw-faults.ts';
import { between, type Random, some, weighted } from '../random.ts';
import {
  DAY_MS,
  type DirectoryAction,
  type GoogleAction,
  type GoogleSpec,
  type Happening,
  HOUR_MS,
  MINUTE_MS,
  type OperatorAction,
} from '../simulation-run.ts';
import {
  DIRECTORY_FAULTS,
  type DirectoryFault,
  type DirectoryFaultAction,
  type DirectoryFaultRange,
} from './faults.ts';
import { ADMINISTRATOR } from './google.ts';

const CONNECTION = 'd';
const COMPANY = 'dogwood';
const PEOPLE = 14;
const GROUPS = 7;
const EXTERNAL = 'guest@elsewhere.test';
/**
 * Groups that are never deleted. Messages of another producer name only these groups, so they always concern a group of
 * the reader.
 */
const LASTING = ['k1', 'k2', 'k3', 'k4'];
const CHANGES_PER_DAY = 7;
/**
 * Operator actions that this connection does not have, because they would stop the reader. Other connections have them.
 */
const LEFT_OUT: ReadonlySet<OperatorAction['kind']> = new Set<OperatorAction['kind']>([
  'remove_connection',
  'connect',
]);

interface DrawnDirectory {
  readonly town: Town;
  readonly google: GoogleSpec;
  readonly happenings: readonly Happening[];
}

/** Draws a connection that reads a directory, with all its happenings. */
export function drawDirectory(
  random: Random,
  settings: Town['settings'],
  { endMs }: { readonly endMs: number },
): DrawnDirectory {
  const people = drawPeople(random.fork('people'), CONNECTION, { count: PEOPLE, hasScim: false });
  const members = people.map(({ role }) => role.slice(roleOf(CONNECTION, '').length));
  const groups = Array.from({ length: GROUPS }, (_, index) => `k${index}`);
  const directory = { kind: 'google', administrator: ADMINISTRATOR };
  const town: Town = {
    ...{ name: CONNECTION, company: COMPANY, share: 0, groups, count: PEOPLE, people },
    ...{ hasScim: false, hasNumbers: false },
    settings: { ...settings, nested: random.chance(0.8) ? 'flatten' : 'ignore', directory },
  };
  const scene = { endMs, members };
  const changes = drawChanges(random.fork('changes'), scene);
  const faults = drawDirectoryFaults(random.fork('faults'), endMs);
  const leavings = changes.flatMap(({ atMs, action }) =>
    action.kind === 'removeMember' ? [{ atMs, group: action.group }] : [],
  );
  const some = { leavings, refusals: [], towns: [town], endMs };
  const around = drawFaults(random.fork('trouble'), town, some).filter(
    ({ actor, action }) =>
      actor !== 'directory' && actor !== 'aws' && !LEFT_OUT.has(action.kind as OperatorAction['kind']),
  );
  const conversions = drawConversions(random.fork('conversions'), town, endMs);
  const others = [...around, ...conversions];
  const happenings: readonly Happening[] = [
    ...others,
    ...drawUserIdChanges(random.fork('user ids'), town, { endMs, others }),
    ...[...changes, ...faults].map((one): Happening => ({ ...one, connection: CONNECTION, actor: 'google' })),
    ...drawCrashes(random.fork('crashes'), endMs),
    ...drawPushes(random.fork('pushes'), scene),
  ];
  const isShort = faults.some(({ action }) => action.directoryFault === 'ends_early');
  const difficulty = drawDifficulty(random.fork('difficulty'), isShort);
  return { town, happenings, google: { difficulty, world: drawWorld(random.fork('world'), scene) } };
}

function drawDifficulty(random: Random, isShort: boolean): Settings {
  return {
    ...REALISTIC_SETTINGS,
    failures: random.pick([0, 0.01, 0.05]),
    // Without counts of members, a reader cannot notice that a list ended too early. So with that fault, all counts are
    // present.
    absentCounts: isShort ? 0 : REALISTIC_SETTINGS.absentCounts,
    queriesPerMinute: random.pick([2_400, 2_400, 60]),
    lostLogEntries: random.pick([0, 0, 0.1, 0.3]),
    loggedIdentifier: random.pick(['email', 'id']),
  };
}

interface Scene {
  readonly endMs: number;
  readonly members: readonly string[];
}

function drawWorld(random: Random, { members }: Scene): GoogleSpec['world'] {
  const users = members.map((id) => ({ id, primaryEmail: `${id}@${CONNECTION}.test` }));
  const groupOf = (index: number) => {
    const inner = index >= GROUPS - 2 ? [`k${index - 3}`] : [];
    const direct = [...some(random, members, between(random, 1, 5)), ...inner];
    if (index === 3) direct.push(EXTERNAL);
    const id = `k${index}`;
    return { id, email: `${id}@d.test`, name: `Group ${id}`, members: direct.map((member) => ({ member })) };
  };
  return {
    domain: 'd.test',
    users: [{ id: 'admin', primaryEmail: ADMINISTRATOR, isAdmin: true }, ...users],
    groups: Array.from({ length: GROUPS }, (_, index) => groupOf(index)),
  };
}

interface Timed<Action> {
  readonly atMs: number;
  readonly action: Action;
}

type Changing = Exclude<GoogleAction, DirectoryFaultAction>;

const CHANGE_WEIGHTS = {
  ...{ join: 8, leave: 8, move: 2, turn: 2, suspend: 3, archive: 1, back: 3, rename: 2, address: 1 },
  ...{ nest: 2, unnest: 2, create: 1.5, remove: 1.5, exodus: 1, goodbye: 0.5 },
};

/**
 * Draws changes of users and groups. A change that does not fit the state of the directory at its time has no effect.
 */
function drawChanges(random: Random, { endMs, members }: Scene): readonly Timed<Changing>[] {
  const all: Timed<Changing>[] = [];
  const groups = Array.from({ length: GROUPS }, (_, index) => `k${index}`);
  const change = (atMs: number, action: Changing) =>
    all.push({ atMs: Math.min(Math.round(atMs), endMs - 3 * HOUR_MS), action });
  const someone = () => random.pick(members);
  const join = (atMs: number, group: string, member: string) =>
    change(atMs, { kind: 'addMember', group, member, via: random.pick(['console', 'groups']) });
  const leave = (atMs: number, group: string, member: string) =>
    change(atMs, { kind: 'removeMember', group, member, via: random.pick(['console', 'groups']) });
  const acts: Readonly<Record<keyof typeof CHANGE_WEIGHTS, (atMs: number, group: string) => void>> = {
    join: (atMs, group) => join(atMs, group, someone()),
    leave: (atMs, group) => leave(atMs, group, someone()),
    move(atMs, group) {
      const member = someone();
      join(atMs, group, member);
      leave(atMs + between(random, 1_000, HOUR_MS), random.pick(groups), member);
    },
    /** A member joins a group and leaves it again within minutes, twice. */
    turn(atMs, group) {
      const member = someone();
      for (let at = 0; at < 4; at += 1) {
        const turn = at % 2 === 0 ? leave : join;
        turn(atMs + at * between(random, 1_000, 8 * MINUTE_MS), group, member);
      }
    },
    suspend: (atMs) => change(atMs, { kind: 'suspendUser', user: someone() }),
    archive: (atMs) => change(atMs, { kind: 'archiveUser', user: someone() }),
    back(atMs) {
      const user = someone();
      change(atMs - between(random, 0, DAY_MS), { kind: 'suspendUser', user });
      change(atMs, { kind: 'unsuspendUser', user });
      change(atMs, { kind: 'unarchiveUser', user: someone() });
    },
    rename: (atMs, group) =>
      change(atMs, { kind: 'changeGroup', group, name: `Group ${group} ${random.below(100)}` }),
    address: (atMs, group) =>
      change(atMs, { kind: 'changeGroup', group, email: `${group}.${random.below(100)}@d.test` }),
    nest: (atMs, group) => join(atMs, group, random.pick(groups)),
    unnest: (atMs, group) => leave(atMs, group, random.pick(groups)),
    create(atMs) {
      const id = `k${groups.length}`;
      groups.push(id);
      const direct = some(random, members, between(random, 0, 4)).map((member) => ({ member }));
      change(atMs, {
        kind: 'addGroup',
        group: { id, email: `${id}@d.test`, name: `Group ${id}`, members: direct },
      });
    },
    remove(atMs) {
      const group = random.pick(groups.filter((one) => !LASTING.includes(one)));
      change(atMs, { kind: 'deleteGroup', group });
    },
    /** All members leave a group. */
    exodus(atMs, group) {
      for (const member of members) leave(atMs + random.below(MINUTE_MS), group, member);
    },
    goodbye: (atMs) => change(atMs, { kind: 'deleteUser', user: someone() }),
  };
  const count = Math.round((endMs / DAY_MS) * CHANGES_PER_DAY);
  for (let left = count; left > 0; left -= 1) {
    const atMs = between(random, 2 * HOUR_MS, endMs - 3 * HOUR_MS);
    acts[weighted(random, CHANGE_WEIGHTS)](atMs, random.pick(groups));
  }
  return all.filter(({ atMs }) => atMs > HOUR_MS);
}

/**
 * Faults that a run has at most once. If one followed another, two wrong reads would agree, and the reader would
 * rightly accept them.
 */
const ONCE: ReadonlySet<DirectoryFault> = new Set<DirectoryFault>([
  'hides_group',
  'shows_no_members',
  'ends_early',
]);

function drawDirectoryFaults(random: Random, endMs: number): readonly Timed<DirectoryFaultAction>[] {
  const weights = Object.entries(DIRECTORY_FAULTS).map(([name, [weight]]) => [name, weight]);
  const drawn = Array.from({ length: between(random, 2, 7) }, () =>
    weighted<DirectoryFault>(random, Object.fromEntries(weights)),
  );
  return drawn
    .filter((fault, at) => !ONCE.has(fault) || drawn.indexOf(fault) === at)
    .map((directoryFault) => {
      const [, [least, most], percent, groups]: DirectoryFaultRange = DIRECTORY_FAULTS[directoryFault];
      const all = Array.from({ length: GROUPS }, (_, index) => `k${index}`);
      const about = groups && { about: some(random, all, between(random, ...groups)) };
      const share = percent && { share: between(random, ...percent) / 100 };
      const forMs = Math.min(between(random, least, most) * MINUTE_MS, endMs / 3);
      const atMs = between(random, HOUR_MS, endMs - HOUR_MS - forMs);
      return { atMs, action: { kind: 'directoryFault', directoryFault, forMs, ...about, ...share } };
    });
}

function drawCrashes(random: Random, endMs: number): readonly Happening[] {
  return Array.from({ length: between(random, 2, 8) }, (): Happening => {
    const effect = random.pick(crashPoints('directory'));
    const atMs = between(random, 0, endMs - 4 * HOUR_MS);
    const action = { kind: 'crash', lambda: 'directory', effect, nth: between(random, 1, 3) } as const;
    return { atMs, connection: CONNECTION, actor: 'aws', action };
  });
}

/**
 * Draws messages of another producer about groups of the reader. Ingest does not store them. They only cause the reader
 * to read these groups.
 */
function drawPushes(random: Random, { endMs, members }: Scene): readonly Happening[] {
  return Array.from({ length: between(random, 0, 12) }, (): Happening => {
    const group = random.pick(LASTING);
    const named = some(random, members, between(random, 1, 3));
    const actions: Readonly<Record<string, DirectoryAction>> = {
      join: { kind: 'join', group, members: named },
      leave: { kind: 'leave', group, members: named },
      name: { kind: 'name', group, name: `Pushed ${group}` },
      snapshot: { kind: 'snapshot', group, name: null, members: named, parts: 1 },
      delete: { kind: 'delete', group },
    };
    const action = actions[random.pick(Object.keys(actions))] as DirectoryAction;
    const form = random.pick(['native', 'sns', 'eventbridge', 'scim_patch'] as const);
    const way = {
      form,
      time: 'exact',
      lateMs: random.below(4_000),
      copies: random.chance(0.1) ? 2 : 1,
    } as const;
    return {
      atMs: between(random, HOUR_MS, endMs - 2 * HOUR_MS),
      connection: CONNECTION,
      actor: 'directory',
      action,
      way,
    };
  });
}
