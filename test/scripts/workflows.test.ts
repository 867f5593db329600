import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const workflow = (name: string) =>
  readFileSync(new URL(`../../.github/workflows/${name}.yml`, import.meta.url), 'utf8');

/** The texts of the jobs of the release workflow, by name. */
const jobs = () => {
  const [, build = '', publish = ''] = workflow('release').split(/^ {2}(?:build|publish):$/m);
  return { build, publish };
};

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

it('the release workflow builds in a job without write permission and without an identity', () => {
  expect(jobs().build).toContain('npm run check');
  expect(jobs().build).not.toMatch(/: write|id-token|attest/);
});

it('the release workflow publishes in a job that checks nothing out and runs no npm', () => {
  expect(jobs().publish).toMatch(/gh release create/);
  expect(jobs().publish).not.toMatch(/actions\/checkout|setup-node|\bnpm (?:ci|run|pack|install)|\bnode /);
});

it('the workflows pin each action to a commit', () => {
  const used = ['release', 'check'].flatMap((name) => workflow(name).match(/uses: .*/g) ?? []);
  expect(used.length).toBeGreaterThan(5);
  for (const line of used) expect(line).toMatch(/@[0-9a-f]{40} # v\d/);
});

const script = () =>
  jobs()
    .publish.match(/run: \|\n((?: {10}.*\n)+)/)?.[1]
    ?.replaceAll(/^ {10}/gm, '') ?? 'exit 9';
const verify = (sums: string) =>
  execFileSync('bash', ['-e', '-c', script()], {
    cwd: folder,
    env: { ...process.env, SUMS: sums },
    stdio: 'pipe',
  });
let folder = '';
let sums = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'release-'));
  writeFileSync(join(folder, 'a.tgz'), 'package');
  writeFileSync(join(folder, 'b.json'), 'template');
  const list = `${sha256('package')}  a.tgz\n${sha256('template')}  b.json\n`;
  writeFileSync(join(folder, 'SHA256SUMS'), list);
  sums = sha256(list);
});
afterEach(() => rmSync(folder, { recursive: true }));

it('the verification of the received files accepts exactly the files of the build job', () =>
  expect(() => verify(sums)).not.toThrow());

it.each([
  ['a changed file', () => writeFileSync(join(folder, 'a.tgz'), 'changed')],
  ['a missing file', () => rmSync(join(folder, 'b.json'))],
  ['an added file', () => writeFileSync(join(folder, 'c.json'), '')],
  ['a changed list of sums', () => writeFileSync(join(folder, 'SHA256SUMS'), '')],
])('the verification of the received files refuses %s', (_, change) => {
  change();
  expect(() => verify(sums)).toThrow();
});
