import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onLine?: (line: string) => void;
}

export async function runProgram({ command, args, cwd, env, onLine }: Program) {
  const child = spawn(command, args, {
    cwd,
    env: { ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Windows starts `npm.cmd` only through a shell.
    shell: process.platform === 'win32' && !command.endsWith('.exe'),
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      onLine?.(line);
    });
  }
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
  return { code, lines };
}
