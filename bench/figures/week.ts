import { DEFAULT_COALESCE_SECONDS, EVENT_SOURCES } from '../../shared/contract/topology.ts';
import { seededRandom } from '../../simulate/random.ts';
import { type Figure, growthTable, type Measure, percentile } from '../figure.ts';
import { createRig, type Rig } from '../memory/rig.ts';
import { sumOf } from '../memory/tally.ts';
import { callDollars, lambdaDollars, queueDollars, readPrices, TASKS } from './cost.ts';

const MEMBERS = 100;
/** Each person is in twenty groups. */
const PEOPLE_PER_GROUP = MEMBERS / 20;
/** Of the memberships, so many begin or end a day. */
const DAILY_SHARE = 0.01;
const DAYS = 7;
const DAY_MS = 86_400_000;
const SIZES = [10, 100] as const;
const FULL_SIZES = [100, 1_000, 10_000] as const;
const SAMPLE_EVERY = 200;
/** Of one request to the table, generously. */
const REQUEST_SECONDS = 0.01;

interface Change {
  readonly atMs: number;
  readonly group: string;
  readonly member: number;
  readonly joins: boolean;
}

/** Joins of people who are not in the group, and leaves of some who are, at any time of day or night. */
function drawChanges(groups: number, people: number, startMs: number): readonly Change[] {
  const random = seededRandom(groups);
  const inside = Array.from({ length: groups }, (_, n) => new Set(membersOf(n, people)));
  const changes = Math.round(groups * MEMBERS * DAILY_SHARE * DAYS);
  const times = Array.from({ length: changes }, () => startMs + random.below(DAYS * DAY_MS));
  return times
    .sort((a, b) => a - b)
    .map((atMs) => {
      const group = random.below(groups);
      const members = inside[group] ?? new Set();
      const joins = random.chance(0.5);
      let member = joins ? random.below(people) : random.pick([...members]);
      while (joins && members.has(member)) member = (member + 1) % people;
      members[joins ? 'add' : 'delete'](member);
      return { atMs, group: `d${group}`, member, joins };
    });
}

const membersOf = (group: number, people: number): readonly number[] =>
  Array.from({ length: MEMBERS }, (_, n) => (group * PEOPLE_PER_GROUP + n) % people);

async function imported(groups: number, people: number): Promise<Rig> {
  const rig = await createRig({ coalesceSeconds: DEFAULT_COALESCE_SECONDS, people });
  for (let n = 0; n < groups; n += 1)
    await rig.ingest([rig.directory.snapshot(`d${n}`, membersOf(n, people))]);
  await rig.drain();
  rig.pass(DAY_MS);
  return rig;
}

