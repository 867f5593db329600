import * as z from 'zod';

/** One package of a lock file (npm documentation, package-lock.json, `packages`). */
const Entry = z.looseObject({
  version: z.string().optional(),
  dependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
  inBundle: z.boolean().optional(),
});
const Lock = z.object({ packages: z.record(z.string(), Entry) });

/** A package file and its lock file, for `npm ci`. */
interface LockedPackages {
  readonly packageJson: object;
  readonly lock: object;
}

/**
 * Returns a lock file with these packages and their dependencies. Versions and checksums are equal to the project's
 * lock file.
 * @throws Error if the project does not have one of the packages
 */
export function lockedPackages(name: string, names: readonly string[], project: unknown): LockedPackages {
  const { packages } = Lock.parse(project);
  const found = new Map<string, z.infer<typeof Entry>>();
  const add = (path: string): void => {
    const entry = packages[path];
    if (entry === undefined || found.has(path)) return;
    found.set(path, entry);
    for (const one of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) {
      const place = placeOf(one, path, packages);
      if (place !== undefined) add(place);
    }
    // Packages inside the archive of this package have paths that begin with this text.
    const within = `${path}/node_modules/`;
    for (const [other, { inBundle }] of Object.entries(packages))
      if (inBundle === true && other.startsWith(within)) add(other);
  };
  const dependencies = Object.fromEntries(
    names.map((one) => {
      const path = `node_modules/${one}`;
      const version = packages[path]?.version;
      if (version === undefined) throw new Error(`expected ${one} in package-lock.json, found none`);
      add(path);
      return [one, version];
    }),
  );
  const packageJson = { name, version: '0.0.0', private: true, dependencies };
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, entry]) => [path, plain(entry)]);
  return {
    packageJson,
    lock: {
      name,
      version: '0.0.0',
      lockfileVersion: 3,
      requires: true,
      packages: { '': packageJson, ...Object.fromEntries(sorted) },
    },
  };
}

/** Returns the path of the package that Node finds from another package. Node prefers the nearest `node_modules`. */
function placeOf(name: string, from: string, packages: Readonly<Record<string, unknown>>) {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('node_modules/') - 1))) {
    const path = base === '' ? `node_modules/${name}` : `${base}/node_modules/${name}`;
    if (path in packages) return path;
    if (base === '') return undefined;
  }
}

/** Removes the mark `dev`, because the project needs these packages only for development. */
function plain(entry: z.infer<typeof Entry>): object {
  const { dev: _dev, devOptional: _devOptional, peer: _peer, ...rest } = entry;
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => JSON.stringify(value) !== '{}'));
}
