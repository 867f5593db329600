import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty folder that goes with its test. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'groupsync-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A file in a folder that goes with its test. @returns its path */
export function temporaryFile(name: string, text: string | Uint8Array): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  return path;
}
