import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Redirects the handlers' log lines from standard output to a file. Otherwise these lines would mix with the table and
 * the output of `--json`. The local stack prints through the returned function.
 */
export function divertOutput(path: string): { readonly print: (text: string) => void } {
  const print = process.stdout.write.bind(process.stdout);
  mkdirSync(dirname(path), { recursive: true });
  const log = createWriteStream(path, { mode: 0o600 });
  log.on('error', () => undefined);
  const divert = (chunk: string | Uint8Array, encoding?: unknown, done?: unknown): boolean => {
    const callback = typeof encoding === 'function' ? encoding : done;
    log.write(chunk, () => typeof callback === 'function' && callback());
    return true;
  };
  process.stdout.write = divert as typeof process.stdout.write;
  for (const level of ['log', 'info', 'debug', 'warn', 'error', 'trace'] as const) {
    console[level] = (...parts: unknown[]) => void log.write(`${parts.map(asText).join(' ')}\n`);
  }
  return { print: (text) => void print(text) };
}

const asText = (part: unknown): string => {
  if (typeof part === 'string') return part;
  if (part instanceof Error) return part.stack ?? part.message;
  return JSON.stringify(part) ?? String(part);
};