/** Seven days of lone changes and of all schedules; ingest and apply take as long as `prices.json` assumes. */
async function liveWeek(groups: number) {
  const prices = readPrices();
  const { ingestSeconds, applySeconds, scheduledSeconds, apiCallSeconds } = prices.assumed;
  const people = Math.max(2 * MEMBERS, groups * PEOPLE_PER_GROUP);
  const rig = await imported(groups, people);
  rig.tally.take();
  const counts: Record<string, number> = {};
  /** Seconds that what was just run takes, were it all asked one after the other; that all is counted with the rest. */
  const reckon = (): number => {
    let seconds = 0;
    for (const [name, count] of Object.entries(rig.tally.take())) {
      counts[name] = (counts[name] ?? 0) + count;
      if (name.startsWith('platform ')) seconds += count * apiCallSeconds;
      else if (/^\w+ [A-Z]/.test(name)) seconds += count * REQUEST_SECONDS;
    }
    return seconds;
  };
  let longest = 0;
  const startMs = rig.clock();
  const changes = drawChanges(groups, people, startMs);
  const waiting = new Map<string, Change[]>();
  const lags: number[] = [];
  const tasks = TASKS.map(([minutes, run], n) => ({
    everyMs: minutes * 60_000,
    run,
    atMs: startMs + 7_000 * n,
  }));
  const invocations = { ingest: 0, apply: 0, scheduled: 0 };
  const shownIn = new Map([...rig.platform.groups.values()].map(({ id, spokeId }) => [spokeId, id]));
  const lookAt = (group: string) => {
    const users = new Set(rig.platform.groups.get(shownIn.get(group) ?? '')?.users);
    const isThere = ({ member, joins }: Change) => users.has(`u${member}`) === joins;
    const all = waiting.get(group) ?? [];
    for (const { atMs } of all.filter(isThere)) lags.push((rig.clock() - atMs) / 1_000);
    waiting.set(
      group,
      all.filter((one) => !isThere(one)),
    );
  };
  const ingestNext = async (at: number): Promise<number> => {
    const batch = changes
      .slice(at, at + EVENT_SOURCES.ingest.batchSize)
      .filter(({ atMs }) => atMs <= rig.clock());
    for (const change of batch) waiting.set(change.group, [...(waiting.get(change.group) ?? []), change]);
    const { added, removed } = rig.directory;
    await rig.ingest(batch.map(({ group, member, joins }) => (joins ? added : removed)(group, member)));
    invocations.ingest += 1;
    rig.pass(ingestSeconds * 1_000);
    return at + batch.length;
  };
  let taken = 0;
  let peakBytes = 0;
  const startedMs = performance.now();
  for (let step = 0; ; step += 1) {
    const gatheredMs = (changes[taken]?.atMs ?? Number.POSITIVE_INFINITY) + 1_000;
    const task = tasks.reduce((first, one) => (one.atMs < first.atMs ? one : first));
    const dueMs = rig.nextDueMs() ?? Number.POSITIVE_INFINITY;
    const next = Math.min(gatheredMs, dueMs, task.atMs);
    if (next > startMs + DAYS * DAY_MS + 60_000) break;
    rig.pass(Math.max(0, next - rig.clock()));
    if (next === gatheredMs) taken = await ingestNext(taken);
    else if (next === dueMs) {
      rig.pass(applySeconds * 1_000);
      for (const group of await rig.applyNext()) lookAt(group);
      invocations.apply += 1;
    } else {
      reckon();
      await task.run(rig);
      longest = Math.max(longest, reckon());
      task.atMs += task.everyMs;
      invocations.scheduled += 1;
    }
    if (step % SAMPLE_EVERY === 0) peakBytes = Math.max(peakBytes, process.memoryUsage().heapUsed);
  }
  const left = [...waiting.values()].flat().length;
  if (left > 0) throw new Error(`${left} of ${changes.length} changes are not on the platform`);
  reckon();
  const dollars =
    callDollars(prices, counts) +
    queueDollars(prices, 2 * invocations.ingest + 2 * invocations.apply + changes.length) +
    lambdaDollars(prices, invocations.ingest, ingestSeconds) +
    lambdaDollars(prices, invocations.apply, applySeconds) +
    lambdaDollars(prices, invocations.scheduled, scheduledSeconds);
  const minutes = (performance.now() - startedMs) / 60_000;
  return { groups, changes: changes.length, dollars, counts, lags, longest, minutes, peakBytes };
}

type Week = Awaited<ReturnType<typeof liveWeek>>;

const MEASURES: readonly Measure<Week>[] = [
  ['changes', ({ changes }) => changes, false],
  ['dollars', ({ dollars }) => dollars, true],
  ['read units', ({ counts }) => counts['dynamodb read units'] ?? 0, true],
  ['write units', ({ counts }) => counts['dynamodb write units'] ?? 0, true],
  ['platform writes', ({ counts }) => sumOf(counts, 'platform P'), true],
  ['platform calls', ({ counts }) => sumOf(counts, 'platform '), true],
  ['lag p50 s', ({ lags }) => percentile(lags, 0.5), false],
  ['p95 s', ({ lags }) => percentile(lags, 0.95), false],
  ['p99 s', ({ lags }) => percentile(lags, 0.99), false],
  ['longest run s', ({ longest }) => longest, false],
  ['heap GB', ({ peakBytes }) => peakBytes / 2 ** 30, false],
  ['minutes', ({ minutes }) => minutes, true],
];

export const weekFigure: Figure = {
  name: 'week',
  title: 'A week of a company',
  async run({ full }) {
    const weeks: Week[] = [];
    for (const groups of full ? FULL_SIZES : SIZES) {
      weeks.push(await liveWeek(groups));
      console.error(`lived ${groups} groups in ${weeks.at(-1)?.minutes.toFixed(1)} minutes`);
    }
    return [
      `Groups of ${MEMBERS}, each person in twenty; ${DAILY_SHARE * 100} % of the memberships change each day, for ${DAYS} days, one message each, beside every`,
      'run of every schedule. The real use cases over in-memory services, in simulated time: a second of gathering, and ingest and apply',
      'as slow as `prices.json` assumes, one invocation at a time, which is less than they may. The longest run is of a schedule, were all its',
      `requests and calls made one after the other (${REQUEST_SECONDS} s each, and what \`prices.json\` assumes); it may take 900 s. The heap holds the`,
      'whole table and platform. Dollars are of the week, without what a month costs whatever happens. 10,000 groups (1,000,000',
      'memberships): `npm run bench -- week --full`.',
      '',
      growthTable(MEASURES, weeks),
    ].join('\n');
  },
};
