import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type RunnerTestCase, TestRunner } from 'vitest';

/** State that is shared with the mutated code and between test files. */
const shared = globalThis as unknown as {
  reach: (place: string) => void;
  /** Switches each core file to a mutant or back. */
  switches: Record<string, (module?: unknown) => void>;
  survey: Record<string, Surveyed>;
  noticed: Record<string, string>;
  work: Work | undefined;
};
shared.survey ??= {};
shared.noticed ??= JSON.parse(readFileSync('noticed.json', 'utf8'));

/** The processor time of one test, and the places of the code that it reaches. */
export interface Surveyed {
  readonly ms: number;
  readonly places: readonly string[];
}
/** The mutants that each test should detect, by its file and name. */
export type Work = Record<
  string,
  readonly { readonly number: number; readonly file: string; readonly path: string }[]
>;

const places = new Set<string>();
let steps = 0;
let maxSteps = Number.POSITIVE_INFINITY;
const FOREVER_MS = 10_000;

/** Throws an error if a mutant causes an endless loop. The test then fails and detects the mutant. */
shared.reach = (place) => {
  places.add(place);
  steps += 1;
  if (steps > maxSteps) throw new Error('endless');
};

/** A test with the functions that run at its end. */
type Test = RunnerTestCase & { onFinished?: ((context: unknown) => unknown)[] };

/** Records the places that each test reaches, or runs a test again for each of its undetected mutants. */
export default class extends TestRunner {
  async runTask(test: Test): Promise<void> {
    const key = `${test.file.name} ${test.fullTestName}`;
    places.clear();
    maxSteps = Number.POSITIVE_INFINITY;
    const startedAt = process.cpuUsage();
    await attempt(test);
    shared.survey[key] = { ms: process.cpuUsage(startedAt).user / 1_000, places: [...places] };
    maxSteps = 10 * steps + 1_000;
    if (shared.work === undefined && existsSync('work.json'))
      shared.work = JSON.parse(readFileSync('work.json', 'utf8')) as Work;
    const todo = (shared.work?.[key] ?? []).filter(({ number }) => !(number in shared.noticed));
    // A test that fails without a mutant cannot detect mutants.
    if (todo.length === 0 || (await fails(test))) return;
    for (const { number, file, path } of todo) {
      shared.switches[file]?.(await import(path).catch(() => ({})));
      if (await fails(test)) shared.noticed[number] = key;
      shared.switches[file]?.();
    }
  }

  override onAfterRunFiles(): void {
    super.onAfterRunFiles();
    if (shared.work === undefined) writeFileSync('survey.json', JSON.stringify(shared.survey));
    else writeFileSync('noticed.json', JSON.stringify(shared.noticed));
  }
}

async function attempt(test: Test): Promise<void> {
  steps = 0;
  await TestRunner.getTestFn(test)();
  const checks = test.onFinished ?? [];
  test.onFinished = [];
  for (const check of checks) await check(test.context);
}

async function fails(test: Test): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, FOREVER_MS, new Error('too long'));
  });
  try {
    await Promise.race([attempt(test), late]);
    return false;
  } catch {
    return true;
  } finally {
    test.onFinished = [];
    clearTimeout(timer);
  }
}
