import { Readable, Writable } from 'node:stream';
import type { Io } from '../../../cli/io.ts';
import { run } from '../../../cli/run.ts';
import { createSorter } from '../../../shared/runtime/tool/sorter.ts';
import type { Tool } from '../../../shared/runtime/tool/wire-tool.ts';
import { wireTool } from '../../../shared/runtime/tool/wire-tool.ts';
import type { ToolPorts } from '../../../shared/sync/tool/ports.ts';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every form
  readonly json: any;
}

export interface Around {
  readonly ports?: ToolPorts;
  readonly stdin?: string;
  readonly env?: Record<string, string>;
  readonly signal?: AbortSignal;
  readonly cwd?: string;
}

/** One command line in this process. With `ports` it works on those, else on whatever its flags name. */
export async function runCli(args: readonly string[], around: Around = {}): Promise<Ran> {
  const output = { stdout: '', stderr: '' };
  const sink = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk, _, done) {
        output[name] += String(chunk);
        done();
      },
    });
  const { ports } = around;
  const io: Io = {
    stdin: Readable.from([Buffer.from(around.stdin ?? '')]),
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    env: around.env ?? {},
    cwd: around.cwd ?? process.cwd(),
    signal: around.signal ?? new AbortController().signal,
    user: 'tester',
    openTool: ports === undefined ? wireTool : async (): Promise<Tool> => ({ ports, close: async () => {} }),
    createSorter: async () => createSorter(),
  };
  const code = await run(args, io);
  return { code, ...output, json: args.includes('--json') ? parse(output.stdout) : undefined };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
