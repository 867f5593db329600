import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { PATIENCE_MS } from '../../support/patience.ts';

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Starts a process. Returns an object with its growing output, and a promise of its end. */
export function startProcess(
  file: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
) {
  const child = spawn(file, args, { cwd: ROOT, ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk) => {
      output[name] += chunk;
    });
  const exit = new Promise<Ended>((resolve) => {
    child.on('close', (code) => resolve({ code, ...output }));
  });
  return { exit, output, signal: (name: NodeJS.Signals) => child.kill(name) };
}

/** Waits until the command listens. Returns the lines that it has printed. */
export async function listening({ output }: ReturnType<typeof startProcess>): Promise<string[]> {
  await vi.waitUntil(() => output.stdout !== '', { timeout: PATIENCE_MS, interval: 20 });
  return output.stdout.split('\n');
}
