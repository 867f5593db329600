import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { isRunning } from './local-file.ts';
import { UsageError } from './usage.ts';

/** The files in the folder of `--data`. This process holds the folder's lock until it calls `release`. */
interface DataFolder {
  readonly tables: string;
  readonly platform: string;
  readonly secrets: string;
  /**
   * The time of the example's last event, in milliseconds since 1970. The first start chooses and stores this time.
   * Otherwise a later start would give the events newer times, and the events would undo changes since the first start.
   */
  readonly exampleEndMs: number;
  /** Whether no earlier start used the folder. */
  readonly isNew: boolean;
  readonly release: () => void;
}

const Lock = z.object({ pid: z.int().positive(), startedAt: z.string() });

/** @throws UsageError if another process uses the folder, or if this process cannot write to it */
export function openDataFolder(path: string, nowMs: number): DataFolder {
  const folder = resolve(path);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new UsageError(`--data ${path}: cannot create this folder: ${(cause as Error).message}`, { cause });
  }
  const lock = join(folder, 'lock');
  takeLock(lock, path);
  const isNew = !existsSync(join(folder, 'example-end'));
  return {
    isNew,
    tables: join(folder, 'dynamodb'),
    platform: join(folder, 'platform.jsonl'),
    secrets: join(folder, 'secrets.json'),
    exampleEndMs: readOrChooseEnd(join(folder, 'example-end'), nowMs),
    release: () => rmSync(lock, { force: true }),
  };
}

/** Takes the lock. A lock of a process that no longer runs, for example after kill -9, is replaced. */
function takeLock(lock: string, path: string): void {
  const content = JSON.stringify({ pid: process.pid, startedAt: startOf(process.pid) });
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      writeFileSync(lock, content, { flag: 'wx' });
      return;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw new UsageError(`--data ${path}: cannot write there: ${(cause as Error).message}`, { cause });
      }
      const holder = readLock(lock);
      if (holder !== undefined && isHeld(holder)) {
        throw new UsageError(`--data ${path}: in use by process ${holder.pid}; stop it first`, { cause });
      }
      rmSync(lock, { force: true });
    }
  }
  throw new UsageError(`--data ${path}: another process started to use this folder at the same time`);
}

function readLock(lock: string): z.infer<typeof Lock> | undefined {
  try {
    return Lock.parse(JSON.parse(readFileSync(lock, 'utf8')));
  } catch {
    return undefined;
  }
}

const isHeld = ({ pid, startedAt }: z.infer<typeof Lock>) => isRunning(pid) && startOf(pid) === startedAt;

/**
 * Returns the start time of the process in clock ticks since boot (proc(5), field 22 of `stat`). If the operating
 * system gives the process id to another process, that process has another start time. Without /proc, the result is
 * empty, and only the process ids are compared.
 */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

function readOrChooseEnd(file: string, nowMs: number): number {
  try {
    const kept = Number(readFileSync(file, 'utf8'));
    if (Number.isFinite(kept) && kept > 0) return kept;
  } catch {
    // The file does not exist yet at the first start.
  }
  writeFileSync(file, String(nowMs));
  return nowMs;
}
