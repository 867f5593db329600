import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const FILES = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' }).split(
  '\n',
);
const PRESENT = FILES.filter((path) => existsSync(path));
const read = (path: string) => readFileSync(path, 'utf8');

/** Returns the anchor of a heading, in the form of GitHub. */
const anchorOf = (heading = '') =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

function hasAnchor(page: string, anchor: string): boolean {
  const text = read(page).replace(/^```.*?^```/gms, '');
  return (
    text.includes(`<a id="${anchor}"`) ||
    [...text.matchAll(/^#+ (.+)$/gm)].some(([, heading]) => anchorOf(heading) === anchor)
  );
}

const isBroken = (page: string, anchor = '') =>
  !existsSync(page) || (anchor !== '' && !hasAnchor(page, anchor));

it('every link in the documents leads to a file, and its anchor to a heading', () => {
  const links = PRESENT.filter((path) => path.endsWith('.md')).flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(
      ([link, path, anchor]) => ({
        link: `${page}: ${link}`,
        isBroken: isBroken(path ? join(dirname(page), path) : page, anchor),
      }),
    ),
  );
  expect(links.length).toBeGreaterThan(300);
  expect(links.filter((link) => link.isBroken)).toEqual([]);
});

it('every page and heading that a message or comment of the code names exists', () => {
  const code = PRESENT.filter((path) =>
    /^(?:shared|functions|infra|cli|local|console|scripts)\/.*\.tsx?$/.test(path),
  );
  const named = code.flatMap((file) =>
    [...read(file).matchAll(/(docs\/[\w/-]+\.md)`?(?:, "([^"]+)"|#([\w-]+))?/g)].map(
      ([text, page = '', heading, anchor = anchorOf(heading)]) => ({
        text: `${file}: ${text}`,
        isBroken: isBroken(page, anchor),
      }),
    ),
  );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((one) => one.isBroken)).toEqual([]);
});
