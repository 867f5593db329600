import { readFileSync } from 'node:fs';
import { buildSync } from 'esbuild';
import { pageBuild, pageFiles } from '../console/page-build.ts';

let built: string | undefined;

/**
 * Returns the files of the console's page as JSON, for the bundle of the function `console`.
 * @param root the project
 */
export function pageAsJson(root: string): string {
  built ??= JSON.stringify(filesOf(`${root}console/page/`));
  return built;
}

function filesOf(sources: string) {
  const { outputFiles } = buildSync(pageBuild(sources));
  return pageFiles(outputFiles[0]?.text ?? '', (name) => readFileSync(`${sources}${name}`, 'utf8'));
}
