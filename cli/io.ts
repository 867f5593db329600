import type { Readable, Writable } from 'node:stream';
import type { Tool, ToolTarget } from '../shared/runtime/wire-tool.ts';

export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** All that the command line has of the world outside: a test gives it another one. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & Terminal;
  readonly stderr: Writable & Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborted by Ctrl-C: commands end between two steps and say what was done. */
  readonly signal: AbortSignal;
  /** Login name of the person, for the audit. */
  readonly user: string;
  readonly openTool: (target: ToolTarget) => Promise<Tool>;
}

/** As documented in docs/cli.md. */
export const EXIT = { done: 0, failed: 1, usage: 2, attention: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A person pressed Ctrl-C at a question: exit 1, and nothing was changed. */
export class Stopped extends Error {
  override readonly name = 'Stopped';

  constructor() {
    super('stopped; nothing was changed');
  }
}

/** The command line, or something that it names, cannot be used: exit 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What failed, and the command that comes next. */
export class Advised extends Error {
  override readonly name = 'Advised';
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
  /** `--no-names` makes it false. */
  readonly names?: boolean;
  readonly output?: 'wide' | 'csv';
  /** Of commands that show something again and again. */
  readonly watch?: boolean;
  readonly follow?: boolean;
}

/** @throws UsageError where standard output would have to be two things */
export function refuseContradictions({ json, output, watch, follow }: GlobalOptions): void {
  const again = watch ? '--watch' : follow ? '--follow' : undefined;
  if (json && output) throw new UsageError('--json and --output exclude each other');
  if (again && output === 'csv') throw new UsageError(`${again} and --output csv exclude each other`);
  if (json && watch)
    throw new UsageError('--watch and --json exclude each other; in scripts, repeat the command with --json');
}
