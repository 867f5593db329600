import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { findBreaches } from './breaches.ts';
import { readSource } from './reader.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = [
  'shared',
  'functions',
  'infra',
  'console',
  'cli',
  'local',
  'directory-simulator',
  'scripts',
  'bench',
  'simulate',
  'test',
];
const CODE = /\.[cm]?[jt]sx?$/;

function sourcesOnDisk(): string[] {
  return FOLDERS.filter((folder) => existsSync(join(ROOT, folder))).flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
      .filter((path) => CODE.test(path) && !path.includes('node_modules/')),
  );
}

/** Returns the source files that git tracks and that still exist. */
function sourcesInGit(): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--', ...FOLDERS], { cwd: ROOT, encoding: 'utf8' });
  return listed.split('\0').filter((path) => CODE.test(path) && existsSync(join(ROOT, path)));
}

const files = sourcesOnDisk().map((path) => readSource(path, readFileSync(join(ROOT, path), 'utf8')));

it('the check reads every source file that git tracks', () => {
  const seen = new Set(files.map(({ path }) => path));
  expect(sourcesInGit().length).toBeGreaterThan(5);
  expect(sourcesInGit().filter((path) => !seen.has(path))).toEqual([]);
});

it('the check finds imports and uses in the source files, so an empty list of breaches is meaningful', () => {
  expect(files.flatMap(({ imports }) => imports).length).toBeGreaterThan(files.length / 2);
  expect(files.flatMap(({ uses }) => uses).length).toBeGreaterThan(files.length);
});

it('no source file breaks a rule', () => {
  expect(findBreaches(files)).toEqual([]);
});

const breachesIn = (sources: Record<string, string>) =>
  findBreaches(Object.entries(sources).map(([path, text]) => readSource(path, text)));

