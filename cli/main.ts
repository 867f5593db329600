import { userInfo } from 'node:os';
import type { Io } from './io.ts';
import { run } from './run.ts';

/** A second signal within this time is ignored, because npm forwards the Ctrl-C that the terminal has already sent. */
const REPEATED_SIGNAL_MS = 1_000;

// Without this variable, the SDK prints a notice about old Node versions at each command. `doctor` reports the version.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';

const stopping = new AbortController();
let firstMs = 0;
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    if (stopping.signal.aborted && Date.now() - firstMs > REPEATED_SIGNAL_MS) process.exit(130);
    if (!stopping.signal.aborted) firstMs = Date.now();
    stopping.abort();
  });
}
// If the program that reads the output closes the pipe (`| head`), the command stops as after Ctrl-C.
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
  nodeVersion: process.versions.node,
  signal: stopping.signal,
  user: userName(),
  openTool: async (target) => (await import('../shared/runtime/wire-tool.ts')).wireTool(target),
  openCdk: async (options) => (await import('./deploy/cdk.ts')).openCdk(options),
};
process.exitCode = await run(process.argv.slice(2), io);
// Open sockets of the SDK, and standard input after a prompt, must not keep the process running.
process.stdin.unref?.();
setTimeout(() => process.exit(), 500).unref();

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}
