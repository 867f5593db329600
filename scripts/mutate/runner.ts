import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { type RunnerTestCase, type RunnerTestSuite, TestRunner } from 'vitest';
import { type Change, FILES, type Results, resultsOf, type Survey } from './state.ts';
import { SURVIVORS } from './survivors.ts';

/** State that is shared with the changed code and between test files. */
const shared = globalThis as unknown as {
  reach: (place: string) => void;
  runChanges: () => Promise<void>;
  forward: (original: Exports, current: () => Exports) => Exports;
  /** Switches each file to a changed module or back. */
  switches: Record<string, (module?: Exports) => void>;
};
type Exports = Record<string, unknown>;

const { STATE = '' } = process.env;
const survey: Survey = existsSync(`${STATE}/${FILES.survey}`)
  ? JSON.parse(readFileSync(`${STATE}/${FILES.survey}`, 'utf8'))
  : { places: [], tests: {} };
const isSurveyed = survey.places.length > 0;

const reached = new Set<string>();
let steps = 0;
let maxSteps = Number.POSITIVE_INFINITY;

/** Throws an error if a change causes an endless loop. The test then fails and notices the change. */
shared.reach = (place) => {
  reached.add(place);
  steps += 1;
  if (steps > maxSteps) throw new Error('endless');
};

/** Returns functions that call the current module, because another module may have stored a function in a table. */
shared.forward = (original, current) => {
  const isPlain = (value: unknown) => typeof value === 'function' && !String(value).startsWith('class');
  const forwardTo = (name: string) =>
    function (this: unknown, ...given: unknown[]) {
      return (current()[name] as (...given: unknown[]) => unknown).apply(this, given);
    };
  return Object.fromEntries(
    Object.entries(original).map(([name, value]) => [name, isPlain(value) ? forwardTo(name) : value]),
  );
};

/** A test with the functions that run at its end. */
type Test = RunnerTestCase & { onFinished?: ((context: unknown) => unknown)[] };
const tests = new Map<string, { readonly id: string; readonly test: Test }>();

/** Records the places that each test reaches. The last test file then runs the tests again for each change. */
export default class extends TestRunner {
  async runTask(test: Test): Promise<void> {
    if (test.file.name.endsWith(FILES.lastTest)) {
      await TestRunner.getTestFn(test)();
      return;
    }
    const key = `${test.file.name} ${test.fullTestName}`;
    const digest = createHash('sha256').update(readFileSync(test.file.filepath)).update(key).digest('hex');
    tests.set(key, { id: digest.slice(0, 10), test });
    if (isSurveyed) return;
    reached.clear();
    maxSteps = Number.POSITIVE_INFINITY;
    const startedAt = process.cpuUsage();
    await attempt(test);
    const ms = process.cpuUsage(startedAt).user / 1_000;
    survey.tests[key] = { id: digest.slice(0, 10), ms, steps, places: [...reached].map(indexOf) };
  }
}

const indexes = new Map<string, number>();
function indexOf(place: string): number {
  const known = indexes.get(place);
  if (known !== undefined) return known;
  indexes.set(place, survey.places.length);
  survey.places.push(place);
  return survey.places.length - 1;
}

/**
 * A pass runs the tests of a change up to a sum of processor time. Only the last pass goes on after the first notice, and
 * runs survivors that have a reason.
 */
const PASSES = [
  { maxMs: 2_000, isLast: false },
  { maxMs: 15_000, isLast: false },
  { maxMs: 60_000, isLast: false },
  { maxMs: 12_000, isLast: true },
];

/** Runs each change in the given order. Tests that use little processor time run first. */
shared.runChanges = async () => {
  if (!isSurveyed) writeFileSync(`${STATE}/${FILES.survey}`, JSON.stringify(survey));
  const changes = JSON.parse(readFileSync('changes.json', 'utf8')) as readonly Change[];
  const all = Object.entries(survey.tests)
    .flatMap(([key, { places, ...one }]) => {
      const test = tests.get(key)?.test;
      return test === undefined ? [] : { ...one, test, places: new Set(places.map(placeAt)) };
    })
    .sort((a, b) => a.ms - b.ms);
  const known = resultsOf(STATE);
  watch();
  for (const pass of PASSES) {
    for (const change of changes) {
      const reaching = all.filter(({ places }) => change.places.some((place) => places.has(place)));
      const results = known.get(change.id) ?? new Map<string, boolean>();
      known.set(change.id, results);
      await runChange(change, reaching, results, pass);
    }
  }
};

