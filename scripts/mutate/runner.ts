import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type RunnerTestCase, TestRunner } from 'vitest';

/** What is shared with the code that is changed, and from one file of tests to the next. */
const shared = globalThis as unknown as {
  comesBy: (place: string) => void;
  /** How each file of the core becomes a mutant, or itself again. */
  switches: Record<string, (module?: unknown) => void>;
  survey: Record<string, Surveyed>;
  noticed: Record<string, string>;
  work: Work | undefined;
};
shared.survey ??= {};
shared.noticed ??= JSON.parse(readFileSync('noticed.json', 'utf8'));

/** What one test costs, and where it comes by. */
export interface Surveyed {
  readonly ms: number;
  readonly places: readonly string[];
}
/** The mutants that each test is to notice, by the path of the file that it is in; none yet: a survey. */
export type Work = Record<
  string,
  readonly { readonly number: number; readonly file: string; readonly path: string }[]
>;

const places = new Set<string>();
let steps = 0;
let maxSteps = Number.POSITIVE_INFINITY;
const FOREVER_MS = 10_000;

/** What would turn for ever fails, and so is noticed. */
shared.comesBy = (place) => {
  places.add(place);
  steps += 1;
  if (steps > maxSteps) throw new Error('endless');
};

/** With what it has left to be looked at in the end. */
type Test = RunnerTestCase & { onFinished?: ((context: unknown) => unknown)[] };

/** Notes where each test comes by; or runs it again for every mutant of its work that nothing has noticed yet. */
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
    // What does not pass twice notices nothing.
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
