import { startConsole } from './console.ts';
import { divertOutput } from './handler-log.ts';
import { parseOptions } from './options.ts';
import { runLocal } from './run.ts';
import { UsageError } from './usage.ts';

/** Stopping takes less; what has not ended by then is not waited for. */
const LAST_MOMENT_MS = 4500;
const ECHO_MS = 1000;

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  const isUsage = error instanceof UsageError;
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`npm start: ${isUsage ? reason.replaceAll('\n', ' ') : reason}\n`);
  return isUsage ? 2 : 1;
});
// Sockets that the SDK keeps alive must not keep the process alive.
setTimeout(() => process.exit(), 500).unref();

async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args);
  if ('help' in options) {
    process.stdout.write(options.help);
    return 0;
  }
  // The SDK's notice about the Node of 2027 is not for someone who tries the demo.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
  // Read while the emulators start.
  const parts = import('./load-parts.ts');
  return runLocal(options, {
    loadParts: async () => (await parts).loadParts(),
    signal: stopSignal(options.once ? 1 : 0),
    takeOutput: divertOutput,
    startConsole,
  });
}

/**
 * Aborts at SIGTERM or Ctrl-C. A second one ends the process as it is, and so does the last moment; a second one right
 * after the first is npm's copy of the terminal's.
 */
function stopSignal(exitCode: number): AbortSignal {
  const stopping = new AbortController();
  let firstMs = 0;
  const stop = () => {
    if (stopping.signal.aborted && Date.now() - firstMs > ECHO_MS) process.exit(130);
    if (stopping.signal.aborted) return;
    firstMs = Date.now();
    stopping.abort();
    setTimeout(() => process.exit(exitCode), LAST_MOMENT_MS).unref();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return stopping.signal;
}
