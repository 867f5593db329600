import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import packageJson from '../package.json' with { type: 'json' };
import packageLock from '../package-lock.json' with { type: 'json' };
import { billOfMaterials } from './cyclonedx.ts';

/*
 * `npm run sbom` writes the bill of materials of this version into `release/`. It lists the packages whose code the npm
 * package contains. Run `npm pack` first, because it writes the list of bundled packages.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const Bundled = z.array(
  z.object({ name: z.string(), version: z.string(), license: z.string(), path: z.string() }),
);

const bundled = Bundled.parse(JSON.parse(readFileSync(join(ROOT, 'dist/packages.json'), 'utf8')));
const locked = packageLock.packages as Readonly<Record<string, { readonly integrity?: string }>>;
const components = bundled.map(({ path, ...one }) => ({ ...one, integrity: locked[path]?.integrity }));
const { name, version } = packageJson;
const file = `${name}-${version}.cdx.json`;
mkdirSync(join(ROOT, 'release'), { recursive: true });
writeFileSync(
  join(ROOT, 'release', file),
  `${JSON.stringify(billOfMaterials({ name, version }, components), null, 2)}\n`,
);
console.log(`release/${file}: ${components.length} packages`);
