import { SCHEDULES } from '../../shared/contract/topology.ts';
import { IMPORTED_PER_SECOND } from '../../shared/operate/import/rate.ts';
import { type Figure, percentile, table } from '../figure.ts';
import { type Chain, createChain } from '../memory/chain.ts';
import { processorsOf } from '../memory/container.ts';
import { copier } from '../memory/fleet.ts';
import { FUNCTIONS, limitsOfFunctions } from '../memory/functions.ts';
import { CONNECTION } from '../memory/rig.ts';
import { runInChild } from '../memory/run-in-child.ts';
import { NEW_TABLE, type Units } from '../memory/throughput.ts';
import type { Counts } from '../memory/totals.ts';
import { callDollars, changeAlone, lambdaDollars, queueDollars, readPrices } from './cost.ts';

/** Numbers of connections, people and memberships. */
const FULL = {
  connections: 2_000,
  largePeople: 500_000,
  large: 1_000_000,
  imported: 200_000,
  first: 100_000,
};
const QUICK = { connections: 200, largePeople: 50_000, large: 100_000, imported: 50_000, first: 20_000 };
type Scale = typeof FULL;

const [PEOPLE, GROUPS, MEMBERS, IMPORTED_MEMBERS] = [250, 25, 20, 100];
/** The number of connections whose members change during the import. */
const LIVE = 20;
/** The simulated requeue job runs every tenth minute, because its runs take most of the time of the benchmark. */
const PUMP_MINUTES = 10;
const WARMED: Units = { read: 40_000, write: 20_000 };
const [SLOW, LIMITED, IMPORTS] = ['slow', 'limited', 'imports'];
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOURS_PER_MONTH = (365.25 * 24) / 12;
const MILLION = 1_000_000;

type Goal = readonly [figure: string, goal: string, measured: string, isMet: boolean | undefined];

const range = (length: number) => Array.from({ length }, (_, n) => n);
const nameOf = (n: number) => `c${String(n).padStart(4, '0')}`;
const rounded = (value: number) =>
  value.toLocaleString('en-GB', { maximumFractionDigits: value < 10 ? 2 : 0 });

/** Sends one snapshot per group. In each group, the members are the persons after the group's first person. */
function sendGroups(chain: Chain, name: string, groups: readonly number[], members: number, people: number) {
  const membersOf = (n: number) => range(members).map((at) => (n * members + at) % people);
  chain.send(
    name,
    groups.map((n) => chain.directory.snapshot(`d${n}`, membersOf(n))),
  );
}

async function runUntil(chain: Chain, untilMs: number, isOver = () => false): Promise<void> {
  const { clock, time } = chain;
  while (clock() < untilMs && !isOver()) await time.run(Math.min(untilMs, clock() + 10 * SECOND_MS));
}

/** Connects all companies and lets them sync, so that only the scheduled jobs have work. */
async function connectAll({ connections, largePeople, large, imported }: Scale) {
  const chain = createChain({ minutes: { pump: PUMP_MINUTES } });
  const { clock } = chain;
  for (const n of range(LIVE)) await chain.connect({ name: nameOf(n), people: PEOPLE });
  await chain.connect({ name: IMPORTS, people: imported / 10 });
  chain.begin('people');
  await runUntil(chain, clock() + 15 * MINUTE_MS);
  for (const n of range(LIVE)) sendGroups(chain, nameOf(n), range(GROUPS), MEMBERS, PEOPLE);
  await runUntil(chain, clock() + 15 * MINUTE_MS);
  // The second refresh marks the first bindings as proven.
  chain.begin('people');
  await runUntil(chain, clock() + 15 * MINUTE_MS);
  const { copy, createLarge } = copier(chain, nameOf(0));
  for (let n = LIVE; n < connections; n += 1) await copy(nameOf(n));
  await copy(SLOW, { callSeconds: 9 });
  await copy(LIMITED, { isLimited: true });
  await createLarge(CONNECTION, largePeople, large);
  if (!chain.isIdle() || chain.failures.length > 0)
    throw new Error(`the companies are not in sync: ${chain.failures[0]}`);
  return chain;
}

