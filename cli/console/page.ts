import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { pageBuild, pageFiles } from '../../console/page-build.ts';
import { indexOf, type Page } from '../../console/server/page-files.ts';
import { UsageError } from '../io.ts';

const SOURCES = fileURLToPath(new URL('../../console/page/', import.meta.url));
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
  const { build } = await import('esbuild').catch(() => {
    throw new UsageError('the page cannot be built, because esbuild is not installed; run npm ci');
  });
  const { outputFiles } = await build(pageBuild(SOURCES));
  return outputFiles[0]?.text ?? '';
}
