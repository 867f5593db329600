import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';

/** A `fix` commit of the repository, with each file as it is without the fix. */
interface ReversedFix {
  readonly commit: string;
  readonly title: string;
  readonly files: readonly {
    readonly file: string;
    readonly source: string;
    /** The code of the fix, as positions in the current file. */
    readonly ranges: readonly { readonly start: number; readonly end: number; readonly text: string }[];
  }[];
}

/**
 * Reverses the product part of each `fix` commit against HEAD, in an index of its own. The notes count the commits that
 * cannot be reversed in this way.
 */
export function reversedFixes(root: string, sources: ReadonlyMap<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'groupsync-fixes-'));
  const env = { ...process.env, GIT_INDEX_FILE: join(folder, 'index') };
  const git = (given: readonly string[], input = '') =>
    spawnSync('git', given, { cwd: root, env, input, encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (git(['rev-parse', '--is-shallow-repository']).stdout.trim() !== 'false')
    throw new Error('the fixes need the whole history of the repository: run git fetch --unshallow');
  const log = execFileSync('git', ['log', '--no-merges', '--format=%h %s'], { cwd: root, encoding: 'utf8' });
  const fixes = log.split('\n').flatMap((line) => {
    const [, commit = '', title = ''] = /^(\w+) (fix[(:!].*)$/.exec(line) ?? [];
    return commit === '' ? [] : [{ commit, title }];
  });
  const counts = { 'change no product code': 0, 'also change code outside shared': 0, 'do not apply': 0 };
  const changes: ReversedFix[] = [];
  for (const { commit, title } of fixes) {
    const paths = ['shared', 'functions', 'infra', 'cli', 'console'];
    const patch = git(['show', '--format=', '--binary', commit, '--', ...paths]).stdout;
    const touched = [...patch.matchAll(/^diff --git a\/(\S+)/gm)].map(([, file = '']) => file);
    if (touched.length === 0) {
      counts['change no product code'] += 1;
      continue;
    }
    if (touched.some((file) => !file.startsWith('shared/'))) {
      counts['also change code outside shared'] += 1;
      continue;
    }
    git(['read-tree', 'HEAD']);
    const applied =
      touched.every((file) => sources.has(file)) &&
      git(['apply', '-R', '--cached', '--3way'], patch).status === 0;
    const files = applied
      ? touched.map((file) => ({
          file,
          source: git(['show', `:${file}`]).stdout,
          ranges: rangesOf(
            git(['diff', '--cached', '-U0', 'HEAD', '--', file]).stdout,
            sources.get(file) ?? '',
          ),
        }))
      : [];
    if (files.length === 0 || !files.every(({ file, source }) => isWhole(file, source, sources, touched))) {
      counts['do not apply'] += 1;
      continue;
    }
    changes.push({ commit, title, files });
  }
  rmSync(folder, { recursive: true });
  const notes = [
    `${fixes.length} fix commits, ${changes.length} are reversed`,
    ...Object.entries(counts).map(([why, count]) => `${count} ${why}`),
  ];
  return { changes, notes };
}

/** Returns the ranges of the lines that the reversal removes from the current file. */
function rangesOf(diff: string, source: string): { start: number; end: number; text: string }[] {
  const starts = [0];
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1);
  return [...diff.matchAll(/^@@ -(\d+)(?:,(\d+))?/gm)].flatMap(([, from, count = '1']) =>
    Array.from({ length: Math.max(1, Number(count)) }, (_, index) => {
      const start = starts[Number(from) - 1 + index] ?? 0;
      const indent = /^\s*/.exec(source.slice(start))?.[0].length ?? 0;
      return { start: start + indent, end: start + indent + 1, text: '' };
    }),
  );
}

/** Returns whether the reversed file imports only names that exist today, and exports every name that it exports today. */
function isWhole(
  file: string,
  source: string,
  sources: ReadonlyMap<string, string>,
  reversed: readonly string[],
): boolean {
  const { module, errors } = parseSync(file, source);
  if (errors.length > 0) return false;
  const exportsOf = (text: string) =>
    parseSync(file, text).module.staticExports.flatMap(({ entries }) =>
      entries.map(({ exportName }) => exportName.name),
    );
  const own = new Set(exportsOf(source));
  if (exportsOf(sources.get(file) ?? '').some((name) => !own.has(name))) return false;
  return module.staticImports.every(({ moduleRequest, entries }) => {
    const target = join(file, '..', moduleRequest.value);
    if (!moduleRequest.value.startsWith('.') || reversed.includes(target)) return true;
    const names = new Set(exportsOf(sources.get(target) ?? ''));
    return entries.every(({ importName }) => importName.kind !== 'Name' || names.has(importName.name));
  });
}
