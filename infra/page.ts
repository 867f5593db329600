import { readFileSync } from 'node:fs';
import { buildSync } from 'esbuild';
import { pageBuild } from '../console/page-build.ts';

let built: string | undefined;

/** Returns the files of the console's page as JSON, for the bundle of the function `console`. @param root the project */
export function pageAsJson(root: string): string {
  built ??= JSON.stringify(filesOf(`${root}console/page/`));
  return built;
}

function filesOf(sources: string) {
  const { outputFiles } = buildSync(pageBuild(sources));
  const file = (name: string) => readFileSync(`${sources}${name}`, 'utf8');
  return {
    '/app.js': { type: 'text/javascript; charset=utf-8', body: outputFiles[0]?.text ?? '' },
    '/style.css': { type: 'text/css; charset=utf-8', body: file('style.css') },
    '/icon.svg': { type: 'image/svg+xml', body: file('icon.svg') },
  };
}