/** Runs a task of the large company in a process with the memory of its function. */
async function measureLarge(chain: Chain, task: 'people' | 'sweep') {
  const { clock, companies, requests, sqs, totals } = chain;
  const platform = companies.get(CONNECTION)?.platform;
  if (platform === undefined) throw new Error('expected the large company');
  const { memoryGb } = limitsOfFunctions()[task === 'people' ? task : 'reconcile'];
  const rig = { requests, sqs, totals, platform };
  const { peakMb, processorSeconds } = await runInChild(rig, { task, nowMs: clock() });
  return { peakMb, seconds: processorSeconds / processorsOf(memoryGb) };
}

function dollarsOf(chain: Chain, counts: Counts): number {
  const prices = readPrices();
  const usage = chain.takeUsage();
  const lambda = FUNCTIONS.map((name) => {
    const { runs, seconds } = usage[name];
    return runs === 0 ? 0 : lambdaDollars(prices, runs, seconds / runs, chain.limits[name].memoryGb);
  });
  const scheduled =
    ((counts['scheduler invocations'] ?? 0) / MILLION) * prices.scheduler.perMillionInvocations;
  const queues = queueDollars(prices, counts['sqs requests'] ?? 0);
  return callDollars(prices, counts) + queues + scheduled + lambda.reduce((sum, one) => sum + one);
}

/** Judges the intervals between two ends of the task, for each ordinary connection. */
function intervals(chain: Chain, connections: number, startMs: number) {
  return (task: string, limitMinutes: number): Goal => {
    const longest = range(connections).map((n) => {
      const ends = (chain.runs.get(`${task} ${nameOf(n)}`) ?? []).map(({ endMs }) => endMs);
      const times = [startMs, ...ends.filter((atMs) => atMs > startMs), chain.clock()];
      return Math.max(...times.slice(1).map((atMs, at) => atMs - (times[at] ?? 0))) / MINUTE_MS;
    });
    const missed = longest.filter((minutes) => minutes > limitMinutes).length;
    const measured = `${missed} of ${rounded(connections)} missed, longest interval ${rounded(Math.max(...longest))} min`;
    return [`every other connection: ${task}`, `within ${limitMinutes} min`, measured, missed === 0];
  };
}

/** Starts the import, and sends a lone change of another company each second until the import ends. */
async function importAndChange(chain: Chain, imported: number) {
  const { clock, companies, directory, time } = chain;
  const groups = imported / IMPORTED_MEMBERS;
  const platform = companies.get(IMPORTS)?.platform;
  const isOver = () => platform?.groups.size === groups;
  const waiting = new Map<string, { readonly user: string; readonly atMs: number }>();
  const lags: number[] = [];
  chain.onWritten((refs) => {
    for (const { connection, group } of refs) {
      const key = `${connection} ${group}`;
      const change = waiting.get(key);
      if (change === undefined) continue;
      const shown = [...(companies.get(connection)?.platform.groups.values() ?? [])];
      const users = shown.find(({ spokeId }) => spokeId === group)?.users ?? [];
      if (!users.includes(change.user)) continue;
      waiting.delete(key);
      lags.push((clock() - change.atMs) / SECOND_MS);
    }
  });
  const change = (n: number): void => {
    if (isOver()) return;
    const [name, group] = [nameOf(n % LIVE), Math.floor(n / LIVE) % GROUPS];
    const member = (group * MEMBERS + MEMBERS + Math.floor(n / LIVE / GROUPS)) % PEOPLE;
    waiting.set(`${name} d${group}`, { user: `u${member}`, atMs: clock() });
    chain.send(name, [directory.added(`d${group}`, member)]);
    time.at(clock() + SECOND_MS, () => change(n + 1));
  };
  const startMs = clock();
  for (const n of range(groups)) {
    const afterMs = ((n * IMPORTED_MEMBERS) / IMPORTED_PER_SECOND) * SECOND_MS;
    time.at(startMs + afterMs, () => sendGroups(chain, IMPORTS, [n], IMPORTED_MEMBERS, imported / 10));
  }
  change(0);
  await runUntil(chain, startMs + 60 * MINUTE_MS);
  return {
    lags,
    left: waiting.size,
    seconds: ((platform?.writes.at(-1)?.atMs ?? Number.NaN) - startMs) / SECOND_MS,
  };
}

