import { DEFAULT_PREFIX } from '../shared/contract/names.ts';
import { startConsole } from './console.ts';
import { divertOutput } from './handler-log.ts';
import { parseOptions } from './options.ts';
import { runLocal } from './run.ts';
import { UsageError } from './usage.ts';

/** Time after a stop signal at which the process exits even if the stack has not stopped. */
const FORCED_EXIT_MS = 4500;
const REPEATED_SIGNAL_MS = 1000;

// If the reader of the output closes the pipe (`| head`), the stack stops as after SIGTERM.
process.stdout.on('error', () => process.kill(process.pid, 'SIGTERM'));

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  const isUsage = error instanceof UsageError;
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`npm start: ${isUsage ? reason.replaceAll('\n', ' ') : reason}\n`);
  return isUsage ? 2 : 1;
});
// Sockets that the SDK keeps open must not keep the process running.
setTimeout(() => process.exit(), 500).unref();

async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args);
  if ('help' in options) {
    process.stdout.write(options.help);
    return 0;
  }
  // This variable suppresses the SDK's warning about Node versions of 2027.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
  // The parts are imported while the emulators start.
  const parts = import('./load-parts.ts');
  return runLocal(options, {
    loadParts: async () => (await parts).loadParts(),
    signal: stopSignal(options.once ? 1 : 0),
    takeOutput: divertOutput,
    startConsole: options.consoleLogin ? startConsoleLogin : startConsole,
  });
}

/** These modules are loaded only with `--console-login`. */
async function startConsoleLogin() {
  return (await import('./console-login/start.ts')).startConsoleLogin(DEFAULT_PREFIX);
}

/**
 * Returns a signal that aborts at SIGTERM or Ctrl-C. A second signal ends the process at once. Within a second after
 * the first signal, a second signal is ignored, because npm forwards the terminal's signal.
 */
function stopSignal(exitCode: number): AbortSignal {
  const stopping = new AbortController();
  let firstMs = 0;
  const stop = () => {
    if (stopping.signal.aborted && Date.now() - firstMs > REPEATED_SIGNAL_MS) process.exit(130);
    if (stopping.signal.aborted) return;
    firstMs = Date.now();
    stopping.abort();
    setTimeout(() => process.exit(exitCode), FORCED_EXIT_MS).unref();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return stopping.signal;
}
