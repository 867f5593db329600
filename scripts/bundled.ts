import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const PackageFile = z.object({
  name: z.string(),
  version: z.string(),
  license: z
    .union([z.string(), z.object({ type: z.string() }).transform(({ type }) => type)])
    .default('unknown'),
});
type BundledPackage = z.infer<typeof PackageFile> & {
  /** Path of the package's folder, relative to the project. */
  readonly path: string;
};

/** Packages of the console's page. esbuild builds the page separately. */
const OF_PAGE = ['node_modules/preact', 'node_modules/@preact/signals', 'node_modules/@preact/signals-core'];

/** Folder of a file's package: the last `node_modules/<name>` or `node_modules/@<scope>/<name>` of its path. */
const PACKAGE_FOLDER = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/** Returns the folders of the packages whose code a bundle contains, sorted. */
function bundledFolders({ inputs }: { readonly inputs: Readonly<Record<string, unknown>> }) {
  const folders = Object.keys(inputs).flatMap((path) => PACKAGE_FOLDER.exec(path)?.[1] ?? []);
  return [...new Set([...folders, ...OF_PAGE])].sort();
}

/** Returns the packages whose code a bundle contains. @param root the project's folder */
export function bundledPackages(
  metafile: { readonly inputs: Readonly<Record<string, unknown>> },
  root: string,
): readonly BundledPackage[] {
  return bundledFolders(metafile).map((path) => {
    const content: unknown = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
    return { ...PackageFile.parse(content), path };
  });
}

/** Returns the licences of the packages as one text. The licences require that each copy of the code contains them. */
export function noticesOf(packages: readonly BundledPackage[], root: string): string {
  const notices = packages.map(({ name, version, license, path }) => {
    const folder = join(root, path);
    const file = existsSync(folder) ? readdirSync(folder).find((one) => /^licen[cs]e/i.test(one)) : undefined;
    const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
    return `${name} ${version} (${license})\n${text}`;
  });
  return `The package contains code of these packages.\n\n${notices.join(`\n${'-'.repeat(80)}\n\n`)}`;
}
