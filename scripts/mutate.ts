import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parseSync } from 'oxc-parser';
import { BaseSequencer, createVitest, type TestSpecification } from 'vitest/node';
import { reversedFixes } from './mutate/fixes.ts';
import { lineOf, mutantsOf, placeOf, placesOf, withPlaces } from './mutate/mutants.ts';
import { reportOf } from './mutate/report.ts';
import { type Change, FILES, type Survey } from './mutate/state.ts';

/**
 * The mutation test makes one small change of the code at a time and runs the tests. For each change, at least one test
 * should fail. The script works on a copy of the project. In the copy, each file of `shared` can switch to a changed
 * module without a reload. Each test runs once to record the places in the code that it reaches. Then the tests run
 * again for each change at the places that they reach. The state is stored after each test, so a run that was ended
 * continues. `--only TEXT` takes every mutant of the files whose path contains TEXT, and no reversed fix.
 */

const OF_DIRECTORY = ['rules', 'reading', 'store', 'operate'].map((name) => `directory/${name}`);
const FOLDERS = ['domain', 'plan', 'sync', 'store', 'scim', 'operate', ...OF_DIRECTORY].map(
  (name) => `shared/${name}/`,
);
const DRAWN = 1_500;
const SEED = '1';
const TESTS = [
  'domain',
  'plan',
  'operate',
  'sync',
  'store',
  'scim',
  'directory',
  'contract',
  'queues',
  'runtime',
  'cli',
];
const MIN_NOTICED = 0.9;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    state: { type: 'string', default: 'node_modules/.cache/mutate' },
  },
});
const root = process.cwd();
const state = resolve(values.state);
mkdirSync(state, { recursive: true });
const copy = mkdtempSync(join(tmpdir(), 'groupsync-mutate-'));
const NOT_COPIED = ['node_modules', '.git', 'dist', '.groupsync', 'cdk.out'];
for (const name of readdirSync(root)) {
  if (!NOT_COPIED.includes(name)) cpSync(join(root, name), join(copy, name), { recursive: true });
}
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
process.chdir(copy);

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => name.endsWith('.ts'));
const digestOf = (...parts: readonly string[]) =>
  parts.reduce((hash, part) => hash.update(`${part}\0`), createHash('sha256')).digest('hex');
const sources = new Map(filesIn('shared').map((file) => [file, readFileSync(file, 'utf8')]));
const placesByFile = new Map([...sources].map(([file, source]) => [file, placesOf(file, source)]));

const mutants = [...sources].flatMap(([file, source]) => {
  const isMeant = values.only === '' || file.includes(values.only);
  if (!isMeant || !FOLDERS.some((folder) => file.startsWith(folder))) return [];
  const seen = new Map<string, number>();
  return mutantsOf(file, source).map((mutant) => {
    const line = lineOf(file, source, mutant);
    const again = seen.get(line) ?? 0;
    seen.set(line, again + 1);
    return { file, mutant, line, again: String(again), source };
  });
});
// The rank of a mutant depends only on its own line, so a change of one file does not change the draw in other files.
const ranked = mutants
  .map((one) => ({ ...one, rank: digestOf(SEED, one.line, one.again) }))
  .sort((a, b) => (a.rank < b.rank ? -1 : 1));
const drawn = values.only === '' ? ranked.slice(0, DRAWN) : ranked;

const pathOf = (file: string, part: string) => join(copy, file.replace(/ts$/, `${part}.ts`));
const changes: Change[] = drawn.map(({ file, mutant, line, again, source }, index) => {
  const path = pathOf(file, `m${index + 1}`);
  const { start, end, text } = mutant;
  writeFileSync(path, withPlaces(file, source.slice(0, start) + text + source.slice(end)));
  const id = digestOf(source, line, again).slice(0, 12);
  return { id, line, modules: [{ file, path }], places: placesFor(file, mutant) };
});
const fixes = values.only === '' ? reversedFixes(root, sources) : { changes: [], notes: [] };
for (const note of fixes.notes) console.log(note);
for (const { commit, title, files } of fixes.changes) {
  const named = new Set(files.map(({ file }) => file));
  const parts = files.map(({ file, source }) => ({ file, source, path: pathOf(file, commit) }));
  const reversed = parts.map(({ file, source, path }) => {
    writeFileSync(path, withPlaces(file, importsOf(file, source, named, commit)));
    return { file, path };
  });
  const places = files.flatMap(({ file, ranges }) => ranges.flatMap((range) => placesFor(file, range)));
  const id = digestOf(commit, ...files.map(({ file }) => sources.get(file) ?? '')).slice(0, 12);
  changes.push({ id, line: `reversed ${commit} ${title}`, modules: reversed, places });
}
for (const [file, source] of sources) {
  writeFileSync(pathOf(file, 'm0'), withPlaces(file, source));
  writeFileSync(file, switchedSource(file, source));
}
// Reversed fixes are spread evenly over the mutants, so a run that was ended early has run some of each.
writeFileSync('changes.json', JSON.stringify([...changes].sort((a, b) => (a.id < b.id ? -1 : 1))));
writeFileSync(
  `test/${FILES.lastTest}`,
  "import { it } from 'vitest';\nit('runs the changes', () => globalThis.runChanges(), 2 ** 31 - 1);\n",
);

