import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { generateWorld } from './generate-world.ts';
import { createSimulator, type Simulator } from './simulator.ts';
import { JournalError } from './state/journal.ts';
import { parseWorld, WorldError, type WorldInput } from './state/world.ts';

const HELP = `Usage: npm run platform -- [options]

The Workforce Platform simulator, on 127.0.0.1 only.

  --port N         port to listen on (default: a free one)
  --world FILE     the world to serve, as JSON (default: a generated one)
  --data FILE      keep the state in this file; an existing file has priority over the world
  --people N       people of the generated world (default 50)
  --groups N       groups of the generated world (default 5)
  --seed S         seed of the generated world (default 1); the same seed gives the same world
  --help           this text

The first line on stdout is "listening on http://127.0.0.1:PORT", then one line for each access token.
`;

const OPTIONS = {
  port: { type: 'string' },
  world: { type: 'string' },
  data: { type: 'string' },
  people: { type: 'string' },
  groups: { type: 'string' },
  seed: { type: 'string' },
  help: { type: 'boolean' },
} as const;

/** The command line or a file cannot be used. The command prints the message as one line and exits with code 2. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Runs the platform simulator until SIGTERM or SIGINT.
 * @returns the exit code: 0 after a signal, 1 after a failure, 2 if the command line, world or data file cannot be used
 */
export async function runPlatform(args: readonly string[]): Promise<number> {
  let simulator: Simulator;
  let port: number;
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: false });
    if (values.help) {
      process.stdout.write(HELP);
      return 0;
    }
    port = integer('port', values.port, 0, 65_535);
    simulator = openSimulator(values);
  } catch (error) {
    if (!isUsage(error)) throw error;
    process.stderr.write(`platform: ${error.message.replaceAll('\n', ' ')}\n`);
    return 2;
  }
  return serve(simulator, port);
}

function openSimulator(values: { [flag: string]: string | boolean | undefined }): Simulator {
  const world = values['world'];
  return createSimulator({
    world: typeof world === 'string' ? readWorld(world) : generated(values),
    dataFile: typeof values['data'] === 'string' ? values['data'] : undefined,
    clock: Date.now,
    newId: () => randomBytes(12).toString('hex'),
    onDefect: (error) => console.error(error),
  });
}

function generated(values: { [flag: string]: string | boolean | undefined }): WorldInput {
  return generateWorld({
    people: integer('people', values['people'], 50, 1_000_000),
    groups: integer('groups', values['groups'], 5, 100_000),
    seed: String(values['seed'] ?? '1'),
    nowMs: Date.now(),
  });
}

function readWorld(file: string): WorldInput {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`cannot read the world file ${file}`, { cause });
  }
  try {
    return parseWorld(JSON.parse(text));
  } catch (cause) {
    if (cause instanceof WorldError) throw new WorldError(`${file}: ${cause.message}`, { cause });
    throw new UsageError(`${file} is not valid JSON: ${(cause as Error).message}`, { cause });
  }
}

function integer(flag: string, text: string | boolean | undefined, defaultValue: number, max: number) {
  if (text === undefined) return defaultValue;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= max) return value;
  throw new UsageError(`--${flag}: expected an integer from 0 to ${max}, got ${JSON.stringify(text)}`);
}

async function serve(simulator: Simulator, port: number): Promise<number> {
  const stopped = new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  try {
    const { url } = await simulator.listen({ port });
    const tokens = simulator.credentials.map(
      ({ token, kind, company, role, app }) => `${token}  ${kind} ${role} of ${company} (${app})\n`,
    );
    process.stdout.write(`listening on ${url}\n${tokens.join('')}`);
  } catch (error) {
    process.stderr.write(`platform: cannot listen on port ${port}: ${(error as Error).message}\n`);
    await simulator.close();
    return 1;
  }
  await stopped;
  await simulator.close();
  return 0;
}

const isUsage = (error: unknown): error is Error =>
  error instanceof UsageError ||
  error instanceof WorldError ||
  error instanceof JournalError ||
  (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));