/** Returns the seconds of a first import on a table with these limits, for a million memberships. */
async function firstImport(memberships: number, tableUnits: Units): Promise<number> {
  const chain = createChain();
  const people = memberships / 20;
  const platform = await chain.connect({ name: 'b', people });
  chain.begin('people');
  await runUntil(chain, chain.clock() + 30 * MINUTE_MS);
  chain.limitTable(tableUnits);
  chain.beginSchedules();
  const startMs = chain.clock();
  const groups = memberships / IMPORTED_MEMBERS;
  sendGroups(chain, 'b', range(groups), IMPORTED_MEMBERS, people);
  await runUntil(chain, startMs + 120 * MINUTE_MS, () => platform.groups.size === groups && chain.isIdle());
  return (((platform.writes.at(-1)?.atMs ?? Number.NaN) - startMs) / SECOND_MS) * (MILLION / memberships);
}

/** Counts the requests of an hour in which only the scheduled jobs of ten companies have work. */
export async function countScheduledHour(): Promise<Counts> {
  const chain = createChain();
  const { clock, totals } = chain;
  for (const n of range(10)) await chain.connect({ name: nameOf(n), people: PEOPLE });
  chain.begin('people');
  await runUntil(chain, clock() + 15 * MINUTE_MS);
  for (const n of range(10)) sendGroups(chain, nameOf(n), range(GROUPS), MEMBERS, PEOPLE);
  await runUntil(chain, clock() + 15 * MINUTE_MS);
  // The second refresh marks the first bindings as proven.
  chain.begin('people');
  await runUntil(chain, clock() + 15 * MINUTE_MS);
  chain.beginSchedules();
  totals.take();
  await runUntil(chain, clock() + 60 * MINUTE_MS);
  return totals.take();
}

