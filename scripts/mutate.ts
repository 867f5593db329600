import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { createVitest } from 'vitest/node';
import { type Mutant, mutantsOf, withLoopsEnding } from './mutate/mutants.ts';
import { SURVIVORS } from './mutate/survivors.ts';

/*
 * Changes the pure core one small thing at a time and runs its tests: each change should be noticed. Works on a copy,
 * so that a run that is stopped leaves nothing behind. `--only TEXT` takes the files whose path contains TEXT.
 */

/** Which tests are to notice a change in which folder. */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  'shared/domain': ['test/domain'],
  'shared/plan': ['test/plan'],
};
const LEAST_KILLED = 0.9;
/** A mutant that loops for ever is noticed too. */
const TEST_TIMEOUT_MS = 20_000;

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const root = process.cwd();
const copy = mkdtempSync(join(tmpdir(), 'groupsync-mutate-'));
for (const folder of ['shared', 'test', 'examples', 'package.json', 'tsconfig.json', 'vitest.config.ts']) {
  cpSync(join(root, folder), join(copy, folder), { recursive: true });
}
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));

const files = Object.keys(TESTS)
  .flatMap((folder) => readdirSync(join(copy, folder)).map((name) => join(folder, name)))
  .filter((file) => file.includes(values.only));

/** Fewer tries than in `npm test`: a property that needs a thousand to notice a changed operator is no help anyway. */
process.env['GROUPSYNC_RUNS'] ??= '100';
const vitest = await createVitest('test', {
  root: copy,
  watch: false,
  testTimeout: TEST_TIMEOUT_MS,
  reporters: [{}],
});

const first = await vitest.start([...new Set(files.flatMap(testsOf))]);

const survivors: string[] = [];
let count = 0;
try {
  if (first.testModules.length === 0) throw new Error('expected tests to run, got none');
  const failing = first.testModules.filter((module) => !module.ok()).map(({ moduleId }) => moduleId);
  if (failing.length > 0) throw new Error(`the tests fail without any mutation: ${failing.join(', ')}`);
  for (const file of files) {
    const source = readFileSync(join(copy, file), 'utf8');
    for (const mutant of mutantsOf(file, source)) {
      count += 1;
      if (!(await survives(file, source, mutant))) continue;
      const line = describe(file, source, mutant);
      survivors.push(line);
      console.log(`alive: ${line}${SURVIVORS.has(line) ? ' (explained)' : ''}`);
    }
    // Or else every mutant after the first would seem to be noticed.
    if (!(await passes(file))) throw new Error(`the tests of ${file} fail without any mutation by now`);
    process.stderr.write(`${file}: ${count} mutants so far, ${survivors.length} alive\n`);
  }
} finally {
  await vitest.close();
  rmSync(copy, { recursive: true });
}

const unexplained = survivors.filter((line) => !SURVIVORS.has(line));
const killed = (count - survivors.length) / count;
console.log(`${count} mutants, ${(killed * 100).toFixed(1)} % noticed, ${unexplained.length} unexplained`);
process.exitCode = killed >= LEAST_KILLED && unexplained.length === 0 ? 0 : 1;
process.exit();

function testsOf(file: string): readonly string[] {
  return Object.entries(TESTS).flatMap(([folder, tests]) => (file.startsWith(folder) ? tests : []));
}

/** The tests named after the file notice most changes, so they come first; the others only where those saw nothing. */
async function passes(file: string): Promise<boolean> {
  const folders = testsOf(file);
  const modules = first.testModules
    .map(({ moduleId }) => moduleId)
    .filter((id) => folders.some((folder) => id.includes(folder)));
  const isNamesake = (id: string) => basename(id).startsWith(`${basename(file, '.ts')}.`);
  return (await pass(modules.filter(isNamesake))) && pass(modules.filter((id) => !isNamesake(id)));
}

async function pass(modules: readonly string[]): Promise<boolean> {
  if (modules.length === 0) return true;
  const specifications = modules.flatMap((id) => vitest.getModuleSpecifications(id));
  const { testModules } = await vitest.runTestSpecifications(specifications);
  // Those of earlier runs come along.
  return testModules.every((module) => module.ok() || !modules.includes(module.moduleId));
}

async function survives(file: string, source: string, { start, end, text }: Mutant): Promise<boolean> {
  const path = join(copy, file);
  const mutated = source.slice(0, start) + text + source.slice(end);
  writeFileSync(path, withLoopsEnding(file, mutated));
  vitest.invalidateFile(path);
  try {
    return await passes(file);
  } finally {
    writeFileSync(path, source);
    vitest.invalidateFile(path);
  }
}

/** The same line of text for the same mutant, wherever in the file it moves. */
function describe(file: string, source: string, { start, end, text }: Mutant): string {
  const lineStart = source.lastIndexOf('\n', start) + 1;
  const lineEnd = source.indexOf('\n', end);
  const line = source.slice(lineStart, lineEnd).trim().replace(/\s+/g, ' ');
  const was = source.slice(start, end).replace(/\s+/g, ' ');
  return `${relative('.', file)}: ${line.slice(0, 120)} | ${was.slice(0, 60)} → ${text.slice(0, 60)}`;
}
