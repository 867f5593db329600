import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const FILES = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' }).split(
  '\n',
);
const CODE = /^(?:shared|functions|infra|cli|local|console|scripts)\/.*\.tsx?$/;
const LINK = /\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g;
const NAMED = /\b(docs\/[\w/-]+\.md)`?(?:, "([^"]+)"|#([\w-]+))?/g;
const read = (path: string) => readFileSync(path, 'utf8');

/** Returns the anchor of a heading, in the form of GitHub. */
const anchorOf = (heading = '') =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

function isBroken(page: string, anchor = ''): boolean {
  if (!existsSync(page)) return true;
  if (anchor === '') return false;
  const headings = read(page)
    .replace(/^```.*?^```/gms, '')
    .matchAll(/^#+ (.+)$/gm);
  return ![...headings].some(([, heading]) => anchorOf(heading) === anchor);
}

it.each([
  ['every link in a document', /\.md$/, LINK],
  ['every page and heading that a message or comment of the code names', CODE, NAMED],
])('%s leads to a page and one of its headings', (_, files, pattern) => {
  const found = FILES.filter((path) => files.test(path) && existsSync(path)).flatMap((path) =>
    [...read(path).matchAll(pattern)].map(([text, page = '', name, anchor = anchorOf(name)]) => ({
      text: `${path}: ${text}`,
      isBroken: isBroken(pattern === NAMED ? page : join(dirname(path), page || basename(path)), anchor),
    })),
  );
  expect(found.length).toBeGreaterThan(30);
  expect(found.filter((one) => one.isBroken)).toEqual([]);
});
