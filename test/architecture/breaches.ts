import type { Import, SourceFile } from './reader.ts';
import { IMPORT_RULES, type ImportRule, LITERAL_IMPORTS, NO_BARRELS, NO_CYCLES, USE_RULES } from './rules.ts';

/** Returns every breach of the rules in these files, sorted, in the form `where: what; fix: how`. */
export function findBreaches(files: readonly SourceFile[]): string[] {
  return [...files.flatMap(fileBreaches), ...cycles(files).map(describeCycle)].sort();
}

const matches = (pattern: string, path: string) =>
  pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
const matchesAny = (patterns: readonly string[] | undefined, path: string) =>
  (patterns ?? []).some((pattern) => matches(pattern, path));

function fileBreaches(file: SourceFile): string[] {
  const rule = IMPORT_RULES.find(({ files }) => matches(files, file.path));
  if (rule === undefined) {
    return [
      `${file.path}: no rule says what it may import; fix: move it, or add its folder to test/architecture/rules.ts`,
    ];
  }
  return [...importBreaches(file, rule), ...useBreaches(file), ...barrelBreaches(file)];
}

function importBreaches(file: SourceFile, rule: ImportRule): string[] {
  if (rule.mayImport.includes('*')) return [];
  return file.imports.flatMap((one) => {
    const where = `${file.path}:${one.line}`;
    if (one.target === undefined)
      return [`${where}: imports a computed specifier; fix: ${LITERAL_IMPORTS.fix}`];
    if (isAllowed(one, one.target, rule)) return [];
    const what = one.typeOnly ? 'imports types of' : 'imports';
    return [`${where}: ${what} ${one.target}; fix: ${rule.fix}`];
  });
}

function isAllowed(one: Import, target: string, rule: ImportRule): boolean {
  if (one.relative && !/\.[cm]?[jt]sx?$/.test(target)) return true;
  const [all, types] = one.relative
    ? [rule.mayImport, rule.mayImportTypes]
    : [rule.packages, rule.packageTypes];
  return matchesAny(all, target) || (one.typeOnly && matchesAny(types, target));
}

function useBreaches(file: SourceFile): string[] {
  return USE_RULES.filter(
    (rule) => matchesAny(rule.within, file.path) && !matchesAny(rule.except, file.path),
  ).flatMap((rule) =>
    file.uses
      .filter(({ name }) => rule.uses.some((pattern) => usesName(pattern, name)))
      .map(({ name, line }) => `${file.path}:${line}: uses ${name} (${rule.name}); fix: ${rule.fix}`),
  );
}

/**
 * Returns whether a used name matches a pattern. The pattern `*.randomUUID` matches the bare name, and the member with
 * this name in any object.
 */
const usesName = (pattern: string, name: string) =>
  pattern.startsWith('*.') ? name === pattern.slice(2) || name.endsWith(pattern.slice(1)) : name === pattern;

const barrelBreaches = (file: SourceFile) =>
  file.barrel && matchesAny(NO_BARRELS.within, file.path)
    ? [`${file.path}: only re-exports; fix: ${NO_BARRELS.fix}`]
    : [];

const describeCycle = (cycle: readonly string[]) =>
  `${cycle[0]}: imports itself by way of ${cycle.slice(1).join(' → ')}; fix: ${NO_CYCLES.fix}`;

/** Returns each import cycle once, as the path from its first file back to this file. */
function cycles(files: readonly SourceFile[]): string[][] {
  const edges = new Map(files.map((file) => [file.path, relativeTargets(file)]));
  const done = new Set<string>();
  const found: string[][] = [];
  const visit = (path: string, way: readonly string[]): void => {
    const seenAt = way.indexOf(path);
    if (seenAt !== -1) found.push([...way.slice(seenAt), path]);
    if (seenAt !== -1 || done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...way, path]);
    done.add(path);
  };
  for (const path of [...edges.keys()].sort()) visit(path, []);
  return found;
}

const relativeTargets = (file: SourceFile) =>
  file.imports.flatMap(({ relative, target }) => (relative && target !== undefined ? [target] : []));
