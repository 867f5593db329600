import type { Readable, Writable } from 'node:stream';
import type { Tool, ToolTarget } from '../shared/runtime/wire-tool.ts';
import type { Cdk, CdkOptions } from './deploy/ports.ts';

export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** All access of the commands to the process and the machine. Tests replace this object. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & Terminal;
  readonly stderr: Writable & Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The Node.js version, such as 22.11.0. */
  readonly nodeVersion: string;
  /** Aborted by Ctrl-C, SIGTERM or a closed pipe. Commands stop between two steps and report what was done. */
  readonly signal: AbortSignal;
  readonly user: string;
  readonly openTool: (target: ToolTarget) => Promise<Tool>;
  readonly openCdk: (options: CdkOptions) => Promise<Cdk>;
}

export const EXIT = { done: 0, failed: 1, usage: 2, attention: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The operator pressed Ctrl-C before the command changed anything: exit code 1. */
export class Stopped extends Error {
  override readonly name = 'Stopped';

  constructor() {
    super('stopped; nothing was changed');
  }
}

/** The command line, or a file that it names, cannot be used: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export class HintedError extends Error {
  override readonly name = 'HintedError';
  readonly next: string;

  constructor(message: string, next: string) {
    super(message);
    this.next = next;
  }
}

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
  readonly output?: 'wide' | 'csv';
  /** Options of some commands. They exclude global options. */
  readonly watch?: boolean;
  readonly follow?: boolean;
  readonly file?: string;
}

/** The commands that support `-o csv`: commands that change nothing and print a table. */
const CSV_COMMANDS: ReadonlySet<string> = new Set([
  'connections list',
  'console sessions list',
  'deliveries',
  'directory groups',
  'dlq list',
  'export',
  'groups',
  'holds list',
  'holds show',
  'members',
  'pending',
  'platform-groups',
  'scim client list',
  'scim token list',
]);
/** What replaces the CSV of commands that had it. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  log: ', or groupsync evidence --all --file FOLDER',
};
/** With these options, a command of `CSV_COMMANDS` prints no table. */
const EXCLUDE_CSV = ['watch', 'follow', 'file'] as const;

/**
 * @param command the command without `groupsync`, such as `dlq list`
 * @throws UsageError for output options that exclude each other or that the command does not support
 */
export function refuseContradictions(command: string, options: GlobalOptions): void {
  const { json, output, watch } = options;
  if (json && output) throw new UsageError('--json and --output exclude each other');
  if (output === 'csv' && !CSV_COMMANDS.has(command))
    throw new UsageError(`${command} has no CSV output; use --json${REPLACEMENTS[command] ?? ''}`);
  const excluding = EXCLUDE_CSV.find((name) => options[name]);
  if (output === 'csv' && excluding !== undefined)
    throw new UsageError(`--${excluding} and --output csv exclude each other`);
  if (json && watch)
    throw new UsageError('--watch and --json exclude each other; in scripts, repeat the command with --json');
}
