import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildResult, buildSync } from 'esbuild';
import { pageBuild, pageFiles } from '../console/page-build.ts';
import { DEPLOYABLE_KEYS, type DeployableKey, type FunctionCode } from './function-code.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The paths of the handlers. Infra never imports a handler. */
export const HANDLERS: FunctionCode = byKey((key) => join(ROOT, `functions/${key}.ts`));

/**
 * Bundles all handlers in one run into `<outDir>/<function>/index.mjs`. The same sources always give the same bytes.
 */
export function bundleHandlers(outDir: string, handlers: FunctionCode = HANDLERS): FunctionCode {
  bundle(Object.fromEntries(DEPLOYABLE_KEYS.map((key) => [`${key}/index`, handlers[key]])), outDir);
  return byKey((key) => join(outDir, key));
}

function byKey(pathOf: (key: DeployableKey) => string): FunctionCode {
  return Object.fromEntries(DEPLOYABLE_KEYS.map((key) => [key, pathOf(key)])) as FunctionCode;
}

/**
 * Builds code for Lambda. The script `bundle:check` also builds its baselines with this function.
 * @param entries output name without extension → source file
 */
export function bundle(entries: Record<string, string>, outDir: string): BuildResult<{ metafile: true }> {
  return buildSync({
    absWorkingDir: ROOT,
    entryPoints: entries,
    outdir: outDir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    minify: true,
    // Minifying would rename error classes, and operators search logs by their names.
    keepNames: true,
    // esbuild can drop unused code of the SDK's ESM builds, but not of its CommonJS builds.
    mainFields: ['module', 'main'],
    // Smaller substitutes for two packages. The comment in each substitute describes what it leaves out.
    alias: {
      '@aws-sdk/credential-provider-node': join(ROOT, 'infra/substitutes/credentials.ts'),
      undici: join(ROOT, 'infra/substitutes/undici.mjs'),
    },
    // The fallback of undici's HTTP parser for processors without SIMD, such as ppc64. Lambda has none, so the import is
    // never reached, and each cold start loads 72 KB less.
    external: ['../llhttp/llhttp-wasm.js'],
    // The files of the console's page, as JSON. The function `console` serves them.
    define: { CONSOLE_PAGE: pageAsJson(ROOT) },
    // Dependencies that are CommonJS call `require` for Node's own modules.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  });
}

let built: string | undefined;

/**
 * Returns the files of the console's page as JSON, for the bundle of the function `console`.
 * @param root the project
 */
function pageAsJson(root: string): string {
  built ??= JSON.stringify(filesOf(`${root}console/page/`));
  return built;
}

function filesOf(sources: string) {
  const { outputFiles } = buildSync(pageBuild(sources));
  return pageFiles(outputFiles[0]?.text ?? '', (name) => readFileSync(`${sources}${name}`, 'utf8'));
}
