import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { VERSION } from '../../shared/contract/version.ts';
import { ROOT } from './cdk.ts';

/** A version that was never released, made from the sources of this commit. */
export const LATER_VERSION = '90.1.0';

/** Packs this commit into the folder, with its own version and with a later one. */
export const packVersions = (folder: string) => ({
  present: pack(ROOT, folder),
  later: packAs(folder, LATER_VERSION),
});

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

function packAs(folder: string, version: string): string {
  const copy = join(folder, `sources-${version}`);
  mkdirSync(copy);
  for (const name of new Set(
    SOURCES.trim()
      .split('\n')
      .map((path) => path.split('/')[0] ?? ''),
  ))
    if (!['test', 'bench', '.github'].includes(name))
      cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, 'package.json'), JSON.stringify({ ...packageJson, version }));
  replaceIn(join(copy, 'shared/contract/version.ts'), `'${VERSION}'`, `'${version}'`);
  return pack(copy, folder);
}

/** @throws if the file does not contain the text exactly once */
function replaceIn(file: string, text: string, replacement: string): void {
  const parts = readFileSync(file, 'utf8').split(text);
  if (parts.length !== 2)
    throw new Error(`${file}: expected ${text} once, found it ${parts.length - 1} times`);
  writeFileSync(file, parts.join(replacement));
}
