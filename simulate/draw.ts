import { DIRECTORY_KINDS } from '../shared/contract/directory-settings.ts';
import { drawRhythm } from './draw-directory.ts';
import { drawAfterthoughts, drawFaults } from './draw-faults.ts';
import { drawFourEyes } from './draw-four-eyes.ts';
import { drawImports } from './draw-imports.ts';
import { drawPairs } from './draw-pairs.ts';
import { drawConversions, drawPeople, drawUserIdChanges, type Town } from './draw-people.ts';
import { drawReturn, withReturn } from './draw-returns.ts';
import { drawTakeovers } from './draw-takeovers.ts';
import { drawComebacks, drawWider, numberedPeople, SHARES } from './draw-wider.ts';
import { meetingTown, type Pair } from './pair-needs.ts';
import { drawPerson } from './persons.ts';
import { between, type Random, seededRandom, some, weighted } from './random.ts';
import { drawDirectory } from './reader/draw.ts';
import type { ConnectionSpec, Happening, SimulationRun, Traits, Way } from './simulation-run.ts';
import { DAY_MS, returnedName } from './simulation-run.ts';

export interface DrawOptions {
  /** The number of days with faults; 7 if undefined. */
  readonly days?: number;
  readonly scale?: keyof typeof SCALES;
  /** If true, the run lasts two years with few happenings. Otherwise it lasts some days with many happenings. */
  readonly long?: boolean;
  /** Whether the run has an additional connection whose directory groupsync reads. A long run never has one. */
  readonly directory?: boolean | undefined;
  /** If true, the run has only the connection whose directory groupsync reads. */
  readonly alone?: boolean | undefined;
  /** Pairs of features that a group of the run meets, in addition to what the seed draws. */
  readonly meet?: readonly Pair[];
}

const SCALES = {
  small: { groups: 8, people: 24, actionsPerDay: 8 },
  normal: { groups: 30, people: 100, actionsPerDay: 20 },
};

/** In a long run, quiet days follow each day with happenings. Seven periods are two years. */
const STRETCHED_DAYS = 104;
const stretched = (atMs: number) => (atMs % DAY_MS) + Math.floor(atMs / DAY_MS) * STRETCHED_DAYS * DAY_MS;
const LONG_ACTIONS = 60;

