import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadPage } from '../cli/console/page.ts';
import { bundleHandlers } from '../infra/bundle.ts';
import packageJson from '../package.json' with { type: 'json' };
import packageLock from '../package-lock.json' with { type: 'json' };
import { buildPrograms } from './build.mjs';
import { lockedPackages } from './locked.ts';

/*
 * Builds what `npm pack` adds to the package: every entry in `dist/`, all in one folder. So a path that a source
 * resolves relative to itself (`../examples`) is the same for the built file.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');

const ENTRIES = [
  'cli/main.ts',
  'local/start.ts',
  'local/platform.ts',
  'local/emulators/front-worker.ts',
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
  // Packages that only `groupsync deploy` needs.
  external: Object.keys(packageJson.peerDependencies),
});
/** The app of `groupsync deploy` is CommonJS: only `require` finds the CDK in the folder that NODE_PATH names. */
await buildPrograms({
  absWorkingDir: ROOT,
  entryPoints: ['infra/app.ts'],
  outdir: DIST,
  format: 'cjs',
  splitting: false,
  outExtension: { '.js': '.cjs' },
  banner: { js: "const __url = require('node:url').pathToFileURL(__filename).href;" },
  define: { 'import.meta.url': '__url' },
  minifySyntax: true,
  minifyWhitespace: true,
  external: Object.keys(packageJson.peerDependencies),
});
/** `groupsync deploy` fetches the CDK in these versions. */
const cdk = lockedPackages('groupsync-cdk', ['aws-cdk', 'aws-cdk-lib', 'constructs'], packageLock);
mkdirSync(join(DIST, 'cdk'));
writeFileSync(join(DIST, 'cdk/package.json'), JSON.stringify(cdk.packageJson, null, 2));
writeFileSync(join(DIST, 'cdk/package-lock.json'), JSON.stringify(cdk.lock, null, 2));
bundleHandlers(join(DIST, 'functions'));
mkdirSync(join(DIST, 'console'));
for (const [path, { body }] of Object.entries(await loadPage())) {
  if (path !== '/') writeFileSync(join(DIST, 'console', path), body);
}

/** Type declarations for a company's own CDK app, and for scripts that read `--json`. */
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
