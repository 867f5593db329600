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
  'scripts/budget.json': JSON.stringify(LIMITS),
  'package.json': '{"dependencies": {"a": "1", "b": "1"}}',
  'shared/a.ts': '1\n2\n3\n',
  'shared/deep/b.mjs': '4\n',
  'shared/notes.md': 'not code\n'.repeat(9),
  'cli/c.ts': '5\n6\n',
  'test/d.tsx': '1\n2\n3\n',
  'README.md': '# Three words\nword\n',
  'docs/cli/transcript.md': 'not counted\n',
  'node_modules/zod/big.js': 'x'.repeat(1_600_000),
  'node_modules/.cache/big.js': 'x'.repeat(900_000),
};

it('the budget check prints one sentence for each exceeded limit: lines, tests, dependencies and installed size', () => {
  const root = temporaryFolder();
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const args = ['--import', 'tsx', 'scripts/budget.ts', root];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  const says = [
    'shared cli: 6, allowed 5',
    'test: 3, allowed 2',
    'words of the documents: 4, allowed 3',
    'runtime dependencies: 2, allowed 1',
    'installed megabytes: 2, allowed 1',
  ];
  const lines = stderr.trim().split('\n');
  expect(lines).toEqual(says.map((one) => expect.stringMatching(`^over the budget: ${one};`)));
  expect(status).toBe(1);
});
