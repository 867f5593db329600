import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** `npm start` without npm, as a process of its own that ends with the test. */
export function start(args: readonly string[], environment: Record<string, string> = {}, cwd = ROOT) {
  const program = ['--import', import.meta.resolve('tsx'), join(ROOT, 'local/start.ts')];
  const child: ChildProcess = spawn(process.execPath, [...program, ...args], {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    output.stderr += chunk;
  });
  const exit = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, ...output }));
  });
  onTestFinished(async () => {
    if (child.exitCode === null) child.kill('SIGKILL');
    await exit;
  });
  return { exit, output, signal: (name: NodeJS.Signals) => child.kill(name) };
}
