import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { VERSION } from '../../shared/contract/version.ts';
import { ROOT } from './cdk.ts';

/** A version that was never released, made from the sources of this commit. */
interface InventedVersion {
  readonly version: string;
  /** The oldest version that can read what this version writes. */
  readonly oldestReader: string;
  readonly storedForms: readonly string[];
}

/** The tarballs that the deployment check installs. */
interface Tarballs {
  /** The tarball of this commit, with its own version. */
  readonly present: string;
  /** A later version with the same stored forms. */
  readonly compatible: string;
  /** A later version that changes a stored form, so that no earlier version can read its data. */
  readonly incompatible: string;
}

export const COMPATIBLE_VERSION = '90.1.0';
export const INCOMPATIBLE_VERSION = '91.0.0';
export const CHANGED_FORM = 'A group stores its owner as a list.';

/** Packs this commit into the folder as three versions. */
export function packVersions(folder: string): Tarballs {
  return {
    present: pack(ROOT, folder),
    compatible: packAs(folder, { version: COMPATIBLE_VERSION, oldestReader: VERSION, storedForms: [] }),
    incompatible: packAs(folder, {
      version: INCOMPATIBLE_VERSION,
      oldestReader: INCOMPATIBLE_VERSION,
      storedForms: [CHANGED_FORM],
    }),
  };
}

function pack(sources: string, folder: string): string {
  const listed = execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', folder], {
    cwd: sources,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [{ filename }] = JSON.parse(listed.slice(listed.indexOf('['))) as [{ filename: string }];
  return join(folder, filename);
}

/** Files of a checkout from which the package is built. */
const SOURCES = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
});

function packAs(folder: string, invented: InventedVersion): string {
  const copy = join(folder, `sources-${invented.version}`);
  mkdirSync(copy);
  for (const name of new Set(
    SOURCES.trim()
      .split('\n')
      .map((path) => path.split('/')[0] ?? ''),
  ))
    if (!['test', 'bench', '.github'].includes(name))
      cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, 'package.json'), JSON.stringify({ ...packageJson, version: invented.version }));
  replaceIn(join(copy, 'shared/contract/version.ts'), `'${VERSION}'`, `'${invented.version}'`);
  addRelease(join(copy, 'shared/contract/releases.ts'), invented);
  return pack(copy, folder);
}

/** Adds the invented version to the end of the list of releases, after the present version. */
function addRelease(file: string, { oldestReader, storedForms }: InventedVersion): void {
  const present = {
    version: VERSION,
    storedForms: [],
    oldestReader: VERSION,
    settingsAdded: [],
    settingsRemoved: [],
  };
  const list = 'export const RELEASES: readonly Release[] = [';
  replaceIn(file, list, `${list}\n${JSON.stringify(present)},`);
  replaceIn(
    file,
    'storedForms: [],\n    oldestReader: VERSION,',
    `storedForms: ${JSON.stringify(storedForms)},\n    oldestReader: ${JSON.stringify(oldestReader)},`,
  );
}

/** @throws if the file does not contain the text exactly once */
function replaceIn(file: string, text: string, replacement: string): void {
  const parts = readFileSync(file, 'utf8').split(text);
  if (parts.length !== 2)
    throw new Error(`${file}: expected ${text} once, found it ${parts.length - 1} times`);
  writeFileSync(file, parts.join(replacement));
}
