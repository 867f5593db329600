import { userInfo } from 'node:os';
import type { Io } from './io.ts';
import { run } from './run.ts';

/** A second Ctrl-C within this is npm's copy of the terminal's, not impatience. */
const ECHO_MS = 1_000;

const stopping = new AbortController();
let firstMs = 0;
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    if (stopping.signal.aborted && Date.now() - firstMs > ECHO_MS) process.exit(130);
    if (!stopping.signal.aborted) firstMs = Date.now();
    stopping.abort();
  });
}
// A reader that closes the pipe (`| head`) stops us as Ctrl-C does. A closed pipe changes no exit code.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  error.code === 'EPIPE' ? stopping.abort() : process.exit(1),
);
process.stderr.on('error', () => {});

const io: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  signal: stopping.signal,
  user: userName(),
  openTool: async (target) => (await import('../shared/runtime/wire-tool.ts')).wireTool(target),
};
process.exitCode = await run(process.argv.slice(2), io);
// Sockets that the SDK keeps alive, and a terminal that was read from, must not keep the process alive.
process.stdin.unref?.();
setTimeout(() => process.exit(), 500).unref();

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}
