/*
 * Programs of a checkout, built once and again when one of their sources has changed. Read file by file through tsx, the sources and
 * the SDK take longer to load than a command takes to run.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache/groupsync');
/** What decides how programs are built. */
const SETTINGS = ['package.json', 'package-lock.json', 'scripts/built.mjs', 'scripts/build.mjs'];
const HOUR_MS = 3_600_000;

/**
 * The folder that holds the entries as `<name>.mjs`, built if it is not there yet.
 * @param sources all folders that the entries are built of, beside packages
 */
export async function builtFolder(entryPoints, sources) {
  const program = basename(entryPoints[0], '.ts');
  const folder = join(CACHE, `${program}-${keyOf(entryPoints, sources)}`);
  if (!existsSync(folder)) await buildInto(folder, { program, entryPoints, sources });
  return pathToFileURL(`${folder}/`);
}

/** Changes with every change of a source. */
function keyOf(entryPoints, sources) {
  const files = sources.flatMap((name) =>
    readdirSync(join(ROOT, name), { recursive: true }).map((file) => join(name, file)),
  );
  const key = createHash('sha256').update(`${ROOT} ${entryPoints}`);
  for (const file of [...files.sort(), ...SETTINGS]) {
    const { size, mtimeMs } = statSync(join(ROOT, file));
    key.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return key.digest('hex').slice(0, 20);
}

/** Two builds at once each have a folder of their own; the one that is done first gets the name. */
async function buildInto(name, { program, entryPoints, sources }) {
  const { buildPrograms } = await import('./build.mjs');
  const outdir = `${name}-${process.pid}`;
  const { metafile } = await buildPrograms({
    absWorkingDir: ROOT,
    entryPoints,
    outdir,
    metafile: true,
    plugins: [{ name: 'own place', setup: findFilesBesideSources }],
  });
  const isWatched = (file) => ['node_modules', ...sources].some((source) => file.startsWith(`${source}/`));
  const unwatched = Object.keys(metafile.inputs).find((file) => !isWatched(file) && file !== 'package.json');
  if (unwatched !== undefined) throw new Error(`expected sources in ${sources.join(', ')}, got ${unwatched}`);
  try {
    renameSync(outdir, name);
  } catch {
    rmSync(outdir, { recursive: true });
  }
  const earlier = readdirSync(CACHE).filter((one) => one.startsWith(`${program}-`));
  for (const other of earlier.map((one) => join(CACHE, one))) {
    if (other !== name && Date.now() - statSync(other).mtimeMs > HOUR_MS)
      rmSync(other, { recursive: true, force: true });
  }
}

/** Files beside the sources are found from there; only the thread of the emulator is built beside the stack. */
function findFilesBesideSources({ onLoad }) {
  onLoad({ filter: /[\\/](?:local|cli)[\\/].*\.ts$/ }, ({ path }) => {
    if (path.endsWith('front-thread.ts')) return undefined;
    const place = JSON.stringify(pathToFileURL(path).href);
    return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', place), loader: 'ts' };
  });
}
