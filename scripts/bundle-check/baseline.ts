import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Metafile } from 'esbuild';
import { parseSync } from 'oxc-parser';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the sources of the project. The bundler also names values that it defines, such as `<define:NAME>`. */
const ownSources = (metafile: Metafile): string[] =>
  Object.keys(metafile.inputs).filter((path) => !/node_modules\/|^\.\.|^</.test(path));

/**
 * Returns a module that re-exports all names that the sources import from packages. Without the re-exports, the bundler
 * would drop the unused imports.
 */
export function baselineSource(metafile: Metafile): string {
  const imports = ownSources(metafile).flatMap((path) => {
    const { module } = parseSync(path, readFileSync(join(ROOT, path), 'utf8'));
    return module.staticImports
      .filter(({ moduleRequest: { value } }) => !value.startsWith('.') && !value.startsWith('node:'))
      .flatMap(({ moduleRequest, entries }) =>
        entries
          .filter(({ isType }) => !isType)
          .map(({ importName }) => ({
            from: moduleRequest.value,
            name: importName.name,
            kind: importName.kind,
          })),
      );
  });
  const clauses = imports.map(({ from, name, kind }) => {
    if (kind === 'NamespaceObject') return `* as $ from '${from}'`;
    return `{ ${kind === 'Default' ? 'default' : name} as $ } from '${from}'`;
  });
  return [...new Set(clauses)].map((clause, i) => `export ${clause.replace('$', `x${i}`)};`).join('\n');
}
