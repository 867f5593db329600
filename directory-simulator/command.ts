import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { UsageError } from '../local/usage.ts';
import type { OpenDialect } from './engine/dialect.ts';
import { CALM_SETTINGS, REALISTIC_SETTINGS, type Settings } from './engine/settings.ts';
import { createDirectorySimulator, type DirectorySimulator } from './engine/simulator.ts';
import type { WorldInput } from './engine/world.ts';
import { entra } from './entra/dialect.ts';
import { REALISTIC_ENTRA_SETTINGS } from './entra/settings.ts';
import { generateDirectory } from './generate.ts';
import { entraWorld } from './generate-entra.ts';
import { google } from './google/dialect.ts';

const HELP = `Usage: npm run directory -- google|entra [options]

A vendor's directory API over a generated company, on 127.0.0.1 only.

  --port N       port to listen on (default: a free one)
  --people N     people of the directory (default 50)
  --groups N     groups of the directory (default 10)
  --seed S       seed (default 1); the same seed gives the same directory and the same difficulties
  --key FILE     google only: keep the service account's key in this file; a key that is there already
                 stays valid
  --calm         no lag, no failures, full pages
  --help         this text

The first line on stdout is "listening on http://127.0.0.1:PORT", then one line for each credential.
`;

const OPTIONS = {
  port: { type: 'string' },
  people: { type: 'string' },
  groups: { type: 'string' },
  seed: { type: 'string' },
  key: { type: 'string' },
  calm: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

type Values = { readonly [flag: string]: string | boolean | undefined };

/**
 * Runs a directory simulator until SIGTERM or SIGINT.
 * @returns the exit code: 0 for a clean stop, 1 for a failure, 2 for an invalid command line or key file
 */
export async function runDirectory(args: readonly string[]): Promise<number> {
  let simulator: DirectorySimulator;
  let port: number;
  let keyFile: string | undefined;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    if (values.help) {
      process.stdout.write(HELP);
      return 0;
    }
    const name = positionals.join(' ');
    if (name !== 'google' && name !== 'entra') {
      throw new UsageError(`expected one directory: google or entra; got ${JSON.stringify(name)}`);
    }
    if (name === 'entra' && values.key !== undefined) throw new UsageError('--key: only google has a key');
    port = integer(values, 'port', { otherwise: 0, most: 65_535 });
    keyFile = values.key;
    simulator = openSimulator(name, values);
  } catch (error) {
    if (!isUsage(error)) throw error;
    process.stderr.write(`directory: ${error.message.replaceAll('\n', ' ')}\n`);
    return 2;
  }
  return serve(simulator, port, keyFile);
}

interface Vendor {
  readonly dialect: OpenDialect;
  readonly world: WorldInput;
  /** The settings without `--calm`. */
  readonly realistic: Settings;
}

function openSimulator(name: 'google' | 'entra', values: Values): DirectorySimulator {
  const seed = String(values['seed'] ?? '1');
  const generated = generateDirectory({
    people: integer(values, 'people', { otherwise: 50, most: 100_000 }),
    groups: integer(values, 'groups', { otherwise: 10, most: 10_000 }),
    seed,
    nowMs: Date.now(),
  });
  const vendors: Readonly<Record<typeof name, () => Vendor>> = {
    google: () => ({
      dialect: google({ customerKey: readKey(values['key']) }),
      world: generated,
      realistic: REALISTIC_SETTINGS,
    }),
    entra: () => ({
      dialect: entra(),
      world: entraWorld(generated, seed),
      realistic: REALISTIC_ENTRA_SETTINGS,
    }),
  };
  const { dialect, world, realistic } = vendors[name]();
  return createDirectorySimulator({
    dialect,
    world,
    seed,
    clock: Date.now,
    settings: values['calm'] === true ? CALM_SETTINGS : realistic,
    onDefect: (error) => console.error(error),
  });
}

const KeyFile = z.looseObject({ private_key: z.string().startsWith('-----BEGIN PRIVATE KEY-----') });

function readKey(file: string | boolean | undefined): string | undefined {
  if (typeof file !== 'string' || !existsSync(file)) return undefined;
  try {
    return KeyFile.parse(JSON.parse(readFileSync(file, 'utf8'))).private_key;
  } catch (cause) {
    throw new UsageError(`--key: expected the key of a service account as JSON in ${file}`, { cause });
  }
}

interface Range {
  readonly otherwise: number;
  readonly most: number;
}

function integer(values: Values, flag: string, { otherwise, most }: Range): number {
  const text = values[flag];
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (text !== '' && Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw new UsageError(`--${flag}: expected an integer from 0 to ${most}, got ${JSON.stringify(text)}`);
}

const KEY_LINE = 'service account key ';

async function serve(
  simulator: DirectorySimulator,
  port: number,
  keyFile: string | undefined,
): Promise<number> {
  const stopped = new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  try {
    const { url } = await simulator.listen({ port });
    const lines = simulator.dialect.describeCredentials(url).map((line) => {
      if (keyFile === undefined || !line.startsWith(KEY_LINE)) return line;
      writeFileSync(keyFile, `${line.slice(KEY_LINE.length)}\n`, { mode: 0o600 });
      return `${KEY_LINE}${keyFile}`;
    });
    process.stdout.write(`${[`listening on ${url}`, ...lines].join('\n')}\n`);
  } catch (error) {
    process.stderr.write(`directory: cannot start on port ${port}: ${(error as Error).message}\n`);
    await simulator.close();
    return 1;
  }
  await stopped;
  await simulator.close();
  return 0;
}

const isUsage = (error: unknown): error is Error =>
  error instanceof UsageError ||
  (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));
