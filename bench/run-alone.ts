import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const RUN = fileURLToPath(new URL('run.ts', import.meta.url));

interface Finished {
  readonly code: number | null;
  readonly text: string;
}

/** Runs a figure in a separate process, so that the heap and the caches of other figures do not affect the figure. */
export function runAlone(args: readonly string[]): Promise<Finished> {
  const child = spawn(process.execPath, [...process.execArgv, RUN, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, text: withoutLogs(text) })));
}

/** Removes log lines of functions from the output. */
const withoutLogs = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('{'))
    .join('\n');
