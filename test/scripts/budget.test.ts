import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LIMITS = {
  lines: { 'shared cli': 5, test: 2 },
  documentWords: 3,
  runtimeDependencies: 1,
  installedMegabytes: 1,
};
const FILES = {
  'package.json': '{"dependencies": {"zod": "4.0.0"}}',
  'shared/a.ts': '1\n2\n3\n',
  'shared/deep/b.mjs': '4\n',
  'shared/notes.md': 'not code\n'.repeat(9),
  'cli/c.ts': '5\n',
  'README.md': '# Two words\n',
  'docs/cli/transcript.md': 'not counted\n',
  'node_modules/zod/big.js': 'x'.repeat(900_000),
  'node_modules/.cache/big.js': 'x'.repeat(900_000),
};

function project(more: Record<string, string> = {}, limits: object = LIMITS) {
  const root = temporaryFolder();
  for (const [path, text] of Object.entries({
    ...FILES,
    'scripts/budget.json': JSON.stringify(limits),
    ...more,
  })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const checkBudget = (root: string) =>
  spawnSync(process.execPath, ['--import', 'tsx', 'scripts/budget.ts', root], {
    cwd: ROOT,
    encoding: 'utf8',
  });

it('the budget check prints one sentence for each exceeded limit: lines, tests, dependencies and installed size', () => {
  const more = {
    'cli/d.ts': '6\n',
    'docs/more.md': 'word\n',
    'test/d.tsx': '1\n2\n3\n',
    'package.json': '{"dependencies": {"a": "1", "b": "1"}}',
    'node_modules/b/c.js': 'x'.repeat(700_000),
  };
  const { status, stderr } = checkBudget(project(more));
  const says = ['shared cli: 6, allowed 5', 'test: 3, allowed 2'];
  says.push(
    'words of the documents: 4, allowed 3',
    'runtime dependencies: 2, allowed 1',
    'installed megabytes: 2, allowed 1',
  );
  const lines = stderr.trim().split('\n');
  expect(lines).toEqual(says.map((one) => expect.stringMatching(`^over the budget: ${one};`)));
  expect(status).toBe(1);
});