const bad: [path: string, text: string, says: string][] = [
  ['shared/domain/a.ts', "import type { N } from '../contract/n.ts'", 'is pure'],
  ['shared/contract/a.ts', "import 'undici'", 'is pure'],
  ['shared/plan/a.ts', "import { z } from 'zod'", 'is pure'],
  ['shared/scim/protocol/a.ts', "import type { S } from '../ports.ts'", 'the protocol alone'],
  ['shared/scim/protocol/a.ts', "import type { G } from '../../domain/g.ts'", 'is pure'],
  ['shared/directory/rules/a.ts', "import 'node:fs'", 'is pure'],
  ['shared/directory/reading/a.ts', "import { o } from '../operate/o.ts'", 'belongs in'],
  ['shared/directory/reading/a.ts', "import { s } from '../../scim/server/s.ts'", 'is a feature'],
  ['shared/scim/server/a.ts', "import { s } from '../store/s.ts'", 'is a feature'],
  ['shared/scim/store/a.ts', "import { s } from '../server/s.ts'", 'is an adapter'],
  ['shared/sync/a.ts', "import { s } from '../scim/server/s.ts'", 'imports no feature'],
  ['shared/sync/a.ts', "import { s } from '../store/s.ts'", 'as a port'],
  ['shared/platform/a.ts', "import '../store/s.ts'", 'an adapter'],
  ['shared/sync/ports/bundles.ts', "import { s } from '../../store/s.ts'", 'only types'],
  ['shared/sync/ports/a.ts', "import type { W } from '../wake.ts'", 'for adapters'],
  ['shared/sync/a.ts', "import { d } from '../operate/d.ts'", 'belongs in sync'],
  ['shared/operate/a.ts', "import { s } from '../aws/s.ts'", 'what operators do'],
  ['shared/aws/a.ts', "import { c } from '../runtime/clock.ts'", 'an adapter'],
  ['shared/store/a.ts', "import type { I } from '../sync/ingest.ts'", 'an adapter'],
  ['shared/store/a.ts', "import '@aws-sdk/client-sqs'", 'an adapter'],
  ['shared/runtime/a.ts', "import '../../functions/apply.ts'", 'nothing outside it'],
  ['functions/apply.ts', "import './ingest.ts'", 'out of its reach'],
  ['functions/frame/a.ts', "import '../apply.ts'", 'never a handler'],
  ['cli/a.ts', "import '../functions/apply.ts'", 'imports shared and console/server'],
  ['console/page/a.tsx', "import type { R } from '../../shared/contract/r.ts'", 'runs in a browser'],
  ['console/page/a.tsx', "import 'node:fs'", 'runs in a browser'],
  ['console/server/a.ts', "import '../../cli/run.ts'", 'calls the use cases'],
  ['console/server/a.ts', "import 'node:fs'", 'calls the use cases'],
  ['console/answers.ts', "import { z } from 'zod'", 'imports only types'],
  ['local/a.ts', "import '../cli/run.ts'", 'never cli or infra'],
  ['directory-simulator/engine/a.ts', "import '../google/a.ts'", 'imports no dialect'],
  ['directory-simulator/google/a.ts', "import '../entra/a.ts'", 'never another dialect'],
  ['directory-simulator/a.ts', "import '../shared/sync/a.ts'", 'nothing of the product'],
  ['infra/a.ts', "import '../shared/sync/a.ts'", 'handlers by path'],
  ['shared/runtime/a.ts', "import '../../simulate/table.ts'", 'nothing outside it'],
  ['simulate/a.ts', "import '../test/support/reading.ts'", 'no test and no local stack'],
  ['shared/other/a.ts', 'export const a = 1', 'no rule says'],
  ['shared/runtime/a.ts', 'await import(name)', 'string literal'],
  ['shared/store/all.ts', "export { a } from './a.ts'; export * from './b.ts'", 'barrel'],
  ['shared/plan/all.ts', "import { a } from './a.ts'; export { a }", 'barrel'],
  ['shared/store/a.ts', 'const a = process.env.A', '(environment)'],
  ['functions/apply.ts', 'const { env } = process', '(environment)'],
  ['infra/a.ts', "import { env } from 'node:process'", '(environment)'],
  ['shared/sync/a.ts', 'const now = Date.now', '(clock)'],
  ['functions/apply.ts', 'const now = new Date()', '(clock)'],
  ['simulate/draw.ts', 'Math.random()', '(randomness)'],
  ['simulate/time.ts', 'setTimeout(f, 1)', '(timers)'],
  ['infra/a.ts', 'performance.now()', '(clock)'],
  ['functions/apply.ts', 'globalThis.crypto.randomUUID()', '(randomness)'],
  ['shared/store/a.ts', "import { randomBytes as r } from 'node:crypto'", '(randomness)'],
  ['shared/platform/a.ts', 'await new Promise((done) => setTimeout(done, 5))', '(timers)'],
  ['shared/platform/a.ts', "import { setTimeout } from 'node:timers/promises'", '(timers)'],
];

it.each(bad)('the rules refuse a file in %s with the text: %s', (path, text, says) => {
  const breaches = breachesIn({ [path]: text });
  expect(breaches).toHaveLength(1);
  expect(breaches[0]).toContain(says);
  expect(breaches[0]).toContain('fix: ');
});

it.each([
  ['a type-only import', "import { type B } from '../store/b.ts'"],
  ['a dynamic import', "const b = await import('../store/b.ts')"],
  ['an import type', "export let b: import('../store/b.ts').B"],
  ['a re-export', "export const a = 1; export { b } from '../store/b.ts'"],
  ['a star re-export', "export const a = 1; export * from '../store/b.ts'"],
  ['a re-export of types', "export const a = 1; export type { B } from '../store/b.ts'"],
  ['a require', "const b = require('../store/b.ts')"],
])('%s counts as an import', (_title, text) => {
  expect(breachesIn({ 'shared/plan/a.ts': text })).toHaveLength(1);
});

it('the rules report a cycle of imports once, even if one import is type-only', () => {
  const breaches = breachesIn({
    'shared/plan/a.ts': "import { b } from './b.ts'; export const a = b",
    'shared/plan/b.ts': "import { c } from './c.ts'; export const b = c",
    'shared/plan/c.ts': "import type { A } from './a.ts'; export const c = 1 as A",
  });
  expect(breaches).toEqual([
    expect.stringContaining(
      'shared/plan/a.ts: imports itself by way of shared/plan/b.ts → shared/plan/c.ts → shared/plan/a.ts; fix: ',
    ),
  ]);
});

it('the check reports a file that cannot be parsed', () => {
  expect(() => readSource('shared/plan/a.ts', 'export const = 1')).toThrow('shared/plan/a.ts');
});
