import { readFileSync, statSync } from 'node:fs';
import { UsageError } from './usage.ts';

/** One event as it will be published, and where it stands. */
export interface EventLine {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/**
 * The lines of a JSONL file, blank ones left out. They are not judged here: what is no event is published as well, and
 * the dead-letter queue says why it was refused.
 * @throws UsageError where the file cannot be read.
 */
export function readEventFile(file: string): EventLine[] {
  return readTextFile(file, '--events')
    .split(/\r?\n/)
    .map((text, index) => ({ file, line: index + 1, text }))
    .filter(({ text }) => text.trim() !== '');
}

/** The text of a file that a flag names, without a byte order mark. @throws UsageError where it cannot be read. */
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