async function measure(scale: Scale): Promise<string> {
  const prices = readPrices();
  const chain = await connectAll(scale);
  const { clock, totals } = chain;
  chain.limitTable(NEW_TABLE);
  const people = await measureLarge(chain, 'people');
  const sweep = await measureLarge(chain, 'sweep');
  chain.processorSeconds.set(`people ${CONNECTION}`, people.seconds);
  chain.processorSeconds.set(`sweep ${CONNECTION}`, sweep.seconds);
  totals.take();
  chain.takeUsage();
  chain.begin('pump');
  await runUntil(chain, clock() + 2 * MINUTE_MS);
  const pumpDollars = dollarsOf(chain, totals.take());
  const startMs = clock();
  chain.beginSchedules();
  await runUntil(chain, startMs + 60 * MINUTE_MS);
  const hour = totals.take();
  const hourDollars = dollarsOf(chain, hour) + pumpDollars * (60 / SCHEDULES.pumpMinutes - 60 / PUMP_MINUTES);
  const { lags, left, seconds } = await importAndChange(chain, scale.imported);
  const last = totals.take();

  const { ingest, apply } = chain.limits;
  const alone = await changeAlone(prices, { ingest: ingest.memoryGb, apply: apply.memoryGb });
  const lone = alone.dollars * MILLION;
  const changes = PEOPLE * prices.assumed.changesPerPersonAndMonth * alone.dollars;
  const eachDollars = (hourDollars * HOURS_PER_MONTH) / scale.connections + changes;
  const withSecret = eachDollars + prices.secretsManager.perSecretMonth;
  const [fresh, warmed] = [await firstImport(scale.first, NEW_TABLE), await firstImport(scale.first, WARMED)];
  const during = (name: string) => `${rounded(hour[name] ?? 0)} and ${rounded(last[name] ?? 0)}`;
  const kinds = [...new Set(chain.failures.map((failure) => failure.replace(/\d+/g, 'N')))];
  const p95 = percentile(lags, 0.95);
  const judged = intervals(chain, scale.connections, startMs);
  const ofLarge = (task: 'people' | 'sweep', { peakMb }: { readonly peakMb: number }): Goal => {
    const { seconds: took = Number.NaN } = chain.runs.get(`${task} ${CONNECTION}`)?.at(-1) ?? {};
    const measured = `${Number.isNaN(took) ? 'never ended' : `${rounded(took)} s`}, ${rounded(peakMb)} MB`;
    return [`the large company: ${task}`, '≤ 900 s and ≤ 1,024 MB', measured, took <= 900 && peakMb <= 1_024];
  };
  const goals: readonly Goal[] = [
    judged('feed', 10),
    judged('people', 90),
    judged('sweep', 90),
    [
      `a lone change of another company during an import of ${rounded(scale.imported)} memberships (${rounded(seconds)} s)`,
      'p95 ≤ 5 s',
      `p50 ${rounded(percentile(lags, 0.5))} s, p95 ${rounded(p95)} s, ${left} of ${lags.length + left} never arrived`,
      p95 <= 5 && left === 0,
    ],
    ofLarge('people', people),
    ofLarge('sweep', sweep),
    ['cost per customer and month', '≤ $0.70', `$${withSecret.toFixed(2)}`, withSecret <= 0.7],
    ['the same without Secrets Manager', '≤ $0.35', `$${eachDollars.toFixed(2)}`, eachDollars <= 0.35],
    ['first import of a million memberships, new table', '≤ 650 s', `${rounded(fresh)} s`, fresh <= 650],
    ['the same, warmed to 20,000 write units/s', '≤ 120 s', `${rounded(warmed)} s`, warmed <= 120],
    ['a million lone changes, memory of the template', '≤ $20', `$${lone.toFixed(2)}`, lone <= 20],
    ['lone change, warm', 'p50 ≤ 0.7 s', 'by `bench -- latency`', undefined],
    ['change of a directory that is asked every minute', 'p95 ≤ 120 s', 'not built', false],
  ];
  const met = (isMet: boolean | undefined) => {
    if (isMet === undefined) return '–';
    return isMet ? 'met' : '**not met**';
  };
  const { connections, largePeople, large, imported, first } = scale;
  return [
    `In simulated time: ${rounded(connections)} connections of ${PEOPLE} people and ${GROUPS} groups, one of ${rounded(largePeople)} people with`,
    `${rounded(large)} memberships, one whose platform answers in 9 s, one that is answered 429, and one that imports ${rounded(imported)}`,
    `memberships in the second hour. The first imports have ${rounded(first)} memberships, and their seconds are multiplied. The large company`,
    'of the goals has 5 million memberships, which is not measured. The table has the limits of a new on-demand table. The order of the queues',
    'is a model of fair queues. The requeue job runs every tenth minute, and its cost is multiplied. Memory is that of a separate process.',
    '`npm run bench -- fleet --full` measures 2,000 connections, 500,000 people and 1,000,000 memberships.',
    '',
    table(
      ['', 'goal', 'measured', ''],
      goals.map(([figure, goal, measured, isMet]) => [figure, goal, measured, met(isMet)]),
    ),
    '',
    `In the hour before the import and in its hour, DynamoDB throttled ${during('dynamodb throttled')} requests. Ingest left`,
    `${during('ingest messages failed')} messages for another receive, and ${during('killed invocations')} invocations ended at their timeout.`,
    `Failures: ${kinds.length === 0 ? 'none' : kinds.join('; ')}.`,
  ].join('\n');
}

export const fleetFigure: Figure = {
  name: 'fleet',
  title: 'Many customers',
  run: ({ full }) => measure(full ? FULL : QUICK),
};
