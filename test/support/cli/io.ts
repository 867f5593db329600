import { PassThrough, Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import { expect } from 'vitest';
import type * as z from 'zod';
import type { Cdk } from '../../../cli/deploy/ports.ts';
import type { Io } from '../../../cli/io.ts';
import { createProgram } from '../../../cli/program.ts';
import { run } from '../../../cli/run.ts';
import { OUTPUT_SCHEMAS } from '../../../scripts/output-schemas.ts';
import { type Tool, wireTool } from '../../../shared/runtime/wire-tool.ts';
import type { ToolPorts } from '../../../shared/sync/ports/bundles.ts';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every form
  readonly json: any;
}

export interface Around {
  readonly ports?: ToolPorts;
  /** The CDK that `deploy` and `destroy` call. By default, it has no deployed stack and finds no difference. */
  readonly cdk?: Partial<Cdk>;
  readonly stdin?: string;
  readonly env?: Record<string, string>;
  readonly signal?: AbortSignal;
  readonly cwd?: string;
  readonly nodeVersion?: string;
  /** The person who runs the command. */
  readonly user?: string;
  /** The width of the terminal. If undefined, standard output is no terminal. */
  readonly columns?: number;
  /** The input of a person at a terminal. Each text is typed after the question that it answers appears. */
  readonly person?: readonly { readonly sees: string; readonly types: string }[];
}

/** Runs a command line with `ports`, or with the deployment of its flags. Its document must match the schema. */
export async function runCli(args: readonly string[], around: Around = {}): Promise<Ran> {
  const output = { stdout: '', stderr: '' };
  const { ports, person } = around;
  const sink = (name: 'stdout' | 'stderr', isTTY: boolean) =>
    Object.assign(
      new Writable({
        write(chunk, _, done) {
          output[name] += String(chunk);
          if (isTTY) typist?.(output[name]);
          done();
        },
      }),
      { isTTY, columns: around.columns ?? 80 },
    );
  const keyboard = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const typist = person && typing(person, keyboard);
  const io: Io = {
    stdin: person === undefined ? Readable.from([Buffer.from(around.stdin ?? '')]) : keyboard,
    stdout: sink('stdout', around.columns !== undefined),
    stderr: sink('stderr', person !== undefined),
    env: around.env ?? {},
    cwd: around.cwd ?? process.cwd(),
    nodeVersion: around.nodeVersion ?? '22.12.0',
    signal: around.signal ?? new AbortController().signal,
    user: around.user ?? 'tester',
    openTool: ports === undefined ? wireTool : async () => toolOf(ports),
    openCdk: async () => ({ ...UNCHANGED_CDK, ...around.cdk }),
  };
  const code = await run(args, io);
  const json = args.includes('--json') ? parse(output.stdout) : undefined;
  // With --follow, each line is a document of its own.
  if (json !== undefined && !args.includes('--follow')) await checkDocument(args, json);
  return { code, ...output, json };
}

async function checkDocument(args: readonly string[], document: unknown): Promise<void> {
  const name = await documentName(args);
  expect(Object.keys(OUTPUT_SCHEMAS)).toContain(name);
  const schema: z.ZodType = OUTPUT_SCHEMAS[name as keyof typeof OUTPUT_SCHEMAS];
  const forms = 'options' in schema ? (schema.options as readonly z.ZodObject[]) : [schema as z.ZodObject];
  const issues = forms.map((form) => form.strict().safeParse(document).error?.issues ?? []);
  expect(issues, `${args.join(' ')}: ${JSON.stringify(document)}`).toContainEqual([]);
}

/** Returns the name of the published schema for the document of a command. */
async function documentName(args: readonly string[]): Promise<string> {
  let name = '';
  const act = async (...typed: readonly unknown[]) => {
    const command = typed.at(-1) as Command;
    const path = pathOf(command).replace(/^(holds|platform-groups) list$/, '$1');
    name = path === 'status' && command.args.length > 0 ? 'status GROUP' : path;
  };
  await createProgram(() => act).parseAsync([...args], { from: 'user' });
  return name;
}

const pathOf = (command: Command): string =>
  command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim();

const toolOf = (ports: Tool['ports']): Tool => ({ ports, actingAs: () => ports, close: async () => {} });

const refuse = () => Promise.reject(new Error('expected no change of a deployed stack'));

/** A CDK that finds no difference and no deployed stack, and refuses every change. */
const UNCHANGED_CDK: Cdk = {
  synth: async () => ({ stack: 'groupsync', account: '111122223333', region: 'eu-west-1', resources: [] }),
  diff: async () => ['✨  Number of stacks with differences: 0'],
  drift: async () => [],
  bootstrap: refuse,
  deploy: refuse,
  destroy: refuse,
  protectTable: refuse,
  stacks: async () => ({ read: async () => undefined, unprotect: refuse }),
  close: () => {},
};

/** Types each answer after its question appears. Output that came before the previous answer does not count. */
function typing(person: NonNullable<Around['person']>, keyboard: PassThrough): (screen: string) => void {
  const waiting = [...person];
  let read = 0;
  return (screen) => {
    const [next] = waiting;
    if (next === undefined || !screen.slice(read).includes(next.sees)) return;
    read = screen.length;
    waiting.shift();
    // The prompt accepts input only after it is drawn.
    setTimeout(() => keyboard.write(next.types), 20);
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns every command that has no subcommands, as an operator types it. */
export function commandNames(): string[] {
  const leaves = (command: Command, path: readonly string[] = []): string[] =>
    command.commands.length === 0
      ? [path.join(' ')]
      : command.commands.flatMap((child) => leaves(child, [...path, child.name()]));
  return leaves(createProgram(() => async () => {}));
}
