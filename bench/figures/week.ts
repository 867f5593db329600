import { seededRandom } from '../../simulate/random.ts';
import { type Figure, growthTable, type Measure, percentile, table } from '../figure.ts';
import { createChain, FUNCTIONS, type Limits, REQUEST_SECONDS, type Usage } from '../memory/chain.ts';
import { type Counts, sumOf } from '../memory/totals.ts';
import { callDollars, lambdaDollars, queueDollars, readPrices } from './cost.ts';

interface Size {
  readonly groups: number;
  readonly members: number;
  readonly days: number;
}

const GROUPS_OF_A_PERSON = 20;
/** The part of the memberships that begin or end per day. */
const DAILY_SHARE = 0.01;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const of = (members: number, days: number, ...sizes: readonly number[]): readonly Size[] =>
  sizes.map((groups) => ({ groups, members, days }));
const WEEKS = of(100, 7, 10, 100);
const FULL_WEEKS = of(100, 7, 100, 1_000, 10_000);
const FULL_DAYS = of(10, 0.25, 1_000, 10_000, 100_000);

interface Change {
  readonly atMs: number;
  readonly group: number;
  readonly member: number;
  readonly joins: boolean;
}

const membersOf = (group: number, { members }: Size, people: number): readonly number[] =>
  Array.from({ length: members }, (_, n) => (((group * members) / GROUPS_OF_A_PERSON + n) % people) | 0);

/** Returns random joins and leaves at random times. A person who joins is not yet in the group. */
function drawChanges(size: Size, people: number, startMs: number): readonly Change[] {
  const random = seededRandom(size.groups);
  const inside = Array.from({ length: size.groups }, (_, n) => new Set(membersOf(n, size, people)));
  const changes = Math.round(size.groups * size.members * DAILY_SHARE * size.days);
  const times = Array.from({ length: changes }, () => startMs + random.below(size.days * DAY_MS));
  return times
    .sort((a, b) => a - b)
    .map((atMs) => {
      const group = random.below(size.groups);
      const members = inside[group] ?? new Set();
      const joins = members.size === 0 || random.chance(0.5);
      let member = joins ? random.below(people) : random.pick([...members]);
      while (joins && members.has(member)) member = (member + 1) % people;
      members[joins ? 'add' : 'delete'](member);
      return { atMs, group, member, joins };
    });
}

/** Simulates an import with one message for each group, and then days with single changes and all schedules. */
async function simulateWeek(size: Size) {
  const prices = readPrices();
  const people = Math.max(2 * size.members, (size.groups * size.members) / GROUPS_OF_A_PERSON);
  const chain = await createChain(people);
  const { clock, directory, limits, platform, time } = chain;
  const startedMs = performance.now();
  const minutesSince = () => (performance.now() - startedMs) / MINUTE_MS;
  const priced = () => {
    const [counts, usage] = [chain.totals.take(), chain.takeUsage()];
    const lambda = FUNCTIONS.map((name) => {
      const { runs, seconds } = usage[name];
      return runs === 0 ? 0 : lambdaDollars(prices, runs, seconds / runs, limits[name].memoryGb);
    });
    const scheduled = ((counts['scheduler invocations'] ?? 0) / 1e6) * prices.scheduler.perMillionInvocations;
    const queues = queueDollars(prices, counts['sqs requests'] ?? 0);
    const dollars = callDollars(prices, counts) + queues + scheduled + lambda.reduce((sum, one) => sum + one);
    return { counts, usage, dollars };
  };

  let peakBytes = 0;
  const runUntil = async (untilMs: number, isOver = () => false) => {
    while (clock() < untilMs && !isOver()) {
      await time.run(Math.min(untilMs, clock() + MINUTE_MS));
      peakBytes = Math.max(peakBytes, process.memoryUsage().heapUsed);
    }
  };
  chain.begin('people');
  await runUntil(clock() + HOUR_MS);
  chain.beginSchedules();
  const sentMs = clock();
  chain.send(
    Array.from({ length: size.groups }, (_, n) => directory.snapshot(`d${n}`, membersOf(n, size, people))),
  );
  await runUntil(sentMs + DAY_MS, () => platform.groups.size === size.groups && chain.isIdle());
  if (!chain.isIdle())
    throw new Error(`after a day, the platform has ${platform.groups.size} of ${size.groups} groups`);
  const importSeconds = ((platform.writes.at(-1)?.atMs ?? Number.NaN) - sentMs) / 1_000;
  // The usage of the import includes the scheduled runs of the hour after the import.
  await runUntil(clock() + HOUR_MS);
  const imported = { ...priced(), seconds: importSeconds };
  const writesBefore = platform.writes.length;
  const callsBefore = platform.calls.length;

  const changes = drawChanges(size, people, clock());
  const shownIn = new Map([...platform.groups.values()].map(({ id, spokeId }) => [spokeId, id]));
  const waiting = new Map<string, Change[]>();
  const lags: number[] = [];
  chain.onWritten((groups) => {
    for (const group of groups) {
      const users = new Set(platform.groups.get(shownIn.get(group) ?? '')?.users);
      const isThere = ({ member, joins }: Change) => users.has(`u${member}`) === joins;
      const all = waiting.get(group) ?? [];
      for (const { atMs } of all.filter(isThere)) lags.push((clock() - atMs) / 1_000);
      waiting.set(
        group,
        all.filter((one) => !isThere(one)),
      );
    }
  });
  const change = (n: number): void => {
    const next = changes[n];
    if (next === undefined) return;
    time.at(next.atMs, () => {
      const { member, joins } = next;
      const group = `d${next.group}`;
      waiting.set(group, [...(waiting.get(group) ?? []), next]);
      chain.send([(joins ? directory.added : directory.removed)(group, member)]);
      change(n + 1);
    });
  };
  change(0);
  await runUntil(clock() + size.days * DAY_MS + 5 * MINUTE_MS);
  const left = [...waiting.values()].flat().length;
  if (left > 0) throw new Error(`${left} of ${changes.length} changes are not on the platform`);
  const writes = platform.writes.length - writesBefore;
  const inSecond = new Map<number, number>();
  for (const { atMs } of platform.calls) {
    const second = Math.floor(atMs / 1_000);
    inSecond.set(second, (inSecond.get(second) ?? 0) + 1);
  }
  const busiest = [...inSecond.values()].reduce((most, one) => Math.max(most, one), 0);
  const calls = platform.calls.length - callsBefore;
  const minutes = minutesSince();
  const facts = { limits, changes: changes.length, lags, writes, calls, busiest, peakBytes, minutes };
  return { ...size, ...facts, ...priced(), imported };
}

