import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = [
  ...['shared', 'functions', 'infra', 'console', 'cli', 'local', 'scripts', 'bench', 'simulate', 'test'],
  ...['docs', 'examples', 'directory-simulator'],
];
const FILES = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'vitest.config.ts', '.ci/run'],
  ...['.github/workflows/check.yml', '.github/workflows/release.yml'],
];
const READ = /\.(?:tsx?|mts|mjs|css|md)$/;
const NOT_READ = /node_modules\/|test\/support\/recorded\/|test\/architecture\/words\.test\.ts$/;

/** The words that the project does not use, with the word to use instead. docs/glossary.md defines the terms. */
const RETIRED: Readonly<Record<string, string>> = {
  'letters?': 'dead-lettered message',
  'deeds?': 'action',
  'whoever|whom|somebody|nobody|anybody': 'the subject: the operator, the member, another client …',
  'mend(?:s|ed|ing)?': 'fix',
  anew: 'again',
  saying: 'event',
  'waivers?|waive[sd]?': 'accepted drift',
  newness: 'latest stamp',
  contest: 'flap damping',
  'absorb(?:s|ed|ing)?': 'accept an external change',
  overtaken: 'superseded',
  'bur(?:y|ied|ies|ying)': 'send to the dead-letter queue',
  hush: 'redact',
  sorter: 'sort',
  'tempers?': 'platform fault',
  'chronicles?': 'run log',
  'tally|tallies': 'totals',
  'onlookers?': 'client',
  'in step': 'in sync',
  'under way': 'syncing, or in progress',
};

/**
 * Lines in which a retired word is correct: the word is meant literally, is part of a public name, or names a random
 * stream of the simulation.
 */
const ALLOWED: readonly (readonly [path: string, text: RegExp])[] = [
  ['test/cli/run.test.ts', /ids\('letter'\)/],
  ['console/page/style.css', /letter-spacing/],
  ['shared/sync/ports/platform.ts', /', saying: '/],
  ['infra/alarms.ts', /letters, digits and spaces/],
  ['infra/settings.ts', /letter from a to z|pairs of letters/],
  ['shared/operate/names.ts', /pairs of letters/],
  ['simulate/matching.ts', /ASCII letters/],
  ['simulate/', /fork\('(?:tempers|somebody)'\)/],
  ['scripts/cli-transcript.ts', /'wait' in step/],
];

const isAllowed = (path: string, line: string) =>
  ALLOWED.some(([begin, text]) => path.startsWith(begin) && text.test(line));

/**
 * Returns the line as words. The parts of `camelCase` and `snake_case` are separate words, and "dead letter" is one
 * word.
 */
const wordsOf = (line: string) =>
  line
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .replace(/dead[- ]letter/gi, 'dead-message');

const PATTERN = new RegExp(`\\b(?:${Object.keys(RETIRED).join('|')})\\b`, 'i');

function retiredIn(path: string): string[] {
  const lines = readFileSync(join(ROOT, path), 'utf8').split('\n');
  return lines.flatMap((line, index) => {
    const word = isAllowed(path, line) ? undefined : PATTERN.exec(wordsOf(line))?.[0];
    if (word === undefined) return [];
    const [, better] =
      Object.entries(RETIRED).find(([one]) => new RegExp(`^(?:${one})$`, 'i').test(word)) ?? [];
    return [`${path}:${index + 1}: expected ${better}, got "${word}"`];
  });
}

const pathsIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .filter((path) => READ.test(path) && !NOT_READ.test(path));

it('code, comments, documents and messages contain no retired word of the glossary', () => {
  const present = new Set(readdirSync(ROOT));
  const paths = [...FOLDERS.filter((folder) => present.has(folder)).flatMap(pathsIn), ...FILES];
  expect(paths.length).toBeGreaterThan(900);
  expect(paths.flatMap(retiredIn)).toEqual([]);
});

it('retired words are found in identifiers and in prose', () => {
  for (const line of ['const recordDeed = 1;', 'Whom it concerns.', 'the group is in step', 'MOST_DEEDS'])
    expect(PATTERN.test(wordsOf(line)), line).toBe(true);
  for (const line of ['the dead-letter queue', 'deadLetters.send', 'an amended event'])
    expect(PATTERN.test(wordsOf(line)), line).toBe(false);
});
