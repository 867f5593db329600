import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../io.ts';
import type { Page } from './serve.ts';

const SOURCES = fileURLToPath(new URL('../../console/page/', import.meta.url));
/** Folder of the built page in the package. A checkout does not have it. */
const BUILT = fileURLToPath(new URL('./console/', import.meta.url));

const INDEX = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>groupsync</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/style.css">
<script type="module" src="/app.js"></script>
</head>
<body><div id="app"></div></body>
</html>`;

/**
 * Returns the page's files. The package contains them built; in a checkout, esbuild builds the script from the sources.
 */
export async function loadPage(): Promise<Page> {
  const isBuilt = existsSync(`${BUILT}app.js`);
  const file = (name: string) => readFileSync(`${isBuilt ? BUILT : SOURCES}${name}`, 'utf8');
  return {
    '/': { type: 'text/html; charset=utf-8', body: INDEX },
    '/app.js': { type: 'text/javascript; charset=utf-8', body: isBuilt ? file('app.js') : await bundle() },
    '/style.css': { type: 'text/css; charset=utf-8', body: file('style.css') },
    '/icon.svg': { type: 'image/svg+xml', body: file('icon.svg') },
  };
}

async function bundle(): Promise<string> {
  const { build } = await import('esbuild').catch(() => {
    throw new UsageError(
      'the page is not built here, and esbuild, which builds it, is not installed: npm ci',
    );
  });
  const { outputFiles } = await build({
    entryPoints: [`${SOURCES}main.tsx`],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}