type WeekRun = Awaited<ReturnType<typeof simulateWeek>>;

const units = (counts: Counts, kind: string) => counts[`dynamodb ${kind} units`] ?? 0;
const MEASURES: readonly Measure<WeekRun>[] = [
  ['import s', ({ imported }) => imported.seconds, true],
  ['import dollars', ({ imported }) => imported.dollars, true],
  ['changes', ({ changes }) => changes, false],
  ['dollars', ({ dollars }) => dollars, true],
  ['read units', ({ counts }) => units(counts, 'read'), true],
  ['write units', ({ counts }) => units(counts, 'write'), true],
  ['queue requests', ({ counts }) => sumOf(counts, 'sqs '), true],
  ['platform writes', ({ writes }) => writes, true],
  ['platform calls', ({ calls }) => calls, true],
  ['most in a second', ({ busiest }) => busiest, false],
  ['lag p50 s', ({ lags }) => percentile(lags, 0.5), false],
  ['p95 s', ({ lags }) => percentile(lags, 0.95), false],
  ['p99 s', ({ lags }) => percentile(lags, 0.99), false],
  ['heap GB', ({ peakBytes }) => peakBytes / 2 ** 30, false],
  ['minutes', ({ minutes }) => minutes, true],
];

/** Compares each function's usage with its limits, during the import and after it. */
function limitsTable(runs: readonly WeekRun[]): string {
  const rows = runs.flatMap((run) =>
    FUNCTIONS.map((name) => {
      const { maxConcurrency, seconds }: Limits = run.limits[name];
      const [during, after]: readonly Usage[] = [run.imported.usage[name], run.usage[name]] as const;
      return [
        `${name}, ${run.groups.toLocaleString('en-GB')} groups`,
        during?.runs ?? 0,
        after?.runs ?? 0,
        during?.most ?? 0,
        after?.most ?? 0,
        maxConcurrency ?? 'account',
        during?.longest ?? 0,
        after?.longest ?? 0,
        seconds,
      ];
    }),
  );
  const head = [
    '',
    'runs: import',
    'after',
    'parallel runs: import',
    'after',
    'limit',
    'longest run s: import',
    'after',
    'time-out s',
  ];
  return table(head, rows);
}

export const weekFigure: Figure = {
  name: 'week',
  title: 'A week of a company',
  async run({ full }) {
    const simulateAll = async (sizes: readonly Size[]) => {
      const runs: WeekRun[] = [];
      for (const size of sizes) {
        runs.push(await simulateWeek(size));
        const part = growthTable(MEASURES, runs);
        console.error(
          `groups of ${size.members}, ${size.days} days\n${part}\n${limitsTable(runs.slice(-1))}`,
        );
      }
      return runs;
    };
    const days = await simulateAll(full ? FULL_DAYS : []);
    const weeks = await simulateAll(full ? FULL_WEEKS : WEEKS);
    for (const { groups, limits, usage, imported } of [...days, ...weeks])
      for (const name of FUNCTIONS)
        if (Math.max(usage[name].longest, imported.usage[name].longest) > limits[name].seconds)
          throw new Error(`with ${groups} groups, a run of ${name} takes longer than its timeout`);
    return [
      'Each person is in twenty groups. The import sends one message per group, all at the same time. The changes begin one hour after the',
      `last write: each day, ${DAILY_SHARE * 100} % of the memberships change, with one message per change. All schedules run the whole time.`,
      '',
      '- **System**: the deployed settings and the production use cases, with services in memory, in simulated time.',
      `- **Time**: a request to AWS takes ${REQUEST_SECONDS} s. A call of the platform, and the minimum of each invocation, take the time in \`prices.json\`.`,
      '  Calls that an invocation makes at the same time overlap.',
      '- **Concurrency**: the limits of the template. Each invocation has its own container, and work without a free container waits. An',
      '  invocation that exceeds its timeout ends the benchmark.',
      '- **Lag**: the time from sending a message to the end of the invocation that wrote the change.',
      '- **Dollars**: the cost of the calls, and of the memory for the duration of the invocations. Fixed monthly costs are not included.',
      '  The dollars of the import include the hour after the import.',
      '- **Most in a second**: the highest number of platform calls in one second. The specification names no limit.',
      '- **Heap**: the heap of the whole process, including the table and the platform.',
      '',
      '`npm run bench -- week --full` measures 10,000 groups (1,000,000 memberships), and six hours with 100,000 groups of ten.',
      '',
      `**Groups of 100, ${weeks[0]?.days} days**`,
      '',
      growthTable(MEASURES, weeks),
      '',
      limitsTable(weeks.slice(-1)),
      ...(full
        ? [
            '',
            '**Groups of ten, six hours**',
            '',
            growthTable(MEASURES, days),
            '',
            limitsTable(days.slice(-1)),
          ]
        : []),
    ].join('\n');
  },
};
