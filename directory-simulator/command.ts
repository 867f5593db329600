import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { UsageError } from '../local/usage.ts';
import { DIRECTORIES, type SimulatedDirectory } from './directories.ts';
import type { OpenDialect } from './engine/dialect.ts';
import { CALM_SETTINGS } from './engine/settings.ts';
import { createDirectorySimulator, type DirectorySimulator } from './engine/simulator.ts';
import { generateDirectory } from './generate.ts';

const KINDS: Readonly<Record<string, SimulatedDirectory>> = DIRECTORIES;

const HELP = `Usage: npm run directory -- ${Object.keys(KINDS).join('|')} [options]

A vendor's directory API over a generated company, on 127.0.0.1 only.

  --port N       port to listen on (default: a free one)
  --people N     people of the directory (default 50)
  --groups N     groups of the directory (default 10)
  --seed S       seed (default 1); the same seed gives the same directory and the same failures
  --key FILE     keep the client's private key in this file (not entra). A key in an existing file is used
                 again
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
  let kind: SimulatedDirectory | undefined;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    if (values.help) {
      process.stdout.write(HELP);
      return 0;
    }
    const named = positionals.join(' ');
    kind = Object.hasOwn(KINDS, named) ? KINDS[named] : undefined;
    if (kind === undefined) {
      const known = Object.keys(KINDS).join(' or ');
      throw new UsageError(`expected one directory: ${known}; got ${JSON.stringify(named)}`);
    }
    port = integer(values, 'port', { otherwise: 0, most: 65_535 });
    keyFile = values.key;
    simulator = openSimulator(kind, values);
  } catch (error) {
    if (!isUsage(error)) throw error;
    process.stderr.write(`directory: ${error.message.replaceAll('\n', ' ')}\n`);
    return 2;
  }
  return serve({ simulator, port, keyFile, keyLine: kind.keyLine });
}

function openSimulator(kind: SimulatedDirectory, values: Values): DirectorySimulator {
  const seed = String(values['seed'] ?? '1');
  const world = generateDirectory({
    people: integer(values, 'people', { otherwise: 50, most: 100_000 }),
    groups: integer(values, 'groups', { otherwise: 10, most: 10_000 }),
    seed,
    nowMs: Date.now(),
  });
  return createDirectorySimulator({
    dialect: openDialect(kind, values['key']),
    world: kind.worldOf(world, seed),
    seed,
    clock: Date.now,
    settings: values['calm'] === true ? CALM_SETTINGS : kind.realistic,
    onDefect: (error) => console.error(error),
  });
}

/** @throws {UsageError} for an existing key file without a key, and for `--key` with a directory without client keys */
function openDialect(kind: SimulatedDirectory, file: string | boolean | undefined): OpenDialect {
  if (file !== undefined && kind.keyName === undefined)
    throw new UsageError('--key: the clients of this directory have no private key');
  if (typeof file !== 'string' || !existsSync(file)) return kind.open(undefined);
  try {
    return kind.open(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    throw new UsageError(`--key: expected ${kind.keyName} in ${file}`, { cause });
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

interface Serving {
  readonly simulator: DirectorySimulator;
  readonly port: number;
  readonly keyFile: string | undefined;
  readonly keyLine: string | undefined;
}

async function serve({ simulator, port, keyFile, keyLine }: Serving): Promise<number> {
  const stopped = new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  try {
    const { url } = await simulator.listen({ port });
    const lines = simulator.dialect.describeCredentials(url).map((line) => {
      if (keyFile === undefined || keyLine === undefined || !line.startsWith(keyLine)) return line;
      writeFileSync(keyFile, `${line.slice(keyLine.length)}\n`, { mode: 0o600 });
      return `${keyLine}${keyFile}`;
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
