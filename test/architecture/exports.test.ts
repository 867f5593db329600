import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Exports that code outside the imports uses: package entries, files that a bundler or a tool loads by their path. */
const ALLOWED: readonly (readonly [path: RegExp, reason: string])[] = [
  [/^infra\/index\.ts$/, 'the package exports it as groupsync/infra'],
  [/^cli\/answers\.ts$/, 'the package exports it as groupsync/answers'],
  [/^cli\/platform-client\.ts$/, 'the package exports it as groupsync/platform'],
  [/^infra\/substitutes\//, 'the bundler replaces modules of the SDK with these files'],
  [/^bench\/cold-start\/bare-/, 'Lambda handlers that the bench bundles by their path'],
  [
    /^test\/infra\/(?:fixture|package-infra)/,
    'a handler that does nothing, and the package under its own name',
  ],
  [/^(?:vitest\.config|scripts\/mutate\/runner)\.ts$/, 'vitest loads them by their path'],
  [/\.d\.m?ts$/, 'types of a file in JavaScript'],
];

interface Source {
  readonly path: string;
  readonly text: string;
}

const ALL = '*';

/** Returns the exports that no other file imports, as `path: name`. A file that is imported as a whole has none. */
function unusedExports(sources: readonly Source[]): readonly string[] {
  const exported: (readonly [path: string, name: string])[] = [];
  const imported = new Set<string>();
  for (const { path, text } of sources) {
    const use = (specifier: string, name: string) => {
      if (specifier.startsWith('.')) imported.add(`${posix.join(posix.dirname(path), specifier)}: ${name}`);
    };
    const { module } = parseSync(path, text);
    for (const { moduleRequest, entries } of module.staticImports)
      for (const { importName } of entries) use(moduleRequest.value, nameOf(importName));
    for (const { exportName, importName, moduleRequest } of module.staticExports.flatMap(
      ({ entries }) => entries,
    )) {
      if (moduleRequest) use(moduleRequest.value, nameOf(importName));
      if (exportName.kind !== 'None') exported.push([path, nameOf(exportName)]);
    }
    for (const [, specifier = ''] of text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g)) use(specifier, ALL);
  }
  return exported
    .filter(([path, name]) => !imported.has(`${path}: ${name}`) && !imported.has(`${path}: ${ALL}`))
    .map(([path, name]) => `${path}: ${name}`);
}

function nameOf({ kind, name }: { readonly kind: string; readonly name?: string | null }): string {
  if (kind === 'Default') return 'default';
  return kind === 'Name' && name ? name : ALL;
}

/** The names of two types of the product, each with the reason. The list has at most ten names. */
const SHARED_NAMES: Readonly<Record<string, string>> = {
  Plan: 'the decided plan of a group, and its public form in the answer of `plan`',
};

const PRODUCT = /^(?:shared|functions|infra|cli|console)\//;

/** Returns the names of the types that more than one file of the product declares and exports, with the files. */
function sharedTypeNames(sources: readonly Source[]): ReadonlyMap<string, readonly string[]> {
  const files = new Map<string, readonly string[]>();
  for (const { path, text } of sources.filter((source) => PRODUCT.test(source.path))) {
    for (const statement of parseSync(path, text).program.body) {
      const one = statement.type === 'ExportNamedDeclaration' ? statement.declaration : null;
      if (one?.type !== 'TSInterfaceDeclaration' && one?.type !== 'TSTypeAliasDeclaration') continue;
      files.set(one.id.name, [...(files.get(one.id.name) ?? []), path]);
    }
  }
  return new Map([...files].filter(([, { length }]) => length > 1));
}

/** Words for "not there" that the project does not use. docs/glossary.md defines the six words that it uses. */
const RETIRED =
  /(?:^|_)(?:unshown|unlisted|lack\w*|lost|miss(?:ed|es)?|odd|left|fixed|absence|vanished|omitted)(?=_|$)/;

/** Returns the exports of `shared` whose names contain a retired word for "not there". */
const retiredExports = (sources: readonly Source[]): readonly string[] =>
  sources
    .filter(({ path }) => path.startsWith('shared/'))
    .flatMap(({ path, text }) => parseSync(path, text).module.staticExports)
    .flatMap(({ entries }) => entries.map(({ exportName }) => nameOf(exportName)))
    .filter((name) => RETIRED.test(name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()));

const paths = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
  .split('\0')
  .filter((path) => /\.[cm]?[jt]sx?$/.test(path) && existsSync(join(ROOT, path)));
const sources = paths.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

it('an exported type of the product has a name of its own, or the list of shared names has a reason', () => {
  expect(Object.keys(SHARED_NAMES).length).toBeLessThanOrEqual(10);
  const shared = sharedTypeNames(sources);
  expect(Object.keys(SHARED_NAMES).filter((name) => !shared.has(name))).toEqual([]);
  const unlisted = [...shared].filter(([name]) => !(name in SHARED_NAMES));
  expect(unlisted, 'rename one of the types, or add the name to SHARED_NAMES with a reason').toEqual([]);
});

it('an exported name of shared uses a word of the glossary for "not there"', () => {
  const made = ['isUnlisted', 'lostFields', 'MISSED', 'decideMissing'].map(
    (name) => `export const ${name} = 1;`,
  );
  expect(retiredExports([{ path: 'shared/a.ts', text: made.join('\n') }])).toHaveLength(3);
  expect(retiredExports(sources), 'use absent, missing, gone, hidden, excluded or withheld').toEqual([]);
});

it('every export is imported by another file, or is listed with a reason', () => {
  expect(paths.length).toBeGreaterThan(1_000);
  const unused = unusedExports(sources).filter(
    (one) => !ALLOWED.some(([path]) => path.test(one.split(':')[0] ?? '')),
  );
  expect(unused, 'remove the keyword export, or the code, or add the file to ALLOWED with a reason').toEqual(
    [],
  );
});

it.each([
  ['a re-export', "export { a } from './a.ts';", ['b.ts: a']],
  ['an import of another name', "import { c } from './a.ts';", ['a.ts: a']],
  ['a local with the same name', 'const a = 1;', ['a.ts: a']],
])('with %s in another file, the unused exports are found', (_, text, expected) => {
  const sources = [
    { path: 'a.ts', text: 'export const a = 1;' },
    { path: 'b.ts', text },
  ];
  expect(unusedExports(sources)).toEqual(expected);
});
