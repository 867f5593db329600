import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import * as z from 'zod';
import { describeIssues } from '../errors.ts';
import { applyChange, Change } from './changes.ts';
import { type NewId, stateFromWorld } from './from-world.ts';
import type { State } from './state.ts';
import { worldFromState } from './to-world.ts';
import { parseWorld } from './world.ts';

/*
 * The data file. Line 1 is the whole content of the simulated platform. Every later line contains the changes of one
 * request:
 *
 *     {"groupsyncPlatform":1,"world":{…}}\n [change, change]\n [change]\n …
 *
 * One append writes a line before the response is sent, so a confirmed change survives kill -9. (A power cut can lose
 * the last lines.) A line without its newline was never confirmed, and the next start removes it. When the changes are
 * much larger than the world, a new file with the current world replaces the file by a rename.
 */

const Header = z.object({ groupsyncPlatform: z.literal(1), world: z.unknown() });
const Line = z.array(Change);
const MIN_BYTES_BEFORE_COMPACTION = 8 * 1024 * 1024;

/** The data file cannot be used. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
}

interface Journal {
  /** Writes the changes. After the return, they survive a kill of this process. @throws if they cannot be written */
  append(changes: readonly Change[]): void;
  /** Rewrites the file if its changes are much larger than its world. */
  compactIfDue(state: State): void;
  rewrite(state: State): void;
  close(): void;
}

/**
 * Returns the state in a data file, or undefined if the file does not exist yet.
 * @throws {JournalError} if a complete line is not in the simulator's format
 */
export function readJournal(file: string, newId: NewId): State | undefined {
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  lines.pop();
  const [first, ...rest] = lines;
  if (first === undefined) return undefined;
  const state = stateFromWorld(parseWorld(parseLine(Header, first, `${file} line 1`).world), newId);
  rest.forEach((line, index) => {
    for (const change of parseLine(Line, line, `${file} line ${index + 2}`)) applyChange(state, change);
  });
  return state;
}

function parseLine<T>(schema: z.ZodType<T>, line: string, where: string): T {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch (cause) {
    throw new JournalError(`${where} is not JSON; is this a data file of the simulator?`, { cause });
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw new JournalError(`${where}: ${describeIssues(parsed.error, '')}`);
  return parsed.data;
}

/** Rewrites the data file with this state, which drops an incomplete last line. Then opens the file for appending. */
export function openJournal(file: string, state: State): Journal {
  let descriptor = -1;
  let worldBytes = 0;
  let totalBytes = 0;

  const rewrite = (current: State) => {
    const text = `${JSON.stringify({ groupsyncPlatform: 1, world: worldFromState(current) })}\n`;
    const temporary = `${file}.new`;
    // The file contains tokens, so only its owner can read it.
    const next = openSync(temporary, 'w', 0o600);
    writeFileSync(next, text);
    fsyncSync(next);
    closeSync(next);
    renameSync(temporary, file);
    if (descriptor >= 0) closeSync(descriptor);
    descriptor = openSync(file, 'a');
    worldBytes = Buffer.byteLength(text);
    totalBytes = worldBytes;
  };

  rewrite(state);
  return {
    append(changes) {
      const line = Buffer.from(`${JSON.stringify(changes)}\n`);
      try {
        writeFileSync(descriptor, line);
      } catch (error) {
        // The partial line is removed. Otherwise the lines after it could not be read.
        ftruncateSync(descriptor, totalBytes);
        throw error;
      }
      totalBytes += line.length;
    },
    compactIfDue(current) {
      const changesBytes = totalBytes - worldBytes;
      if (changesBytes > Math.max(MIN_BYTES_BEFORE_COMPACTION, 2 * worldBytes)) rewrite(current);
    },
    rewrite,
    close: () => closeSync(descriptor),
  };
}
