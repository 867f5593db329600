import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { pageBuild, pageFiles } from '../page-build.ts';
import { indexOf, type Page } from '../server/page-files.ts';

const SOURCES = fileURLToPath(new URL('../page/', import.meta.url));
/** Folder of the built page in the package. A checkout does not have this folder. */
const BUILT = fileURLToPath(new URL('./console/', import.meta.url));

/** Returns the page's files. The package contains the built files. In a checkout, esbuild builds the script. */
export async function loadPage(): Promise<Page> {
  const isBuilt = existsSync(`${BUILT}app.js`);
  const file = (name: string) => readFileSync(`${isBuilt ? BUILT : SOURCES}${name}`, 'utf8');
  const script = isBuilt ? file('app.js') : await bundle();
  return { '/': { type: 'text/html; charset=utf-8', body: indexOf() }, ...pageFiles(script, file) };
}

async function bundle(): Promise<string> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build(pageBuild(SOURCES));
  return outputFiles[0]?.text ?? '';
}
