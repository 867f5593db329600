import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { SCHEDULES } from '../../shared/contract/topology.ts';
import { refreshPeople } from '../../shared/sync/people.ts';
import { pump } from '../../shared/sync/pump.ts';
import { followFeed } from '../../shared/sync/reconcile/feed.ts';
import { readLevels } from '../../shared/sync/reconcile/levels.ts';
import { sweep } from '../../shared/sync/reconcile/sweep.ts';
import { type Figure, table } from '../figure.ts';
import { CONNECTION, createRig, type Rig } from '../memory/rig.ts';
import { seedGroups } from '../memory/seed.ts';
import { type Counts, sumOf } from '../memory/tally.ts';

const amount = z.number().nonnegative();
const Prices = z.object({
  asOf: z.string(),
  dynamodb: z.object({ perMillionReadUnits: amount, perMillionWriteUnits: amount }),
  sqs: z.object({ perMillionStandardRequests: amount }),
  lambda: z.object({ perMillionRequests: amount, perGbSecondArm: amount }),
  secretsManager: z.object({ perMillionCalls: amount, perSecretMonth: amount }),
  scheduler: z.object({ perMillionInvocations: amount }),
  assumed: z.object({
    memoryGb: amount,
    ingestSeconds: amount,
    applySeconds: amount,
    scheduledSeconds: amount,
    apiCallSeconds: amount,
    changesPerPersonAndMonth: amount,
    membersPerGroup: z.int().positive(),
    fullScanMinutes: amount,
    directoryPageSize: amount,
  }),
});
type Prices = z.infer<typeof Prices>;

const MILLION = 1_000_000;
const MINUTES_PER_MONTH = (365.25 * 24 * 60) / 12;
const COMPANIES = [
  { people: 200, groups: 20 },
  { people: 2_000, groups: 200 },
  { people: 20_000, groups: 2_000 },
] as const;
type Company = (typeof COMPANIES)[number];

const range = (length: number) => Array.from({ length }, (_, n) => n);

function lambdaDollars(prices: Prices, invocations: number, secondsEach: number): number {
  const { perMillionRequests, perGbSecondArm } = prices.lambda;
  return (
    (invocations / MILLION) * perMillionRequests +
    invocations * secondsEach * prices.assumed.memoryGb * perGbSecondArm
  );
}

function callDollars(prices: Prices, counts: Counts): number {
  const millions = (name: string) => (counts[name] ?? 0) / MILLION;
  return (
    millions('dynamodb read units') * prices.dynamodb.perMillionReadUnits +
    millions('dynamodb write units') * prices.dynamodb.perMillionWriteUnits +
    millions('sqs SendMessageBatch') * prices.sqs.perMillionStandardRequests +
    millions('secretsmanager GetSecretValue') * prices.secretsManager.perMillionCalls
  );
}

interface Priced {
  readonly dollars: number;
  readonly platformCalls: number;
}

/** The dearest case: a change that comes alone, and so is a batch, a window and a write of its own. */
async function changeAlone(prices: Prices): Promise<Priced> {
  const { membersPerGroup, ingestSeconds, applySeconds } = prices.assumed;
  const rig = await createRig({ coalesceSeconds: 5, people: membersPerGroup + 10 });
  await rig.ingest([rig.directory.snapshot('d0', range(membersPerGroup))]);
  await rig.drain();
  rig.pass(600_000);
  rig.tally.take();
  await rig.ingest([rig.directory.added('d0', membersPerGroup + 1)]);
  await rig.drain();
  const counts = rig.tally.take();
  // For each queue one receive and one delete by the event source mapping, and the producer's send.
  const queues = (5 * prices.sqs.perMillionStandardRequests) / MILLION;
  const lambda = lambdaDollars(prices, 1, ingestSeconds) + lambdaDollars(prices, 1, applySeconds);
  return {
    dollars: callDollars(prices, counts) + queues + lambda,
    platformCalls: sumOf(counts, 'platform '),
  };
}

