import { readFileSync, writeFileSync } from 'node:fs';
import { LocalFile } from '../../../local/local-file.ts';
import { World } from '../../../local/platform/state/world.ts';
import { JSON_SCHEMAS } from '../../../scripts/json-schemas.ts';
import { DEAD_LETTER_CODES, MESSAGE_ATTRIBUTES } from '../../../shared/contract/names.ts';
import { ConnectionSettings } from '../../../shared/contract/settings.ts';
import { STATE_SPELLINGS } from '../../../shared/operate/import/account-state.ts';
import { SPELLINGS } from '../../../shared/operate/import/headings.ts';
import { FLAGS } from '../../../simulate/flags.ts';
import { cliNames, startDocument, startFlags } from './command-line.ts';
import { deployedNames } from './deployment.ts';
import { simulatorNames } from './simulator.ts';
import { namesOfForm, namesOfSchema } from './walk.ts';

export type PublicNames = Readonly<Record<string, readonly string[]>>;

const FROZEN = new URL('../public-names.json', import.meta.url);

/** The stored list of public names, on which scripts may rely. */
export const frozenNames = (): PublicNames => JSON.parse(readFileSync(FROZEN, 'utf8'));

/** Returns the public names that the code has now, from its schemas, commands, routes and template. */
export async function productNames(): Promise<PublicNames> {
  const localFile = Object.keys(LocalFile.shape);
  const names: Record<string, readonly string[]> = {
    'SQS message attributes': Object.values(MESSAGE_ATTRIBUTES),
    'error codes of dead-lettered messages': DEAD_LETTER_CODES,
    'world file of npm start -- --world': namesOfForm(World),
    '/_simulator': await simulatorNames(),
    'CSV headings of import': Object.entries({ ...SPELLINGS, ...STATE_SPELLINGS }).flatMap(
      ([column, spellings]) => [column, ...spellings.flat()].map((spelling) => `${column}: ${spelling}`),
    ),
    'keys of .groupsync/local.json': localFile,
    'flags of npm start': startFlags(),
    'document of npm start -- --json': startDocument(localFile),
    'groupsync commands, flags and exit codes': cliNames(),
    'settings of a connection': namesOfForm(ConnectionSettings),
    'flags of npm run simulate': Object.keys(FLAGS).map((flag) => `--${flag}`),
    ...deployedNames(),
  };
  for (const { path, content } of JSON_SCHEMAS) {
    const file = path.replace(/\.schema\.json$/, '');
    names[file] = namesOfSchema(JSON.parse(content()));
  }
  return sorted(names);
}

const sorted = (names: PublicNames): PublicNames =>
  Object.fromEntries(
    Object.keys(names)
      .sort()
      .map((what) => [what, [...new Set(names[what])].sort()]),
  );

/** Returns each name of `some` that is missing in `others`, in the form `area: name`. */
export const without = (some: PublicNames, others: PublicNames): readonly string[] =>
  Object.entries(some).flatMap(([what, names]) => {
    const known = new Set(others[what]);
    return names.filter((name) => !known.has(name)).map((name) => `${what}: ${name}`);
  });

/** Returns the names of both lists. */
export function joined(some: PublicNames, others: PublicNames): PublicNames {
  const keys = [...Object.keys(some), ...Object.keys(others)];
  return sorted(
    Object.fromEntries(keys.map((what) => [what, [...(some[what] ?? []), ...(others[what] ?? [])]])),
  );
}

export const writeFrozen = (names: PublicNames): void =>
  writeFileSync(FROZEN, `${JSON.stringify(names, null, 2)}\n`);
