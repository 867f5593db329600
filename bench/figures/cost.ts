import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { METRICS } from '../../shared/contract/metrics.ts';
import { SCHEDULES } from '../../shared/contract/topology.ts';
import { runPeople, runReconcile } from '../../shared/runtime/run-reconcile.ts';
import { createMetrics } from '../../shared/runtime/wire.ts';
import { followFeed } from '../../shared/sync/reconcile/feed.ts';
import { findProblems } from '../../shared/sync/reconcile/levels.ts';
import { requeueDue } from '../../shared/sync/requeue.ts';
import { resourcesOf, synthesise } from '../../test/infra/synthesised.ts';
import { type Figure, table } from '../figure.ts';
import { CONNECTION, createRig, type Rig } from '../memory/rig.ts';
import { seedGroups } from '../memory/seed.ts';
import { type Counts, sumOf } from '../memory/totals.ts';

const amount = z.number().nonnegative();
const Prices = z.object({
  asOf: z.string(),
  dynamodb: z.object({ perMillionReadUnits: amount, perMillionWriteUnits: amount }),
  sqs: z.object({ perMillionStandardRequests: amount }),
  lambda: z.object({ perMillionRequests: amount, perGbSecondArm: amount }),
  secretsManager: z.object({ perMillionCalls: amount, perSecretMonth: amount }),
  scheduler: z.object({ perMillionInvocations: amount }),
  cloudWatch: z.object({
    perMetricMonth: amount,
    perAlarmMetricMonth: amount,
    perDashboardMonth: amount,
    perGbLogged: amount,
  }),
  xray: z.object({ perMillionTraces: amount }),
  kms: z.object({ perKeyMonth: amount, perMillionRequests: amount }),
  assumed: z.object({
    memoryGb: amount,
    ingestSeconds: amount,
    applySeconds: amount,
    scheduledSeconds: amount,
    apiCallSeconds: amount,
    changesPerPersonAndMonth: amount,
    membersPerGroup: z.int().positive(),
  }),
  assumedPerRun: z.object({ logBytes: amount, kmsRequests: amount, traces: amount }),
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

export function lambdaDollars(
  prices: Prices,
  invocations: number,
  secondsEach: number,
  memoryGb = prices.assumed.memoryGb,
): number {
  const { perMillionRequests, perGbSecondArm } = prices.lambda;
  return (invocations / MILLION) * perMillionRequests + invocations * secondsEach * memoryGb * perGbSecondArm;
}

export function callDollars(prices: Prices, counts: Counts): number {
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

export const queueDollars = (prices: Prices, requests: number): number =>
  (requests * prices.sqs.perMillionStandardRequests) / MILLION;

export const readPrices = (): Prices =>
  Prices.parse(JSON.parse(readFileSync(new URL('../prices.json', import.meta.url), 'utf8')));

/** The number of changes to measure, ten minutes apart. All changes together read the platform's secret once. */
const CHANGES = 6;

/** Returns the cost of the most expensive case: a single change with its own batch, window and write. */
export async function changeAlone(
  prices: Prices,
  { ingest, apply } = { ingest: prices.assumed.memoryGb, apply: prices.assumed.memoryGb },
): Promise<Priced> {
  const { membersPerGroup, ingestSeconds, applySeconds } = prices.assumed;
  const rig = await createRig({ coalesceSeconds: 5, people: membersPerGroup + 10 });
  await rig.ingest([rig.directory.snapshot('d0', range(membersPerGroup))]);
  await rig.drain();
  rig.advance(3_600_000);
  rig.totals.take();
  for (let change = 1; change <= CHANGES; change += 1) {
    await rig.ingest([rig.directory.added('d0', membersPerGroup + change)]);
    await rig.drain();
    rig.advance(600_000);
  }
  const counts = rig.totals.take();
  // Uncounted requests: the send by the producer, and for each queue a receive and a delete by Lambda.
  const queues = queueDollars(prices, 5);
  const lambda =
    lambdaDollars(prices, 1, ingestSeconds, ingest) + lambdaDollars(prices, 1, applySeconds, apply);
  return {
    dollars: callDollars(prices, counts) / CHANGES + queues + lambda,
    platformCalls: sumOf(counts, 'platform ') / CHANGES,
  };
}

const { sweepMinutes, peopleMinutes } = SCHEDULES;
const refresh = ({ connection, ports }: Rig) => runPeople(connection, { everyMinutes: peopleMinutes }, ports);
const runSweep = ({ connection, ports }: Rig) => {
  const run = { ports, found: new Map(), deadlineMs: Number.MAX_SAFE_INTEGER };
  return runReconcile(connection, { task: 'sweep', everyMinutes: sweepMinutes }, run);
};

const TASKS: readonly (readonly [everyMinutes: number, run: (rig: Rig) => Promise<unknown>])[] = [
  [
    SCHEDULES.pumpMinutes,
    async ({ connection, ports }) => {
      await requeueDue(CONNECTION, ports);
      await findProblems(connection, ports);
    },
  ],
  [SCHEDULES.feedMinutes, ({ connection, ports }) => followFeed(connection, ports, Number.MAX_SAFE_INTEGER)],
  [SCHEDULES.sweepMinutes, runSweep],
  [SCHEDULES.peopleMinutes, refresh],
  // These runs find that the connection is not due.
  [SCHEDULES.longTaskMinutes, runSweep],
  [SCHEDULES.longTaskMinutes, refresh],
];

async function idleMonth(prices: Prices, { people, groups }: Company): Promise<Priced> {
  const { membersPerGroup, scheduledSeconds } = prices.assumed;
  const rig = await createRig({ coalesceSeconds: 5, people });
  await rig.ingest([rig.directory.snapshot('d0', range(membersPerGroup))]);
  await rig.drain();
  await seedGroups(rig, groups, membersPerGroup);
  await followFeed(rig.connection, rig.ports, Number.MAX_SAFE_INTEGER);
  let dollars = prices.secretsManager.perSecretMonth;
  let platformCalls = 0;
  for (const [everyMinutes, run] of TASKS) {
    rig.advance(300_000);
    rig.totals.take();
    await run(rig);
    const counts = rig.totals.take();
    const runs = MINUTES_PER_MONTH / everyMinutes;
    dollars += runs * callDollars(prices, counts) + lambdaDollars(prices, runs, scheduledSeconds);
    dollars += (runs / MILLION) * prices.scheduler.perMillionInvocations;
    platformCalls += runs * sumOf(counts, 'platform ');
  }
  return { dollars, platformCalls };
}

/** Returns the fixed costs of the template's resources, and of the metrics and logs of healthy runs. */
function fixedMonth(prices: Prices): readonly (readonly [what: string, dollars: number])[] {
  const { cloudWatch, xray, kms, assumedPerRun } = prices;
  const { template } = synthesise();
  const parts = (type: string) => Object.values(resourcesOf(template, type)).map((one) => one.Properties);
  const watched = parts('AWS::CloudWatch::Alarm').flatMap(({ Metrics = [{ MetricStat: {} }] }) =>
    Metrics.filter((one: object) => 'MetricStat' in one),
  ).length;
  const { pumpMinutes, feedMinutes, longTaskMinutes } = SCHEDULES;
  const perMonth = [pumpMinutes, feedMinutes, longTaskMinutes, longTaskMinutes].map(
    (minutes) => MINUTES_PER_MONTH / minutes,
  );
  const runs = perMonth.reduce((sum, one) => sum + one, 0);
  const lines: string[] = [];
  const metrics = createMetrics({ prefix: 'groupsync', clock: () => 0, write: (line) => lines.push(line) });
  metrics.count('PumpCompleted');
  const bytes = lines.join('').length * (MINUTES_PER_MONTH / pumpMinutes) + runs * assumedPerRun.logBytes;
  const own = METRICS.length;
  // An event source mapping polls its queue with five receives of twenty seconds each.
  const receives = parts('AWS::Lambda::EventSourceMapping').length * 15 * MINUTES_PER_MONTH;
  const keys = parts('AWS::KMS::Key').length * kms.perKeyMonth;
  return [
    [`${watched} metrics in alarms`, watched * cloudWatch.perAlarmMetricMonth],
    [`${own} custom metrics`, own * cloudWatch.perMetricMonth],
    ['logs', (bytes / 2 ** 30) * cloudWatch.perGbLogged],
    ['traces', ((runs * assumedPerRun.traces) / MILLION) * xray.perMillionTraces],
    ['receives that find no message', (receives / MILLION) * prices.sqs.perMillionStandardRequests],
    ['KMS', keys + ((runs * assumedPerRun.kmsRequests) / MILLION) * kms.perMillionRequests],
  ];
}

export const costFigure: Figure = {
  name: 'cost',
  title: 'Cost model',
  async run() {
    const prices = readPrices();
    const alone = await changeAlone(prices);
    const fixedCosts = fixedMonth(prices);
    const fixed = fixedCosts.reduce((sum, [, dollars]) => sum + dollars, 0);
    const { perDashboardMonth } = prices.cloudWatch;
    const rows: (string | number)[][] = [];
    for (const company of COMPANIES) {
      const changes = company.people * prices.assumed.changesPerPersonAndMonth;
      const idle = await idleMonth(prices, company);
      rows.push([
        `${company.people.toLocaleString('en-GB')} people, ${company.groups.toLocaleString('en-GB')} groups`,
        changes,
        `$${(idle.dollars + changes * alone.dollars).toFixed(2)}`,
        `$${idle.dollars.toFixed(2)}`,
        `$${(fixed + idle.dollars + changes * alone.dollars).toFixed(2)}`,
        idle.platformCalls + changes * alone.platformCalls,
      ]);
    }
    return [
      `The costs are computed from counted calls, and from the list prices of ${prices.asOf} and the assumptions in \`bench/prices.json\`.`,
      'Check the list prices before you use the result. Free tiers and storage are not included.',
      '',
      `If each change is alone in its coalescing window, a million membership changes in groups of ${prices.assumed.membersPerGroup} cost **$${(alone.dollars * MILLION).toFixed(2)}**.`,
      'Changes within one window share a write, so a burst costs less.',
      '',
      `Fixed costs are **$${fixed.toFixed(2)}** a month, in addition to the calls of the scheduled runs. The dashboard, a setting that`,
      `is off by default, costs an additional $${perDashboardMonth} if the account already has three dashboards.`,
      '',
      table(
        ['', 'dollars'],
        fixedCosts.map(([what, dollars]) => [what, `$${dollars.toFixed(2)}`]),
      ),
      '',
      'The next table shows the monthly costs. The directory sends events, so groupsync calls only the platform.',
      '',
      table(['', 'changes', 'groupsync', 'groupsync without changes', 'with fixed costs', 'API calls'], rows),
    ].join('\n');
  },
};
