import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { nearest } from '../shared/contract/nearest.ts';
import { type DrawOptions, drawRun } from './draw.ts';
import { execute } from './execute.ts';
import { possiblePairs } from './features.ts';
import { FLAGS } from './flags.ts';
import { type Errand, executeMany } from './many-runs.ts';
import { createMissingPairs, type MissingPairs } from './missing-pairs.ts';
import type { Violation } from './run-log.ts';
import type { RunReport } from './run-report.ts';
import { FOUND, SEEDED_BUGS, type SeededBug, seededBugNamed } from './seeded-bugs.ts';
import { keepOnly, shrink } from './shrink.ts';
import { tracePage } from './trace.ts';

const USAGE = `npm run simulate -- [options]

  --seeds N        executes N simulation runs (default: 200)
  --from SEED      with --seeds: the first seed (default: 1)
  --seed N         executes one simulation run and prints its violations
  --keep 3,17,42   with --seed: keeps only these happenings of the run (a failed run prints their numbers)
  --trace FILE     with --seed: writes the run to an HTML page
  --meet 3,17,42   with --seed: lets these pairs of features meet (a failed run of --pairs prints their numbers)
  --long           each run has two years with few happenings
  --directory      each run has an additional connection whose directory groupsync reads
  --alone          with --directory: the run has no other connection
  --days D         the number of days with faults (default: 7)
  --planted [...]  adds each seeded bug (or the named bugs) and searches for a run that finds it; with --seed: one run
  --brief          does not reduce the first failed run to fewer happenings
  --pairs          counts which features met on one group, prefers those that never met, and lists what is left
  --jobs N         the number of processes (default: one per core)`;

// The reader of the output may close the pipe (`| head`).
process.stdout.on('error', () => process.exit());

const SHRINK_RUNS = 80;
/** The number of runs after which the search for a seeded bug fails. */
const SEEDED_BUG_RUNS = 500;
/** The default duration of a run with a seeded bug. Most bugs appear in the first days. */
const SEEDED_BUG_DAYS = 3;

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: FLAGS,
});
const jobs = numberOf('jobs') ?? availableParallelism();
const PAIRS = possiblePairs();
const { long = false, directory = false, alone = false } = given;
const drawn: DrawOptions = {
  ...{ long, directory, alone },
  ...(given.days !== undefined && { days: numberOf('days') ?? 7 }),
  ...(given.meet !== undefined && { meet: given.meet.split(',').map((at) => PAIRS[Number(at)] ?? '') }),
};

function numberOf(name: keyof typeof given): number | undefined {
  const text = given[name];
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0) return value;
  console.error(`--${name}: expected a whole number, got "${text}"\n\n${USAGE}`);
  process.exit(2);
}

/** Ends the command if a seeded bug with this name does not exist. Otherwise a misspelled bug would count as found. */
function requireSeededBug(name: string): void {
  const names = SEEDED_BUGS.map((bug) => bug.name);
  if (names.includes(name)) return;
  const meant = nearest(name, names);
  const hint = meant === undefined ? `the names are ${names.join(', ')}` : `did you mean ${meant}?`;
  console.error(`--planted: expected the name of a seeded bug, got "${name}"; ${hint}`);
  process.exit(2);
}

function commandFor(seed: number, kept?: readonly number[], { meet = [] }: DrawOptions = drawn): string {
  const flags = {
    seed,
    long,
    directory,
    alone,
    days: given.days,
    planted: positionals[0],
    keep: kept,
    meet: meet.map((pair) => PAIRS.indexOf(pair)),
  };
  const said = Object.entries(flags).filter(([, value]) => Boolean(value) && String(value) !== '');
  const texts = said.map(([name, value]) => `--${name}${value === true ? '' : ` ${value}`}`);
  return `npm run simulate -- ${texts.join(' ')}`;
}

const sentence = ({ check, cause, connection, group, sentence }: Violation): string =>
  `  ${check} (${cause})${group === undefined ? '' : ` group ${group}`}${connection === undefined ? '' : ` of ${connection}`}: ${sentence}`;

