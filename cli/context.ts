import { confirm, isCancel } from '@clack/prompts';
import { DEFAULT_CONNECTION, DEFAULT_PREFIX, ENVIRONMENT } from '../shared/contract/names.ts';
import { type ConnectionName, connectionName, type GroupRef } from '../shared/domain/ids.ts';
import { findGroup } from '../shared/operate/find-group.ts';
import type { Tool, ToolTarget } from '../shared/runtime/wire-tool.ts';
import type { ToolPorts } from '../shared/sync/ports/bundles.ts';
import { type Io, Stopped, UsageError } from './io.ts';
import { DEFAULT_LOCAL_FILE, type LocalFile, localTarget, readLocalFile } from './local-file.ts';
import { createOutput, type Output } from './output/output.ts';

/** Options that every command takes. */
export interface GlobalOptions {
  readonly connection?: string;
  readonly prefix?: string;
  readonly region?: string;
  readonly profile?: string;
  readonly local?: boolean;
  readonly localFile?: string;
  readonly json?: boolean;
  readonly color?: boolean;
  readonly quiet?: boolean;
  readonly yes?: boolean;
}

/** What a command works with. */
export interface Context {
  readonly io: Io;
  readonly out: Output;
  readonly prefix: string;
  readonly connection: ConnectionName;
  /** Whether the connection was named on the command line. */
  readonly connectionGiven: boolean;
  readonly localFile: LocalFile | undefined;
  /** Connects to the deployment when first asked. */
  readonly ports: () => Promise<ToolPorts>;
  readonly group: (text: string) => Promise<GroupRef>;
  /** `--yes`: nobody is to be asked. */
  readonly yes: boolean;
  /** Asks on a terminal; true with `--yes`. @throws UsageError where nobody can be asked */
  readonly confirm: (question: string) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

export function createContext(io: Io, options: GlobalOptions): Context {
  const out = createOutput(io, {
    json: options.json === true,
    quiet: options.quiet === true,
    color: options.color !== false,
  });
  const usesLocal = options.local === true || options.localFile !== undefined;
  const localFile = usesLocal ? readLocalFile(options.localFile ?? DEFAULT_LOCAL_FILE, io.cwd) : undefined;
  const prefix = options.prefix ?? localFile?.prefix ?? io.env[ENVIRONMENT.prefix] ?? DEFAULT_PREFIX;
  const connection = parseConnectionName(options.connection ?? DEFAULT_CONNECTION);
  let opening: Promise<Tool> | undefined;
  const ports = async () => {
    opening ??= io.openTool({ ...targetOf(options, localFile), prefix, user: io.user });
    return (await opening).ports;
  };
  return {
    io,
    out,
    prefix,
    connection,
    connectionGiven: options.connection !== undefined,
    localFile,
    ports,
    group: async (text) => findGroup(connection, text, await ports()),
    yes: options.yes === true,
    confirm: (question) => ask(io, question, options.yes === true),
    close: async () => {
      await (await opening)?.close();
    },
  };
}

/** How long a group that was just created may be missing on the platform, as the functions have it. */
const CREATE_SETTLE_MS = 600_000;

function targetOf(
  options: GlobalOptions,
  localFile: LocalFile | undefined,
): Omit<ToolTarget, 'prefix' | 'user'> {
  if (localFile !== undefined) return localTarget(localFile);
  return { region: options.region, profile: options.profile, createSettleMs: CREATE_SETTLE_MS };
}

export function parseConnectionName(text: string): ConnectionName {
  if (/^[a-z0-9-]{1,32}$/.test(text)) return connectionName(text);
  throw new UsageError(`expected a connection name of a-z, 0-9 and -, at most 32 characters, got "${text}"`);
}

async function ask({ stdin, stderr }: Io, question: string, yes: boolean): Promise<boolean> {
  if (yes) return true;
  if (stdin.isTTY !== true || stderr.isTTY !== true) {
    throw new UsageError('this changes something and nobody can be asked here; give --yes to go ahead');
  }
  const answer = await confirm({ message: question, initialValue: false, input: stdin, output: stderr });
  if (isCancel(answer)) throw new Stopped();
  if (!answer) stderr.write('nothing was changed\n');
  return answer;
}
