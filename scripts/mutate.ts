import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseSync } from 'oxc-parser';
import { createVitest, type TestSpecification } from 'vitest/node';
import { type Mutant, mutantsOf, placeOf, placesOf, withPlaces } from './mutate/mutants.ts';
import type { Surveyed, Work } from './mutate/runner.ts';
import { SURVIVORS } from './mutate/survivors.ts';

/**
 * The mutation test of the pure core makes one small change at a time and runs the tests. For each change, at least one
 * test should fail. The script works on a copy of the project. In the copy, each core file can switch to any of its
 * mutants without a reload. Each test runs once to record the places in the code that it reaches. Then the test runs
 * once for each mutant at these places. `--only TEXT` selects files whose path contains TEXT.
 */

const CORE = ['shared/domain', 'shared/plan'];
const TESTS = ['domain', 'plan', 'operate', 'sync', 'sync/reconcile'].map((name) => `test/${name}/*.test.ts`);
/** Tests that are not used, because they are slow: they have many cases or wait for a socket. */
const NO_TESTS = ['test/{operate,sync}/**/*.{property,integration}.test.ts'];
const MIN_NOTICED = 0.9;
/** The maximum processor time of all tests for one mutant. Fast tests that reach few places run first. */
const MAX_MS_PER_MUTANT = 1_000;

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const root = process.cwd();
const copy = mkdtempSync(join(tmpdir(), 'groupsync-mutate-'));
for (const folder of [
  'shared',
  'test',
  'simulate',
  'local',
  'directory-simulator',
  'cli',
  'examples',
  'scripts',
  'package.json',
]) {
  cpSync(join(root, folder), join(copy, folder), { recursive: true });
}
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
process.chdir(copy);

type Mutated = Work[string][number] & { readonly place: string | undefined; readonly line: string };
const mutants: Mutated[] = [];
const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
for (const file of CORE.flatMap(filesIn)) {
  if (!file.endsWith('.ts') || !file.includes(values.only)) continue;
  const source = readFileSync(file, 'utf8');
  const places = placesOf(file, source);
  const pathOf = (part: string) => join(copy, file.replace(/ts$/, `${part}.ts`));
  for (const mutant of mutantsOf(file, source)) {
    const number = mutants.length + 1;
    const place = placeOf(file, places, mutant);
    mutants.push({ number, file, path: pathOf(`m${number}`), place, line: describe(file, source, mutant) });
    const { start, end, text } = mutant;
    writeFileSync(pathOf(`m${number}`), withPlaces(file, source.slice(0, start) + text + source.slice(end)));
  }
  writeFileSync(pathOf('m0'), withPlaces(file, source));
  writeFileSync(file, switchedSource(file, source));
}
writeFileSync('noticed.json', '{}');

/** A property test has fewer runs than in `npm test`, because it is repeated for each mutant. */
Object.assign(process.env, { GROUPSYNC_RUNS: '100', AWS_REGION: 'us-east-1', NO_COLOR: '1' });
const vitest = await createVitest('test', {
  root: copy,
  config: false,
  watch: false,
  isolate: false,
  maxWorkers: 1,
  fileParallelism: false,
  include: TESTS,
  exclude: NO_TESTS,
  runner: join(copy, 'scripts/mutate/runner.ts'),
  reporters: [{}],
  testTimeout: 600_000,
  dangerouslyIgnoreUnhandledErrors: true,
});
const { testModules } = await vitest.start();
const failing = testModules.filter((module) => !module.ok()).map(({ moduleId }) => moduleId);
if (testModules.length === 0 || failing.length > 0)
  throw new Error(`the tests fail without any mutation: ${failing.join(', ')}`);

const work = workOf(JSON.parse(readFileSync('survey.json', 'utf8')));
writeFileSync('work.json', JSON.stringify(work));
const specifications = await vitest.globTestSpecifications();
const isSlow = ({ moduleId }: TestSpecification) => /test.(operate|sync)/.test(moduleId);
await vitest.runTestSpecifications(specifications.filter((one) => !isSlow(one)));
await vitest.runTestSpecifications(specifications.filter(isSlow));
await vitest.close();
const noticed: Record<number, string> = JSON.parse(readFileSync('noticed.json', 'utf8'));
process.chdir(root);
rmSync(copy, { recursive: true });

const survivors = mutants.filter(({ number }) => !(number in noticed)).map(({ line }) => line);
for (const line of survivors) console.log(`alive: ${line}${SURVIVORS.has(line) ? ' (explained)' : ''}`);
const unexplained = survivors.filter((line) => !SURVIVORS.has(line)).length;
const share = 1 - survivors.length / mutants.length;
console.log(`${mutants.length} mutants, ${(share * 100).toFixed(1)} % noticed, ${unexplained} unexplained`);
process.exitCode = share >= MIN_NOTICED && unexplained === 0 ? 0 : 1;
process.exit();

/**
 * Returns the mutants for each test. A test gets the mutants at the places that it reaches, within the time limit of
 * each mutant.
 */
function workOf(survey: Readonly<Record<string, Surveyed>>): Work {
  const tests = Object.entries(survey)
    .map(([name, { ms, places }]) => ({ name, ms, places: new Set(places), todo: [] as Mutated[] }))
    .sort((a, b) => a.ms * a.places.size - b.ms * b.places.size);
  for (const mutant of mutants) {
    let spentMs = 0;
    for (const { name, ms, places, todo } of tests) {
      const isMet = mutant.place === undefined ? mayReach(name, places, mutant) : places.has(mutant.place);
      if (!isMet || (spentMs > 0 && spentMs + ms > MAX_MS_PER_MUTANT)) continue;
      spentMs += ms;
      todo.push(mutant);
    }
  }
  return Object.fromEntries(tests.map(({ name, todo }) => [name, todo]));
}

/** Returns true if the test may detect mutants of the file: it tests the core, or reaches a place in the file. */
function mayReach(name: string, places: ReadonlySet<string>, { file }: Mutated): boolean {
  return /^test.(domain|plan)/.test(name) || [...places].some((place) => place.startsWith(`${file}:`));
}

/**
 * Returns the source of the module that replaces a core file. The module first exports the original file. The runner
 * can switch the module to a mutant.
 */
function switchedSource(file: string, source: string): string {
  const { staticExports } = parseSync(file, source).module;
  const names = staticExports
    .flatMap(({ entries }) => entries)
    .flatMap(({ isType, exportName }) => (isType ? [] : exportName.name))
    .join(', ');
  return `import * as original from './${basename(file, 'ts')}m0.ts';
    export let { ${names} } = original;
    (globalThis.switches ??= {})['${file}'] = (now = original) => { ({ ${names} } = now); };`;
}

/** Returns one line that identifies a mutant. The line stays the same if the code moves within its file. */
function describe(file: string, source: string, { start, end, text }: Mutant): string {
  const lineStart = source.lastIndexOf('\n', start) + 1;
  const lineEnd = source.indexOf('\n', end);
  const line = source.slice(lineStart, lineEnd).trim().replace(/\s+/g, ' ');
  const was = source.slice(start, end).replace(/\s+/g, ' ');
  return `${file}: ${line.slice(0, 120)} | ${was.slice(0, 60)} → ${text.slice(0, 60)}`;
}
