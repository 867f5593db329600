import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

// The reader of the output may close the pipe (`| head`).
process.stdout.on('error', () => process.exit());

/** The size limits of the project. A commit that raises a limit must give the reason. */
const Budget = z.strictObject({
  /** Lines of code, per group of folders. */
  lines: z.record(z.string(), z.int()),
  /** Words of README.md, CONTRIBUTING.md and all pages below `docs/`, without the transcript of the commands. */
  documentWords: z.int(),
  runtimeDependencies: z.int(),
  /** The size of all packages that `npm ci` installs, in millions of bytes. */
  installedMegabytes: z.int(),
});
const Package = z.looseObject({ dependencies: z.record(z.string(), z.string()).default({}) });

function measure(root: string) {
  const json = (path: string): unknown => JSON.parse(readFileSync(join(root, path), 'utf8'));
  const { lines, documentWords, runtimeDependencies, installedMegabytes } = Budget.parse(
    json('scripts/budget.json'),
  );
  const dependencies = Object.keys(Package.parse(json('package.json')).dependencies).length;
  const bytes = filesIn(join(root, 'node_modules'), isInstalled).map((path) => lstatSync(path).size);
  const megabytes = Math.round(bytes.reduce((sum, size) => sum + size, 0) / 1e6);
  return [
    ...Object.entries(lines).map(([name, limit]) => ({
      name,
      now: countLines(root, name.split(' ')),
      limit,
    })),
    { name: 'words of the documents', now: countWords(root), limit: documentWords },
    { name: 'runtime dependencies', now: dependencies, limit: runtimeDependencies },
    { name: 'installed megabytes', now: megabytes, limit: installedMegabytes },
  ];
}

function countLines(root: string, folders: readonly string[]): number {
  const code = codeOf(root, folders).filter((path) => /\.(?:ts|tsx|mjs)$/.test(path) && existsSync(path));
  return code.reduce((sum, path) => sum + readFileSync(path, 'utf8').split('\n').length - 1, 0);
}

function countWords(root: string): number {
  const pages = codeOf(root, ['README.md', 'CONTRIBUTING.md', 'docs'])
    .filter((path) => path.endsWith('.md') && !path.endsWith('docs/cli/transcript.md') && existsSync(path))
    .flatMap((path) => readFileSync(path, 'utf8').split(/\s+/));
  return pages.filter((word) => word !== '').length;
}

/** Returns the files in these folders that git tracks. Without git, returns all files. */
function codeOf(root: string, folders: readonly string[]): string[] {
  const args = ['ls-files', '-z', '--', ...folders];
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status === 0 && stdout !== '') return stdout.split('\0').map((path) => join(root, path));
  return folders.flatMap((folder) => filesIn(join(root, folder), (path) => !path.includes('node_modules')));
}

/**
 * Returns true if `npm ci` installed the file. Tools keep caches in the same folder, in subfolders with a dot at the
 * beginning of the name.
 */
const isInstalled = (path: string) => !/^\.(?!bin|package-lock)/.test(path);

function filesIn(folder: string, isWanted: (path: string) => boolean): string[] {
  if (!existsSync(folder)) return [];
  if (lstatSync(folder).isFile()) return [folder];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  return paths.filter((path) => isWanted(relative(folder, path)));
}

const figures = measure(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)));
console.log(`${'budget'.padEnd(28)}     now   limit`);
for (const { name, now, limit } of figures) {
  console.log(`${name.padEnd(28)}${String(now).padStart(8)}${String(limit).padStart(8)}`);
  if (now <= limit) continue;
  console.error(
    `over the budget: ${name}: ${now}, allowed ${limit}; remove some of it, or raise the limit in scripts/budget.json with a reason`,
  );
  process.exitCode = 1;
}
