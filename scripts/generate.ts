import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { JSON_SCHEMAS } from './json-schemas.ts';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

async function committed(path: string): Promise<string | undefined> {
  try {
    return await readFile(join(ROOT, path), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Writes the generated schemas that have changed (`npm run generate`), or only lists them (`npm run generated:check`).
 * The schemas depend only on the sources.
 * @returns the paths of the files that differ
 */
async function generate(check: boolean): Promise<string[]> {
  const changed: string[] = [];
  for (const { path, content } of JSON_SCHEMAS) {
    const wanted = await content();
    if ((await committed(path)) === wanted) continue;
    changed.push(path);
    if (check) continue;
    await mkdir(dirname(join(ROOT, path)), { recursive: true });
    await writeFile(join(ROOT, path), wanted);
  }
  return changed;
}

const check = process.argv.includes('--check');
const changed = await generate(check);
if (check && changed.length > 0) {
  console.error(`These generated files are stale or missing; run \`npm run generate\` and commit them:`);
  for (const path of changed) console.error(`  ${path}`);
  process.exitCode = 1;
} else {
  console.log(`${JSON_SCHEMAS.length} generated files, ${changed.length} ${check ? 'stale' : 'written'}`);
}