export function drawRun(
  seed: number,
  { long = false, days = 7, scale = 'normal', directory = false, alone = false, meet = [] }: DrawOptions = {},
): SimulationRun {
  // Similar seeds give similar first numbers. `fork` hashes the seed and so avoids this similarity.
  const random = seededRandom(seed).fork('life');
  const endMs = days * DAY_MS;
  const drawnTowns = drawTowns(random.fork('towns'), SCALES[scale]);
  const returning = drawReturn(random.fork('return'), drawnTowns, endMs);
  // With four eyes, a connection cannot be removed.
  const meeting = drawnTowns.find((town) => town !== returning?.town);
  const towns = drawnTowns.map((town) => {
    if (town === returning?.town) return { ...town, settings: { ...town.settings, fourEyes: false } };
    return town === meeting && meet.length > 0 ? meetingTown(town, meet) : town;
  });
  const happenings = towns.flatMap((town) => {
    const actions = Math.round((long ? LONG_ACTIONS : days * SCALES[scale].actionsPerDay) * town.share);
    const rhythm = drawRhythm(random.fork(`rhythm ${town.name}`), town, { actions, endMs });
    const faults = drawFaults(random.fork(`trouble ${town.name}`), town, { ...rhythm, towns, endMs });
    const wider = [
      ...drawWider(random.fork(`wider ${town.name}`), { town, endMs }),
      ...drawFourEyes(random.fork(`four eyes ${town.name}`), { town, endMs }),
      ...drawImports(random.fork(`imports ${town.name}`), { town, endMs }),
      ...(town.name === returning?.town.name
        ? []
        : drawTakeovers(random.fork(`takeovers ${town.name}`), { town, endMs })),
      ...(long ? drawComebacks(random.fork(`comebacks ${town.name}`), { town, endMs }) : []),
    ];
    const conversions = drawConversions(random.fork(`conversions ${town.name}`), town, endMs);
    const others = [...rhythm.happenings, ...conversions];
    const changes = drawUserIdChanges(random.fork(`user ids ${town.name}`), town, { endMs, others });
    return [...others, ...faults, ...changes, ...wider];
  });
  const town = towns.find(({ name }) => name === meeting?.name);
  if (town !== undefined) happenings.push(...drawPairs(random.fork('meet'), town, { pairs: meet, endMs }));
  const connections = towns.map((town): ConnectionSpec => {
    const { name, company, settings, people } = town;
    const drawn = weighted(random.fork(`credential ${name}`), { static: 2, oauth: 1 });
    const traits = drawTraits(random.fork(`traits ${company}`));
    return { name, company, settings, traits, credential: town.credential ?? drawn, people };
  });
  const source = random.fork('source');
  if (directory && !long) {
    const kind = DIRECTORY_KINDS[seed % DIRECTORY_KINDS.length] ?? 'google';
    const base = drawSettings(source.fork('settings'), ['k1', 'k2', 'k5']);
    const drawn = drawDirectory(source, base, { kind, endMs });
    const { name, company, settings, people } = drawn.town;
    const traits = drawTraits(source.fork('traits'));
    connections.push({ name, company, settings, traits, people, credential: 'static', source: drawn.source });
    happenings.push(...drawn.happenings);
  }
  const coalesceSeconds = weighted(random.fork('window'), { 5: 4, 0: 1, 60: 1 });
  if (coalesceSeconds === '0') {
    for (const town of towns)
      happenings.push(...drawAfterthoughts(random.fork(`pairs ${town.name}`), town, endMs));
  }
  const actors = random.fork('actors');
  const all = returning === undefined ? happenings : withReturn(happenings, returning);
  const again = connections.filter(({ name }) => name === returning?.town.name);
  const later = again.map(
    (one): ConnectionSpec => ({
      ...one,
      name: returnedName(one.name),
      isLater: true,
      credential: 'static',
      people: [],
    }),
  );
  const sorted = all
    .filter(({ atMs }) => atMs >= 0 && atMs < endMs)
    .map((one) => (long ? { ...one, atMs: stretched(one.atMs) } : one))
    .toSorted((a, b) => a.atMs - b.atMs)
    .map((one) => (one.actor === 'directory' ? { ...one, way: withActor(actors, one.way) } : one))
    .map((one) => withPerson(random, one));
  const whole = {
    seed,
    days: long ? days * STRETCHED_DAYS : days,
    coalesceSeconds: Number(coalesceSeconds),
    connections: [...connections, ...later],
    happenings: sorted,
  };
  return alone ? onlyReader(whole) : whole;
}

function onlyReader(run: SimulationRun): SimulationRun {
  const connections = run.connections.filter(({ source }) => source !== undefined);
  const isOfReader = ({ connection }: Happening) => connections.some(({ name }) => name === connection);
  return { ...run, connections, happenings: run.happenings.filter(isOfReader) };
}

/** Adds an actor to the messages of 40 % of the changes. */
const withActor = (random: Random, way: Way): Way =>
  random.chance(0.4) ? { ...way, by: `admin-${random.below(5)}` } : way;

/** Adds the person of an operator's action. */
const withPerson = (random: Random, one: Happening): Happening =>
  one.actor === 'operator'
    ? { by: drawPerson(random.fork(`person ${one.connection} ${one.atMs}`), one.action.kind), ...one }
    : one;

