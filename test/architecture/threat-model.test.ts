import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const PAGE = readFileSync('docs/threat-model.md', 'utf8');
/** The rows of threats: id and threat, defence, tests, what is not defended. */
const ROWS = PAGE.split('\n').filter((line) => /^\| [A-Z]\d+\. /.test(line));
const TESTS = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => readFileSync(`test/${path}`, 'utf8'))
  .join('\n');

it('every test title in the threat model exists', () => {
  const shownBy = ROWS.map((row) => row.split(' | ')[2] ?? '');
  const titles = shownBy.flatMap((cell) =>
    [...cell.matchAll(/"([^"…]+)…?"/g)].map(([, title = '']) => title),
  );
  expect(titles.length).toBeGreaterThan(80);
  expect(titles.filter((title) => !TESTS.includes(title))).toEqual([]);
  const paths = [...PAGE.matchAll(/\btest\/[\w./-]+\.test\.ts/g)].map(([path]) => path);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

it('every threat has a test, or the page says that it has none', () => {
  const without = ROWS.filter(
    (row) => !/\.test\.ts|"|\| none \|/.test(row.split(' | ').slice(2).join(' | ')),
  );
  expect(without).toEqual([]);
});
