import { readFileSync, statSync } from 'node:fs';
import { UsageError } from './usage.ts';

export interface EventLine {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/**
 * Returns the lines of a JSONL file without blank lines. The lines are not validated. A line that is not an event is
 * published too, and the dead-letter queue shows the reason of its rejection.
 * @throws UsageError if the file cannot be read
 */
export function readEventFile(file: string): EventLine[] {
  return readTextFile(file, '--events')
    .split(/\r?\n/)
    .map((text, index) => ({ file, line: index + 1, text }))
    .filter(({ text }) => text.trim() !== '');
}

/** Returns the text of a file that a flag names, without a byte order mark. @throws UsageError if it cannot be read */
export function readTextFile(file: string, flag: string): string {
  try {
    if (statSync(file).isDirectory()) throw new Error('it is a folder');
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (cause) {
    const reason =
      (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'no such file' : (cause as Error).message;
    throw new UsageError(`${flag} ${file}: cannot be read: ${reason}`, { cause });
  }
}
