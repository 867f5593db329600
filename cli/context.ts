import { DEFAULT_CONNECTION, DEFAULT_PREFIX, ENVIRONMENT } from '../shared/contract/names.ts';
import { type ConnectionName, connectionName, type GroupRef, type MemberId } from '../shared/domain/ids.ts';
import { findGroup } from '../shared/operate/find-group.ts';
import { findMember } from '../shared/operate/find-member.ts';
import { type Named, type Names, NO_NAMES, readNames } from '../shared/operate/names.ts';
import { requireConnection } from '../shared/operate/settings.ts';
import type { Tool } from '../shared/runtime/wire-tool.ts';
import type { ToolPorts } from '../shared/sync/ports/bundles.ts';
import type { Connection } from '../shared/sync/ports/connections.ts';
import { type GlobalOptions, type Io, UsageError } from './io.ts';
import { DEFAULT_LOCAL_FILE, type LocalFile, localTarget, readLocalFile } from './local-file.ts';
import { askLine, askYes, canAsk } from './output/ask.ts';
import type { CommandFormatter } from './output/hints.ts';
import { createOutput, type Output, type Wording } from './output/output.ts';

export interface Context {
  readonly io: Io;
  readonly out: Output;
  readonly prefix: string;
  readonly connection: ConnectionName;
  readonly connectionGiven: boolean;
  readonly localFile: LocalFile | undefined;
  readonly formatCommands: CommandFormatter;
  /** Connects to the deployment at the first call. */
  readonly ports: () => Promise<ToolPorts>;
  /** Returns the ports and the named connection. Default: the name in `--connection`. @throws NotFound */
  readonly connected: (name?: ConnectionName) => Promise<{ ports: ToolPorts; found: Connection }>;
  readonly group: (text: string) => Promise<GroupRef>;
  readonly member: (text: string) => Promise<MemberId>;
  readonly names: (named: Named, of?: ConnectionName) => Promise<Names>;
  readonly groupLabel: (ref: GroupRef) => Promise<string>;
  /** `--yes`: do not ask for confirmation. */
  readonly yes: boolean;
  /** Asks for confirmation on a terminal. Returns true with `--yes`. @throws UsageError without a terminal */
  readonly confirm: (question: string) => Promise<boolean>;
  /** Returns the given reason, or prompts for one on a terminal. @throws UsageError if there is no reason */
  readonly reason: (given: string | undefined) => Promise<string>;
  readonly close: () => Promise<void>;
}

/**
 * Turns a handler into a commander action. The handler gets its context and the parsed arguments and returns the
 * exit code.
 */
export type Act = <Typed extends unknown[]>(
  handler: (context: Context, ...typed: Typed) => Promise<number>,
) => (...typed: Typed) => Promise<void>;

export function createContext(io: Io, options: GlobalOptions, wording: Wording): Context {
  const out = createOutput(io, options, wording);
  const usesLocal = options.local === true || options.localFile !== undefined;
  const localFile = usesLocal ? readLocalFile(options.localFile ?? DEFAULT_LOCAL_FILE, io.cwd) : undefined;
  const prefix = options.prefix ?? localFile?.prefix ?? io.env[ENVIRONMENT.prefix] ?? DEFAULT_PREFIX;
  const connection = parseConnectionName(options.connection ?? DEFAULT_CONNECTION);
  let opening: Promise<Tool> | undefined;
  const ports = async () => {
    opening ??= io.openTool({
      ...targetOf(options, localFile),
      prefix,
      user: io.user,
      emulator: io.env['AWS_ENDPOINT_URL'],
    });
    const { ports } = await opening;
    return wording.redactor?.watch(ports) ?? ports;
  };
  const names = async (named: Named, of = connection) =>
    wording.redactor ? NO_NAMES : readNames(of, named, await ports());
  return {
    io,
    out,
    prefix,
    connection,
    connectionGiven: options.connection !== undefined,
    formatCommands: wording.formatCommands,
    localFile,
    ports,
    connected: async (name = connection) => {
      const opened = await ports();
      return { ports: opened, found: await requireConnection(name, opened) };
    },
    group: async (text) => findGroup(connection, text, await ports()),
    member: async (text) => findMember(connection, text, await ports()),
    names,
    groupLabel: async ({ group }) => (await names({ groups: [group] })).group(group),
    yes: options.yes === true,
    confirm: async (question) => options.yes === true || askYes(io, question),
    reason: (given) => reasonOf(io, given),
    close: async () => {
      await (await opening)?.close();
    },
  };
}

/** For this time, a new group may be missing in the platform's list. The functions use the same value. */
const CREATE_SETTLE_MS = 600_000;

function targetOf(options: GlobalOptions, localFile: LocalFile | undefined) {
  if (localFile !== undefined) return localTarget(localFile);
  return { region: options.region, profile: options.profile, createSettleMs: CREATE_SETTLE_MS };
}

export function parseConnectionName(text: string): ConnectionName {
  if (/^[a-z0-9-]{1,32}$/.test(text)) return connectionName(text);
  throw new UsageError(`expected a connection name of a-z, 0-9 and -, at most 32 characters, got "${text}"`);
}

async function reasonOf(io: Io, given: string | undefined): Promise<string> {
  const isAsked = given === undefined && canAsk(io);
  const reason = isAsked ? await askLine(io, 'Reason, for the audit: ') : (given?.trim() ?? '');
  if (reason !== '') return reason;
  if (given === undefined && !isAsked)
    throw new UsageError('--reason is required with --yes, and without a terminal');
  throw new UsageError('the reason is empty; give a reason: --reason <text>');
}
