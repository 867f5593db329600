import { DIRECTORIES } from '../../directory-simulator/directories.ts';
import type { Settings } from '../../directory-simulator/engine/settings.ts';
import type { DirectoryKind } from '../../shared/contract/directory-settings.ts';
import { actsOf } from '../acts.ts';
import { crashPoints } from '../draw-crashes.ts';
import { drawFaults } from '../draw-faults.ts';
import { drawImports } from '../draw-imports.ts';
import { drawConversions, drawPeople, drawUserIdChanges, roleOf, type Town } from '../draw-people.ts';
import { drawTakeovers } from '../draw-takeovers.ts';
import { between, type Random, some, weighted } from '../random.ts';
import {
  type DirectoryAction,
  type Happening,
  HOUR_MS,
  MINUTE_MS,
  type OperatorAction,
  type SourceSpec,
} from '../simulation-run.ts';
import { drawChanges } from './draw-changes.ts';
import { drawWorld } from './draw-world.ts';
import {
  DIRECTORY_FAULTS,
  type DirectoryFault,
  type DirectoryFaultAction,
  type DirectoryFaultRange,
  faultsOf,
} from './faults.ts';
import { CONNECTION, GROUPS, LASTING, type Scene, type Timed } from './scene.ts';
import { sourceVendorOf } from './vendors.ts';

const COMPANY = 'dogwood';
const PEOPLE = 14;
/** Operator actions that would stop the reader. They are drawn only for connections without a reader. */
const LEFT_OUT: ReadonlySet<OperatorAction['kind']> = new Set<OperatorAction['kind']>([
  'remove_connection',
  'connect',
]);

interface DrawnDirectory {
  readonly town: Town;
  readonly source: SourceSpec;
  readonly happenings: readonly Happening[];
}

/** Draws a connection with a reader for a directory of the vendor, with all its happenings. */
export function drawDirectory(
  random: Random,
  settings: Town['settings'],
  { kind, endMs }: { readonly kind: DirectoryKind; readonly endMs: number },
): DrawnDirectory {
  const vendor = sourceVendorOf(kind);
  const people = drawPeople(random.fork('people'), CONNECTION, { count: PEOPLE, hasScim: false });
  const members = people.map(({ role }) => role.slice(roleOf(CONNECTION, '').length));
  const groups = Array.from({ length: GROUPS }, (_, index) => `k${index}`);
  const nested = random.chance(0.8) ? 'flatten' : 'ignore';
  const directory = vendor.settingFrom(random.fork('setting'));
  const town: Town = {
    name: CONNECTION,
    company: COMPANY,
    share: 0,
    groups,
    count: PEOPLE,
    people,
    hasScim: false,
    hasNumbers: false,
    settings: { ...settings, nested, directory },
  };
  const scene: Scene = { vendor, endMs, members };
  const changes = drawChanges(random.fork('changes'), scene);
  const faults = drawDirectoryFaults(random.fork('faults'), scene);
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
    ...[...changes, ...faults].map((one): Happening => ({ ...one, connection: CONNECTION, actor: 'source' })),
    ...drawCrashes(random.fork('crashes'), endMs),
    ...drawPushes(random.fork('pushes'), scene),
    ...drawTakeovers(random.fork('takeovers'), { town, endMs }),
    ...drawImports(random.fork('imports'), { town, endMs }),
  ];
  const isShort = faults.some(({ action }) => action.directoryFault === 'ends_early');
  const difficulty = drawDifficulty(random.fork('difficulty'), DIRECTORIES[kind].realistic, isShort);
  const world = drawWorld(random.fork('world'), scene);
  return { town, happenings, source: { setting: directory, difficulty, world } };
}

function drawDifficulty(random: Random, usual: Settings, isShort: boolean): Settings {
  return {
    ...usual,
    failures: random.pick([0, 0.01, 0.05]),
    // A reader can notice that a list ended too early only by a correct count of members. So a run with this fault
    // always has correct counts.
    absentCounts: isShort ? 0 : usual.absentCounts,
    lagSeconds: isShort ? { ...usual.lagSeconds, counts: 0 } : usual.lagSeconds,
    // DPoP proofs are signed in threads, and a run with threads is not repeatable.
    dpop: 'off',
    queriesPerMinute: random.pick([2_400, 2_400, 60]),
    lostLogEntries: random.pick([0, 0, 0.1, 0.3]),
    loggedIdentifier: random.pick(['email', 'id']),
    // A count of users only does not prove a list with nested groups, because the reader does not know what is counted.
    countsGroups: random.chance(0.5) || isShort,
  };
}

/** Faults at most once in a run. After two in a row, the reader would correctly accept the wrong answer. */
const ONCE: ReadonlySet<DirectoryFault> = new Set<DirectoryFault>([
  'hides_group',
  'shows_no_members',
  'ends_early',
]);

function drawDirectoryFaults(
  random: Random,
  { vendor, endMs }: Scene,
): readonly Timed<DirectoryFaultAction>[] {
  const weights = faultsOf(vendor.ownFaults).map((fault) => [fault, DIRECTORY_FAULTS[fault][0]]);
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
    return actsOf(CONNECTION).aws(atMs, action);
  });
}

/** Draws messages of another producer about groups of the reader, which only cause a read of the group. */
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
    const form = random.pick(['native', 'sns', 'eventbridge'] as const);
    const way = { form, lateMs: random.below(4_000), copies: random.chance(0.1) ? 2 : 1 };
    return actsOf(CONNECTION).event(between(random, HOUR_MS, endMs - 2 * HOUR_MS), action, way);
  });
}