function drawTowns(
  random: Random,
  size: { readonly groups: number; readonly people: number },
): readonly Town[] {
  const names = random.chance(1 / 6) ? ['a', 'b', 'c'] : ['a', 'b'];
  const companies = ['acme', 'birch', 'cedar'];
  if (random.chance(1 / 8)) companies[1] = 'acme';
  const weights = names.map(() => 1 + random.below(3));
  const sum = weights.reduce((all, one) => all + one, 0);
  return names.map((name, index): Town => {
    const share = (weights[index] ?? 1) / sum;
    const company = companies[index] ?? name;
    const isGuest = companies.indexOf(company) < index;
    const prefix = random.fork(`ids ${name}`).chance(0.4) ? 'G' : 'g';
    const groups = Array.from(
      { length: Math.max(3, Math.round(size.groups * share)) },
      (_, group) => `${prefix}${group}${isGuest ? name : ''}`,
    );
    const count = Math.max(8, Math.round(size.people * share));
    const hasScim = index === 0 && random.chance(0.4);
    const hasNumbers = random.fork(`numbers ${name}`).chance(SHARES.numbers);
    const people = [
      ...drawPeople(random.fork(`people ${name}`), name, { count, hasScim }),
      ...(hasNumbers ? numberedPeople(name) : []),
    ];
    const drawn = drawSettings(random.fork(`settings ${name}`), groups);
    const excluded = random.fork(`excluded ${name}`);
    const settings = {
      ...drawn,
      ...(hasNumbers && { match: MATCH_RULES }),
      ...(excluded.chance(SHARES.excluded) && { people: drawExcluded(excluded, name) }),
    };
    return { name, company, share, groups, count, hasScim, hasNumbers, people, settings };
  });
}

/** Draws one or two members that no group may have. The first members are in many groups. */
const drawExcluded = (random: Random, connection: string) => ({
  exclude: some(random, ['p2', 'p5', 'p6', 'p7'], between(random, 1, 2)).map(
    (member) => `email=${member}@${connection}.test`,
  ),
});

function drawSettings(random: Random, groups: readonly string[]): Town['settings'] {
  const guards = {
    usual: {},
    small: {
      minSize: 3,
      maxRemovedShare: 0.4,
      maxRemovedCount: 6,
      perHourCount: between(random, 8, 20),
      deletedGroups: 1,
    },
    share: { minSize: 4, maxRemovedShare: 0.3, deletedGroups: 0, deletedGroupsShare: 0.2 },
    hour: { minSize: 50, maxRemovedCount: 50, perHourCount: between(random, 4, 12) },
    off: null,
  };
  const policy = {
    match: random.pick(groups),
    mode: weighted(random, { report: 1, additive: 1, authoritative: 1 }),
  };
  return {
    mode: weighted(random, { authoritative: 4, additive: 2, report: 1 }),
    onGroupDeleted: weighted(random, { delete: 3, release: 1 }),
    guard: guards[weighted(random, { usual: 3, small: 3, share: 1, hour: 1, off: 1 })],
    includeStates: random.chance(0.15) ? ['ACTIVE', 'HIRED'] : ['ACTIVE'],
    memberIdField: weighted<'userId' | 'id'>(random, { userId: 5, id: 1 }),
    ...(random.chance(0.25) && { groups: { policies: [policy] } }),
    ...(random.chance(0.1) && { nameTemplate: '{name} ({connection})' }),
    ...(random.fork('four eyes').chance(FOUR_EYES) && { fourEyes: true }),
  };
}

/** The share of connections in which another person must approve. */
const FOUR_EYES = 0.35;

const MATCH_RULES = ['email=workEmail', 'employeeNumber=employeeNumber'];

const SECOND_MS = 1_000;

function drawTraits(random: Random): Traits {
  const lagMs = (longest: number) => (random.chance(0.75) ? 0 : between(random, SECOND_MS, longest));
  return {
    staleStatus: Number(weighted(random, { 409: 5, 412: 2, 400: 1, 422: 1 })) as Traits['staleStatus'],
    enforceVersionOnPatch: random.chance(0.85),
    echoSpokeId: random.chance(0.85),
    spokeIds: random.chance(0.25) ? 'folded' : 'exact',
    longestName: random.chance(0.12) ? between(random, 12, 16) : null,
    names: weighted(random, { exact: 6, trimmed: 3, folded: 1 }),
    uniqueNames: random.chance(0.15),
    installer: random.chance(0.12) ? 'u-installer' : null,
    listLagMs: lagMs(300 * SECOND_MS),
    getLagMs: lagMs(45 * SECOND_MS),
    endOfFeed: weighted(random, { same: 1, null: 1, absent: 1, empty: 1 }),
    feedLagMs: random.chance(0.6) ? 0 : between(random, SECOND_MS, 900 * SECOND_MS),
    feedEnvelope: weighted(random, { data: 4, flat: 1 }),
    emptyFeedPage: weighted(random, { list: 3, nullEvents: 1, nullData: 1 }),
    numericVersions: random.chance(0.25),
  };
}