const placeAt = (index: number) => survey.places[index];

async function runChange(
  change: Change,
  reaching: readonly Reaching[],
  results: Results,
  { maxMs, isLast }: (typeof PASSES)[number],
): Promise<void> {
  let spentMs = 0;
  if (!isLast && SURVIVORS.has(change.line)) return;
  for (const one of reaching) {
    if (!isLast && [...results.values()].includes(true)) return;
    spentMs += one.ms;
    if (spentMs > maxMs && spentMs > one.ms) return;
    if (!results.has(one.id)) await record(change, one, results);
  }
}

interface Reaching {
  readonly id: string;
  readonly ms: number;
  readonly test: Test;
  readonly steps: number;
}

/** Runs one test with one change. A failing test notices the change only if it passes again without the change. */
async function record(change: Change, { id, test, steps: usual }: Reaching, results: Results): Promise<void> {
  writeFileSync(`${STATE}/${FILES.running}`, JSON.stringify({ change: change.id, test: id, noticed: true }));
  maxSteps = 10 * usual + 1_000;
  for (const { file, path } of change.modules) shared.switches[file]?.(await import(path).catch(() => ({})));
  const failed = await fails(test);
  for (const { file } of change.modules) shared.switches[file]?.();
  const noticed = failed && !(await fails(test));
  rmSync(`${STATE}/${FILES.running}`);
  results.set(id, noticed);
  appendFileSync(
    `${STATE}/${FILES.results}`,
    `${JSON.stringify({ change: change.id, test: id, noticed })}\n`,
  );
}

/** Ends the process if one test computes for a minute. `scripts/mutate.ts` records this as a notice and goes on. */
const cell = new Int32Array(new SharedArrayBuffer(4));
function watch(): void {
  const code = `const { workerData } = require('node:worker_threads');
    let seen = -1, from = process.cpuUsage().user;
    setInterval(() => {
      const now = process.cpuUsage().user;
      if (workerData[0] !== seen) { seen = workerData[0]; from = now; }
      else if (now - from > 60_000_000) process.kill(process.pid, 'SIGKILL');
    }, 2_000);`;
  new Worker(code, { eval: true, workerData: cell }).unref();
}

async function attempt(test: Test): Promise<void> {
  steps = 0;
  const suites: RunnerTestSuite[] = [];
  for (let suite = test.suite ?? test.file; suite !== undefined; suite = suite.suite ?? suite.file) {
    suites.unshift(suite);
    if (suite === test.file) break;
  }
  const hooks = suites.map((suite) => ({ suite, hooks: TestRunner.getSuiteHooks(suite) }));
  const current = TestRunner.getCurrentTest() as Test | undefined;
  const cleanups: unknown[] = [];
  try {
    for (const { suite, hooks: own } of hooks)
      for (const hook of own.beforeEach) cleanups.push(await hook(test.context, suite));
    await TestRunner.getTestFn(test)();
  } finally {
    for (const { suite, hooks: own } of [...hooks].reverse())
      for (const hook of own.afterEach) await hook(test.context, suite);
    for (const cleanup of cleanups.reverse()) if (typeof cleanup === 'function') await cleanup();
  }
  const checks = new Set([...(test.onFinished ?? []), ...(current?.onFinished ?? [])]);
  test.onFinished = [];
  if (current !== undefined) current.onFinished = [];
  for (const check of checks) await check(test.context);
}

/** The time in milliseconds after which a test that uses no processor time never ends. */
const IDLE_MS = 3_000;

async function fails(test: Test): Promise<boolean> {
  Atomics.add(cell, 0, 1);
  let timer: NodeJS.Timeout | undefined;
  const idle = new Promise<never>((_, reject) => {
    let usage = process.cpuUsage();
    timer = setInterval(() => {
      if (process.cpuUsage(usage).user < 20_000) reject(new Error('the test waits forever'));
      usage = process.cpuUsage();
    }, IDLE_MS);
  });
  try {
    await Promise.race([attempt(test), idle]);
    return false;
  } catch {
    return true;
  } finally {
    test.onFinished = [];
    clearInterval(timer);
  }
}
