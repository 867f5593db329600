/**
 * Builds the programs of a checkout once, and again after a source has changed. With tsx, a command would need more
 * time to load its files than to do its work.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache/groupsync');
const SETTINGS = ['package.json', 'package-lock.json', 'scripts/built.mjs', 'scripts/build.mjs'];
const HOUR_MS = 3_600_000;

/**
 * Returns the folder that contains each entry as `<name>.mjs`. Builds the folder if a source has changed.
 * @param sources all folders from which the entries import, except packages
 */
export async function builtFolder(entryPoints, sources) {
  const program = basename(entryPoints[0], '.ts');
  const folder = join(CACHE, `${program}-${keyOf(entryPoints, sources)}`);
  if (!existsSync(folder)) await buildInto(folder, { program, entryPoints, sources });
  return pathToFileURL(`${folder}/`);
}

/** Returns a key that changes with the size or the modification time of a source. */
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

/**
 * Builds into a temporary folder and then renames the folder. If two builds run at the same time, the first renamed
 * folder is used.
 */
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

/**
 * Keeps the value of `import.meta.url` of each source, so that the source finds the files in its own folder. Exception:
 * the stack starts the built file of the emulator's thread.
 */
function findFilesBesideSources({ onLoad }) {
  onLoad({ filter: /[\\/](?:local|cli)[\\/].*\.ts$/ }, ({ path }) => {
    if (path.endsWith('front-thread.ts')) return undefined;
    const place = JSON.stringify(pathToFileURL(path).href);
    return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', place), loader: 'ts' };
  });
}
