import { DEFAULT_CONNECTION, DEFAULT_PREFIX, ENVIRONMENT } from '../shared/contract/names.ts';
import { type ConnectionName, connectionName, type GroupRef } from '../shared/domain/ids.ts';
import { findMember } from '../shared/operate/find-member.ts';
import { findGroup, type Named, readNames } from '../shared/operate/names.ts';
import { namesAt } from '../shared/operate/past.ts';
import { requireConnection } from '../shared/operate/settings.ts';
import type { Tool } from '../shared/runtime/wire-tool.ts';
import { type GlobalOptions, type Io, UsageError } from './io.ts';
import { DEFAULT_LOCAL_FILE, type LocalFile, localTarget, readLocalFile } from './local-file.ts';
import { askLine, askYes, canAsk } from './output/ask.ts';
import type { CommandFormatter } from './output/hints.ts';
import { createOutput } from './output/output.ts';

export type Context = ReturnType<typeof createContext>;

export type Act = <Typed extends unknown[]>(
  handler: (context: Context, ...typed: Typed) => Promise<number>,
) => (...typed: Typed) => Promise<void>;

export function createContext(io: Io, options: GlobalOptions, formatCommands: CommandFormatter) {
  const out = createOutput(io, options, formatCommands);
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
    return ports;
  };
  const names = async (named: Named, of = connection) => readNames(of, named, await ports());
  return {
    io,
    out,
    prefix,
    connection,
    connectionGiven: options.connection !== undefined,
    formatCommands,
    localFile,
    /** Connects to the deployment at the first call. */
    ports,
    /** Returns the ports and the named connection. Default: the name in `--connection`. @throws NotFound */
    connected: async (name = connection) => {
      const opened = await ports();
      return { ports: opened, found: await requireConnection(name, opened) };
    },
    /** @param atMs the group may also have the name of this time */
    group: async (text: string, atMs?: number) => {
      const opened = await ports();
      if (atMs === undefined) return findGroup(connection, text, opened);
      return findGroup(connection, text, opened, false, () => namesAt(connection, atMs, opened));
    },
    member: async (text: string) => findMember(connection, text, await ports()),
    names,
    groupLabel: async ({ group }: GroupRef) => (await names({ groups: [group] })).group(group),
    yes: options.yes === true,
    confirm: async (question: string) => options.yes === true || askYes(io, question),
    reason: (given: string | undefined) => reasonOf(io, given),
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
