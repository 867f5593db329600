/*
 * `npm start`. Read file by file through tsx, the sources and the SDK take longer to load than an empty stack to run. So
 * they are built once, and again when one of them has changed.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUILT = join(ROOT, 'node_modules/.cache/groupsync');
/** All that the stack is built of, beside packages. */
const SOURCES = ['functions', 'local', 'shared', 'simulate/platform'];
/** What decides how it is built. */
const SETTINGS = ['package.json', 'package-lock.json', 'scripts/start.mjs', 'scripts/build.mjs'];
const HOUR_MS = 3_600_000;

const folder = join(BUILT, keyOf(ROOT));
if (!existsSync(folder)) await buildInto(folder);
await import(pathToFileURL(join(folder, 'start.mjs')).href);

/** Changes with every change of a source. */
function keyOf(root) {
  const files = SOURCES.flatMap((name) =>
    readdirSync(join(root, name), { recursive: true }).map((file) => join(name, file)),
  );
  const key = createHash('sha256').update(root);
  for (const file of [...files.sort(), ...SETTINGS]) {
    const { size, mtimeMs } = statSync(join(root, file));
    key.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return key.digest('hex').slice(0, 20);
}

/** Two starts at once each build a folder of their own; the one that is done first has its name. */
async function buildInto(name) {
  const { buildPrograms } = await import('./build.mjs');
  const outdir = `${name}-${process.pid}`;
  const { metafile } = await buildPrograms({
    absWorkingDir: ROOT,
    entryPoints: ['local/start.ts', 'local/emulators/front-worker.ts'],
    outdir,
    metafile: true,
    plugins: [{ name: 'own place', setup: findFilesBesideSources }],
  });
  const isWatched = (file) => ['node_modules', ...SOURCES].some((source) => file.startsWith(`${source}/`));
  const unwatched = Object.keys(metafile.inputs).find((file) => !isWatched(file) && file !== 'package.json');
  if (unwatched !== undefined) throw new Error(`expected sources in ${SOURCES.join(', ')}, got ${unwatched}`);
  try {
    renameSync(outdir, name);
  } catch {
    rmSync(outdir, { recursive: true });
  }
  for (const other of readdirSync(BUILT).map((one) => join(BUILT, one))) {
    if (Date.now() - statSync(other).mtimeMs > HOUR_MS) rmSync(other, { recursive: true, force: true });
  }
}

/** Examples and the command are beside the sources; only the thread of the emulator is built beside the stack. */
function findFilesBesideSources({ onLoad }) {
  onLoad({ filter: /[\\/]local[\\/].*\.ts$/ }, ({ path }) => {
    if (path.endsWith('front-thread.ts')) return undefined;
    const place = JSON.stringify(pathToFileURL(path).href);
    return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', place), loader: 'ts' };
  });
}
