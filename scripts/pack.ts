import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadPage } from '../cli/console/page.ts';
import { bundleHandlers } from '../infra/bundle.ts';
import packageJson from '../package.json' with { type: 'json' };
import { buildPrograms } from './build.mjs';

/**
 * Builds the files that `npm pack` adds to the package. All entries are built into one folder, `dist/`. So a path that
 * is relative to a source (`../examples`) is also correct for the built file.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');

const ENTRIES = [
  'cli/main.ts',
  'local/start.ts',
  'local/platform.ts',
  'local/emulators/front-worker.ts',
  'infra/app.ts',
  'infra/index.ts',
];
rmSync(DIST, { recursive: true, force: true });
mkdirSync(DIST);
await buildPrograms({
  absWorkingDir: ROOT,
  entryPoints: ENTRIES,
  outdir: DIST,
  minifySyntax: true,
  minifyWhitespace: true,
  sourcemap: true,
  sourcesContent: false,
  // Packages that only `cdk deploy` needs.
  external: Object.keys(packageJson.peerDependencies),
});
bundleHandlers(join(DIST, 'functions'));
mkdirSync(join(DIST, 'console'));
for (const [path, { body }] of Object.entries(await loadPage())) {
  if (path !== '/') writeFileSync(join(DIST, 'console', path), body);
}

/**
 * Writes type declarations. A company uses them in its own CDK app, and in scripts that read the output of `--json`.
 */
const types = {
  extends: '../tsconfig.json',
  compilerOptions: {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: '..',
    outDir: 'types',
  },
  include: [],
  files: ['../infra/index.ts', '../shared/contract/answers.ts'],
};
const project = join(DIST, 'types.tsconfig.json');
writeFileSync(project, JSON.stringify(types));
execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', project], {
  stdio: 'inherit',
});
rmSync(project);