const everySource = [...sources.values(), ...['test', 'simulate', 'local', 'cli'].flatMap(filesIn)].join();
const surveyPath = join(state, FILES.survey);
const surveyOf = digestOf(everySource, ...filesIn('test').map((file) => readFileSync(file, 'utf8')));
const surveyDigestPath = join(state, 'survey-of.txt');
if (!existsSync(surveyDigestPath) || readFileSync(surveyDigestPath, 'utf8') !== surveyOf) {
  rmSync(surveyPath, { force: true });
  writeFileSync(surveyDigestPath, surveyOf);
}

/** Runs the file with the changes after every other file. */
class LastLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLast = ({ moduleId }: TestSpecification) => Number(moduleId.endsWith(FILES.lastTest));
    return [...files].sort((a, b) => isLast(a) - isLast(b));
  }
}

const mocks = filesIn('test').filter((file) => readFileSync(file, 'utf8').includes('vi.mock('));
/** A property test has fewer runs than in `npm test`, because it is repeated for each change. */
Object.assign(process.env, { GROUPSYNC_RUNS: '50', AWS_REGION: 'us-east-1', NO_COLOR: '1', STATE: state });
const vitest = await createVitest('test', {
  root: copy,
  config: false,
  watch: false,
  isolate: false,
  maxWorkers: 1,
  fileParallelism: false,
  include: [...TESTS.map((name) => `test/${name}/**/*.test.ts`), `test/${FILES.lastTest}`],
  exclude: ['test/**/*.{integration,e2e}.test.ts', ...mocks],
  runner: join(copy, 'scripts/mutate/runner.ts'),
  sequence: { sequencer: LastLast },
  setupFiles: [join(copy, 'test/support/seed.ts')],
  reporters: [{}],
  testTimeout: 2 ** 31 - 1,
  hookTimeout: 2 ** 31 - 1,
  dangerouslyIgnoreUnhandledErrors: true,
});

const report = () => reportOf(state, changes, JSON.parse(readFileSync(surveyPath, 'utf8')) as Survey);
const writeReport = () => {
  if (existsSync(surveyPath)) writeFileSync(join(state, 'report.txt'), `${report().lines.join('\n')}\n`);
};
const timer = setInterval(writeReport, 60_000);
const runningPath = join(state, FILES.running);
// A run that was ended from outside left this file. Its test runs again.
rmSync(runningPath, { force: true });
let wasKilled: boolean;
do {
  const { testModules } = await vitest.start();
  const failing = testModules
    .filter((module) => !module.ok())
    .map(({ relativeModuleId }) => relativeModuleId);
  if (failing.length > 0) console.log(`fail without a change, so not used: ${failing.join(', ')}`);
  wasKilled = existsSync(runningPath);
  // The process of the tests was ended during this test, so the test noticed the change.
  if (wasKilled) appendFileSync(join(state, FILES.results), `${readFileSync(runningPath, 'utf8')}\n`);
  rmSync(runningPath, { force: true });
} while (wasKilled);
clearInterval(timer);
await vitest.close();
process.chdir(root);
rmSync(copy, { recursive: true });

writeReport();
const { lines, unexplained, noticedShare } = report();
for (const line of lines) console.log(line);
process.exitCode = noticedShare >= MIN_NOTICED && unexplained === 0 ? 0 : 1;
process.exit();

/** Returns the place of a change; all places of the file if the change is outside of them. */
function placesFor(file: string, range: Parameters<typeof placeOf>[2]): readonly string[] {
  const places = placesByFile.get(file) ?? [];
  const place = placeOf(file, places, range);
  return place === undefined ? places.map(({ start }) => `${file}:${start}`) : [place];
}

/** Returns the source of a reversed fix. It imports the reversed form of each other file of the fix. */
function importsOf(file: string, source: string, named: ReadonlySet<string>, commit: string): string {
  return source.replace(/(from\s+')(\.[^']+)(\.ts')/g, (all, from, path, end) =>
    named.has(join(file, '..', `${path}.ts`)) ? `${from}${path}.${commit}${end}` : all,
  );
}

/**
 * Returns the source of the module that replaces a file. The module first exports the original file. The runner can
 * switch the module to a changed one.
 */
function switchedSource(file: string, source: string): string {
  const { staticExports } = parseSync(file, source).module;
  const names = staticExports
    .flatMap(({ entries }) => entries)
    .flatMap(({ isType, exportName }) => (isType ? [] : exportName.name))
    .join(', ');
  return `import * as original from './${basename(file, 'ts')}m0.ts';
    let current = original;
    export let { ${names} } = globalThis.forward(original, () => current);
    (globalThis.switches ??= {})['${file}'] = (now = original) => {
      current = now;
      ({ ${names} } = globalThis.forward(now, () => current));
    };`;
}