async function executeOne(seed: number): Promise<number> {
  const whole = drawRun(seed, drawn);
  const kept = given.keep?.split(',').map(Number);
  const run = kept === undefined ? whole : keepOnly(whole, kept);
  const outcome = await execute(run, {
    keepsLog: given.trace !== undefined,
    wrapPorts: seededBugNamed(positionals[0]),
  });
  const { violations, figures } = outcome;
  const { calls, effects } = figures;
  console.log(
    `run ${seed}: ${run.days} days, ${run.happenings.length} happenings, ${calls} calls, ${effects} effects`,
  );
  for (const line of new Set(violations.map(sentence))) console.log(line);
  if (given.trace !== undefined) {
    writeFileSync(given.trace, tracePage(outcome, commandFor(seed, kept)));
    console.log(`  written to ${given.trace}`);
  }
  return violations.length === 0 ? 0 : 1;
}

function* errandsFrom(first: number, most: number, missing?: MissingPairs): Generator<Errand> {
  for (let seed = first; seed < first + most; seed += 1)
    yield { seed, draw: missing === undefined ? drawn : { ...drawn, meet: missing.next(seed) } };
}

/** Executes many runs. */
async function executeSeeds(): Promise<number> {
  const startedMs = Date.now();
  const most = numberOf('seeds') ?? 200;
  const reports: RunReport[] = [];
  const broken: string[] = [];
  const missing = given.pairs === true ? createMissingPairs() : undefined;
  await executeMany(errandsFrom(numberOf('from') ?? 1, most, missing), jobs, (answer) => {
    if ('report' in answer) {
      const { meetings, ...report } = answer.report;
      missing?.met(meetings);
      reports.push(report);
    } else broken.push(`run ${answer.seed} broke: ${answer.broke}`);
    const completed = reports.length + broken.length;
    if (process.stderr.isTTY) process.stderr.write(`\r${completed} runs`);
  });
  if (process.stderr.isTTY) process.stderr.write('\r');
  const seconds = Math.max(1, (Date.now() - startedMs) / 1_000);
  printFigures(reports, seconds);
  for (const line of missing?.lines() ?? []) console.log(line);
  for (const line of broken.slice(0, 3)) console.log(line);
  const failed = reports.filter(({ violations }) => violations.length > 0).sort((a, b) => a.seed - b.seed);
  printViolations(failed);
  for (const { seed } of missing === undefined ? [] : failed)
    console.log(`  ${commandFor(seed, undefined, { meet: missing?.askedOf(seed) ?? [] })}`);
  const [first] = failed;
  if (first !== undefined && given.brief !== true)
    await printReduced(first.seed, first.violations[0] as Violation, missing);
  return failed.length + broken.length === 0 ? 0 : 1;
}

function printFigures(reports: readonly RunReport[], seconds: number): void {
  const calls = reports.reduce((all, { figures }) => all + figures.calls, 0);
  const faults = reports.flatMap(({ fired }) => Object.values(fired)).reduce((all, one) => all + one, 0);
  console.log(
    `${reports.length} runs in ${seconds.toFixed(0)} s (${((reports.length * 60) / seconds).toFixed(0)} a minute): ` +
      `${calls} platform calls, ${faults} times that a fault or action took effect`,
  );
}

function printViolations(failed: readonly RunReport[]): void {
  const sorts = new Map<string, { seeds: number[]; example: Violation }>();
  for (const { seed, violations } of failed) {
    for (const violation of violations) {
      const sort = sorts.get(`${violation.check} ${violation.cause}`) ?? { seeds: [], example: violation };
      sort.seeds.push(seed);
      sorts.set(`${violation.check} ${violation.cause}`, sort);
    }
  }
  for (const { seeds, example } of [...sorts.values()].sort((a, b) => b.seeds.length - a.seeds.length)) {
    console.log(
      `${seeds.length} runs (seeds ${seeds.slice(0, 8).join(', ')}${seeds.length > 8 ? ', …' : ''})\n${sentence(example)}`,
    );
  }
}