/** What the schedules cost in a month in which nothing happens. */
async function idleMonth(prices: Prices, { people, groups }: Company): Promise<Priced> {
  const { membersPerGroup, scheduledSeconds } = prices.assumed;
  const rig = await createRig({ coalesceSeconds: 5, people });
  await rig.ingest([rig.directory.snapshot('d0', range(membersPerGroup))]);
  await rig.drain();
  await seedGroups(rig, groups, membersPerGroup);
  await followFeed(rig.connection, rig.ports, Number.MAX_SAFE_INTEGER);
  const tasks: readonly (readonly [everyMinutes: number, run: (rig: Rig) => Promise<unknown>])[] = [
    [
      SCHEDULES.pumpMinutes,
      async ({ ports }) => {
        await pump(CONNECTION, ports);
        await readLevels(CONNECTION, ports);
      },
    ],
    [
      SCHEDULES.feedMinutes,
      ({ connection, ports }) => followFeed(connection, ports, Number.MAX_SAFE_INTEGER),
    ],
    [SCHEDULES.sweepMinutes, ({ connection, ports }) => sweep(connection, ports)],
    [SCHEDULES.peopleMinutes, ({ connection, ports }) => refreshPeople(connection, ports)],
  ];
  let dollars = prices.secretsManager.perSecretMonth;
  let platformCalls = 0;
  for (const [everyMinutes, run] of tasks) {
    rig.pass(300_000);
    rig.tally.take();
    await run(rig);
    const counts = rig.tally.take();
    const runs = MINUTES_PER_MONTH / everyMinutes;
    dollars += runs * callDollars(prices, counts) + lambdaDollars(prices, runs, scheduledSeconds);
    dollars += (runs / MILLION) * prices.scheduler.perMillionInvocations;
    platformCalls += runs * sumOf(counts, 'platform ');
  }
  return { dollars, platformCalls };
}

/** Lists both sides whole, keeps nothing, writes what differs: one call per group and page to the directory. */
function fullScanMonth(prices: Prices, { people, groups }: Company, changes: number): Priced {
  const { fullScanMinutes, directoryPageSize, membersPerGroup, apiCallSeconds } = prices.assumed;
  const runs = MINUTES_PER_MONTH / fullScanMinutes;
  const directoryCalls =
    Math.ceil(groups / directoryPageSize) + groups * Math.ceil(membersPerGroup / directoryPageSize);
  const platformCalls = 1 + Math.ceil(people / 100);
  const seconds = (directoryCalls + platformCalls) * apiCallSeconds;
  return {
    dollars: lambdaDollars(prices, runs, seconds) + prices.secretsManager.perSecretMonth,
    platformCalls: runs * (directoryCalls + platformCalls) + changes,
  };
}

export const costFigure: Figure = {
  name: 'cost',
  title: 'Cost model',
  async run() {
    const prices = Prices.parse(JSON.parse(readFileSync(new URL('../prices.json', import.meta.url), 'utf8')));
    const alone = await changeAlone(prices);
    const rows: (string | number)[][] = [];
    for (const company of COMPANIES) {
      const changes = company.people * prices.assumed.changesPerPersonAndMonth;
      const idle = await idleMonth(prices, company);
      const scan = fullScanMonth(prices, company, changes);
      rows.push([
        `${company.people.toLocaleString('en-GB')} people, ${company.groups.toLocaleString('en-GB')} groups`,
        changes,
        `$${(idle.dollars + changes * alone.dollars).toFixed(2)}`,
        `$${idle.dollars.toFixed(2)}`,
        idle.platformCalls + changes * alone.platformCalls,
        `$${scan.dollars.toFixed(2)}`,
        scan.platformCalls,
      ]);
    }
    return [
      `Computed from counted calls and the inputs in \`bench/prices.json\` (list prices as of ${prices.asOf}, to be checked, and`,
      'assumptions that are marked as such). Logs, storage and alarms are left out on both sides.',
      '',
      `A million membership changes that each come alone in a group of ${prices.assumed.membersPerGroup}: **$${(alone.dollars * MILLION).toFixed(2)}**. Changes of`,
      'one window share a write, so a burst costs less.',
      '',
      `A month against a design that lists everything every ${prices.assumed.fullScanMinutes} minutes (calls to the directory and the platform;`,
      'ours to the platform alone, as the directory sends events):',
      '',
      table(['', 'changes', 'groupsync', 'of it idle', 'API calls', 'full scan', 'API calls'], rows),
    ].join('\n');
  },
};
