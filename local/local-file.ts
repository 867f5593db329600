import { mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';

/**
 * Where a running local stack is found: endpoints are base URLs, queue URLs work as they are. It holds a token, so
 * only its owner may read it.
 */
export const LocalFile = z.object({
  pid: z.int().positive(),
  region: z.string(),
  prefix: z.string(),
  connection: z.string(),
  dynamodb: z.url(),
  sqs: z.url(),
  secretsManager: z.url(),
  lambda: z.url(),
  scheduler: z.url(),
  platform: z.url(),
  table: z.string(),
  eventsQueueUrl: z.url(),
  eventsDlqUrl: z.url(),
  applyQueueUrl: z.url(),
  applyDlqUrl: z.url(),
  platformToken: z.string(),
  /** Base URL of the SCIM server, and a token for it. */
  scim: z.url(),
  scimToken: z.string(),
});
export type LocalFile = z.infer<typeof LocalFile>;

/** Writes the file in one step: a reader sees all of it or none. */
export function writeLocalFile(path: string, content: LocalFile): void {
  const target = resolve(path);
  const draft = `${target}.${content.pid}.tmp`;
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, target);
}

/** Removes the file if it is still ours: another stack may have taken its place. */
export function removeLocalFile(path: string, pid: number): void {
  try {
    const found = LocalFile.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    if (found.success && found.data.pid === pid) unlinkSync(path);
  } catch {
    // Gone, or not ours to judge.
  }
}
