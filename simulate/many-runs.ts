import { type ChildProcess, fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { DrawOptions } from './draw.ts';
import type { RunReport } from './run-report.ts';

export interface Errand {
  readonly seed: number;
  readonly draw: DrawOptions;
  readonly seededBug?: string | undefined;
}

export type Answer = Pick<Errand, 'seededBug'> &
  ({ readonly report: RunReport } | { readonly seed: number; readonly broke: string });

const fileHere = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Bundles one file. Without a bundle, tsx adds names to functions, and runs are slower by a fifth. */
async function bundleWorker(outfile: string): Promise<void> {
  await build({
    entryPoints: [fileHere('./run-worker.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    target: 'node20',
    logLevel: 'error',
  });
}

/** Executes simulation runs in several processes, and calls `onRun` with each result. */
export async function executeMany(
  errands: Iterator<Errand>,
  jobs: number,
  onRun: (answer: Answer) => void,
): Promise<void> {
  const worker = fileHere(`../node_modules/.cache/runs-${process.pid}.mjs`);
  const executeInOne = () =>
    new Promise<void>((resolve, reject) => {
      // A run creates many short-lived objects, so a large young generation makes garbage collection cheap. A run is
      // short, so code must be compiled early.
      const flags = ['--max-semi-space-size=64', '--always-sparkplug', '--no-lazy-feedback-allocation'];
      const child: ChildProcess = fork(worker, {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        execArgv: ['--no-warnings', ...flags],
      });
      const next = () => {
        const { value, done } = errands.next();
        if (done === true || value === undefined) child.disconnect();
        else child.send(value);
      };
      child.on('message', (answer: Answer) => {
        onRun(answer);
        next();
      });
      child.on('error', reject);
      child.on('exit', (code) =>
        code === 0 ? resolve() : reject(new Error(`a simulation process exited with code ${code}`)),
      );
      next();
    });
  try {
    await bundleWorker(worker);
    await Promise.all(Array.from({ length: jobs }, executeInOne));
  } finally {
    rmSync(worker, { force: true });
  }
}
