import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import * as z from 'zod';
import { parseJson } from '../shared/contract/json.ts';
import { formOf } from '../shared/contract/setting-forms.ts';
import { ConnectionSettings } from '../shared/contract/settings.ts';
import type { Connection } from '../shared/sync/ports/connections.ts';
import { UsageError } from './io.ts';

/*
 * The settings of connections as files, for example in Git. The file `acme.json` has the settings of the connection
 * `acme`. The schema file next to it lets an editor complete and check them.
 */

const SCHEMA_FILE = 'settings.schema.json';
const ENDING = '.json';
const MAX_BYTES = 1_048_576;

/** Returns the file, or all files of a folder that end with `.json`, with their connections. @throws UsageError if there are none */
export function settingFiles(cwd: string, path: string) {
  const place = resolve(cwd, path);
  if (!existsSync(place)) throw new UsageError(`there is no file or folder ${path}`);
  if (!statSync(place).isDirectory()) return [withName(path)];
  const names = readdirSync(place).filter((name) => /\.json$/i.test(name) && name !== SCHEMA_FILE);
  if (names.length === 0) throw new UsageError(`${path}: expected files such as acme.json, got none`);
  return names.sort().map((name) => withName(join(path, name)));
}

const withName = (file: string) => ({ file, name: basename(file, ENDING) });

/** Returns the content of a file without `$schema`. @throws UsageError if it is too large or no JSON object */
export function readSettingFile(cwd: string, file: string): object {
  const place = resolve(cwd, file);
  const found = statSync(place, { throwIfNoEntry: false });
  if (!found?.isFile()) throw new UsageError('expected a file, got a folder or a link without a target');
  if (found.size > MAX_BYTES) throw new UsageError(`expected at most ${MAX_BYTES} bytes, got ${found.size}`);
  const json = parseJson(readFileSync(place, 'utf8').replace(/^\ufeff/, ''));
  if (!json.ok) throw new UsageError(json.message);
  const { success, data } = z.looseObject({}).safeParse(json.value);
  if (!success) throw new UsageError('expected an object of connection settings');
  const { $schema: _, ...content } = data;
  return content;
}

export const filesOf = (folder: string, connections: readonly Pick<Connection, 'name' | 'settings'>[]) => [
  { file: join(folder, SCHEMA_FILE), text: textOf(settingsSchema()) },
  ...connections.map(({ name, settings }) => ({
    file: join(folder, `${name}${ENDING}`),
    text: textOf({ $schema: `./${SCHEMA_FILE}`, ...settings }),
  })),
];

type TextFile = ReturnType<typeof filesOf>[number];

export const isWritten = ({ file, text }: TextFile): boolean =>
  existsSync(file) && readFileSync(file, 'utf8') === text;

export function writeFiles(folder: string, files: readonly TextFile[]): void {
  mkdirSync(folder, { recursive: true });
  for (const { file, text } of files) writeFileSync(file, text);
}

const textOf = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** Returns the JSON Schema of a file, for editors. The command checks more than the schema can describe. */
function settingsSchema(): object {
  const { properties, ...schema } = z.toJSONSchema(ConnectionSettings, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const form = formOf(zodSchema);
      if (form?.kind === 'choice') Object.assign(jsonSchema, { enum: form.values });
      if (form?.kind === 'switch') jsonSchema.type = 'boolean';
      if (form?.kind !== 'number') return;
      const type = form.isWhole ? 'integer' : 'number';
      Object.assign(jsonSchema, { type, minimum: form.least, maximum: form.most });
    },
  });
  return { ...schema, properties: { $schema: { type: 'string' }, ...properties } };
}
