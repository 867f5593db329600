import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Creates an empty folder that is deleted when the test ends. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'groupsync-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Creates a file in a folder that is deleted when the test ends. @returns its path */
export function temporaryFile(name: string, text: string | Uint8Array): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  return path;
}