async function printReduced(seed: number, violation: Violation, missing?: MissingPairs): Promise<void> {
  const draw = missing === undefined ? drawn : { ...drawn, meet: missing.askedOf(seed) };
  const isIt = (one: Violation) => one.check === violation.check && one.cause === violation.cause;
  const fails = async (run: ReturnType<typeof drawRun>) =>
    (await execute(run, { endsAt: isIt })).violations.some(isIt);
  const { run, kept, runs } = await shrink(drawRun(seed, draw), fails, SHRINK_RUNS);
  console.log(
    `\nthe first failed run, seed ${seed}, was reduced to ${run.happenings.length} happenings by ${runs} more runs:`,
  );
  for (const { atMs, actor, connection, action } of run.happenings.slice(0, 40)) {
    console.log(
      `  ${new Date(atMs).toISOString().slice(8, 19).replace('T', ' ')}  ${connection}  ${actor}: ${JSON.stringify(action)}`,
    );
  }
  console.log(`execute this run again:\n  ${commandFor(seed, kept, draw)} --trace run.html`);
}

/** Returns runs for one seeded bug: first the one that found it before, then those that match `needs`. */
function* errandsFor({ name, needs, isOfReader }: SeededBug): Generator<Errand> {
  const [known] = FOUND[name] ?? [];
  const draw = { days: SEEDED_BUG_DAYS, ...drawn, directory: isOfReader, alone: isOfReader };
  if (known !== undefined && given.from === undefined) yield { seed: known, draw, seededBug: name };
  const isNeeded = new RegExp(needs);
  for (let seed = numberOf('from') ?? 1; ; seed += 1) {
    if (isNeeded.test(JSON.stringify(drawRun(seed, draw)))) yield { seed, draw, seededBug: name };
  }
}

/** Searches for all seeded bugs at the same time. Prints for each bug the number of runs until it was found. */
async function findSeededBugs(): Promise<number> {
  const most = numberOf('seeds') ?? SEEDED_BUG_RUNS;
  const chosen = SEEDED_BUGS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const hunts = chosen.map((bug) => ({ bug, errands: errandsFor(bug), begun: 0, runs: 0, isFound: false }));
  function* errands(): Generator<Errand> {
    for (;;) {
      const open = hunts.filter(({ isFound, begun }) => !isFound && begun < most);
      const [next] = open.sort((a, b) => a.begun - b.begun);
      if (next === undefined) return;
      next.begun += 1;
      yield next.errands.next().value;
    }
  }
  await executeMany(errands(), jobs, (answer) => {
    const hunt = hunts.find(({ bug }) => bug.name === answer.seededBug);
    if (hunt === undefined || hunt.isFound) return;
    hunt.runs += 1;
    const about = `${hunt.bug.name}, ${hunt.bug.what}`;
    // A bug in the simulation or in the seeded bug is no violation of a check.
    if ('broke' in answer) console.log(`${about}: seed ${answer.seed} broke: ${answer.broke}`);
    const [violation] = 'broke' in answer ? [] : answer.report.violations;
    if ('broke' in answer || violation === undefined) return;
    hunt.isFound = true;
    const found = `found by seed ${answer.report.seed}, in run number ${hunt.runs}`;
    console.log(`${about}: ${found}\n${sentence(violation)}`);
  });
  const missed = hunts.filter(({ isFound }) => !isFound);
  for (const { bug, runs } of missed) console.log(`${bug.name}, ${bug.what}: NOT FOUND in ${runs} runs`);
  console.log(`${hunts.length - missed.length} of ${hunts.length} seeded bugs were found`);
  return missed.length === 0 ? 0 : 1;
}

const seed = numberOf('seed');
for (const name of positionals) requireSeededBug(name);
if (given.help === true) console.log(USAGE);
else if (seed !== undefined) process.exitCode = await executeOne(seed);
else process.exitCode = await (given.planted === true ? findSeededBugs() : executeSeeds());
