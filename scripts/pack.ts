import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PluginBuild } from 'esbuild';
import { loadPage } from '../console/local/page.ts';
import { bundleHandlers } from '../infra/bundle.ts';
import packageJson from '../package.json' with { type: 'json' };
import packageLock from '../package-lock.json' with { type: 'json' };
import { buildPrograms } from './build.mjs';
import { bundledPackages, noticesOf } from './bundled.ts';
import { lockedPackages } from './locked.ts';

/**
 * Builds the files that `npm pack` adds to the package. All entries are built into the folder `dist/`. So a path such
 * as `../examples` is correct in a source and in its built file.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');

const ENTRIES = [
  'cli/main.ts',
  'local/start.ts',
  'local/platform.ts',
  'cli/platform-client.ts',
  'local/emulators/front-worker.ts',
  'infra/index.ts',
];
/**
 * Packages that are not bundled. All other packages are bundled, so that an installation has exactly the tested
 * versions and runs no install script. `groupsync deploy` fetches the CDK. Only a checkout needs esbuild and
 * oidc-provider.
 */
const NOT_IN_PACKAGE = ['esbuild', 'oidc-provider', ...Object.keys(packageJson.peerDependencies)];

rmSync(DIST, { recursive: true, force: true });
mkdirSync(DIST);
const { metafile } = await buildPrograms({
  absWorkingDir: ROOT,
  entryPoints: ENTRIES,
  outdir: DIST,
  minifySyntax: true,
  minifyWhitespace: true,
  sourcemap: true,
  sourcesContent: false,
  external: NOT_IN_PACKAGE,
  plugins: [{ name: 'files by name', setup: nameFilesOfEmulator }],
  // The database of the emulators loads its native library from the folder `prebuilds` next to the loading file.
  define: { __dirname: '__folder' },
  banner: {
    js: [
      "import { createRequire as __createRequire } from 'node:module';",
      "import { fileURLToPath as __pathOf } from 'node:url';",
      'const require = __createRequire(import.meta.url);',
      "const __folder = __pathOf(new URL('.', import.meta.url));",
    ].join(' '),
  },
});
cpSync(join(ROOT, 'node_modules/classic-level/prebuilds'), join(DIST, 'prebuilds'), {
  recursive: true,
  filter: (path) => !/android|ia32|linux-arm$/.test(path),
});
const bundled = bundledPackages(metafile, ROOT);
writeFileSync(join(DIST, 'THIRD-PARTY.txt'), noticesOf(bundled, ROOT));
writeFileSync(join(DIST, 'packages.json'), `${JSON.stringify(bundled, null, 2)}\n`);
/**
 * The app of `groupsync deploy` is CommonJS, because only `require` reads NODE_PATH, which names the folder of the CDK.
 */
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
  external: NOT_IN_PACKAGE,
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

/**
 * The table emulator requires files by a computed name. Adds the file extension to such a name, because esbuild needs
 * it.
 */
function nameFilesOfEmulator({ onLoad }: PluginBuild): void {
  onLoad({ filter: /[\\/]dynalite[\\/]index\.js$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replaceAll(/(require\('\.\/\w+\/' \+ action)\)/g, "$1 + '.js')"),
    loader: 'js',
  }));
}

/** Type declarations for a company's own CDK app, and for scripts that read `--json`. */
const types = {
  extends: '../tsconfig.json',
  compilerOptions: {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    noCheck: true,
    rootDir: '..',
    outDir: 'types',
  },
  include: [],
  files: ['../infra/index.ts', '../cli/answers.ts', '../cli/platform-client.ts'],
};
const project = join(DIST, 'types.tsconfig.json');
writeFileSync(project, JSON.stringify(types));
execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', project], {
  stdio: 'inherit',
});
rmSync(project);
