import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import * as z from 'zod';

export const DEFAULT_LOCAL_FILE = '.groupsync/local.json';

/** Addresses of a running local stack. The file contains tokens, so only its owner can read it. */
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
  /** Base URL of the SCIM server. `scimToken` is a token for this server. */
  scim: z.url(),
  scimToken: z.string(),
});
export type LocalFile = z.infer<typeof LocalFile>;

/** Replaces the file atomically. A reader sees either the old or the new content. */
export function writeLocalFile(path: string, content: LocalFile): void {
  const target = resolve(path);
  const draft = `${target}.${content.pid}.tmp`;
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, target);
}

/** Returns a unique path for a run with `--once`, so that the run does not replace the file of another stack. */
export const onceFile = (folder: string): string => join(folder, `once-${process.pid}.json`);

/**
 * Returns the process id of the running stack that the file describes; undefined if there is no such stack. Another
 * process can get the id of a stopped stack, which is likely in a container. So the platform of the stack must also
 * accept a connection.
 * @param own platform URL of the calling stack. A file with this URL does not describe another stack
 */
export async function holderOf(path: string, own?: string): Promise<number | undefined> {
  const found = readLocalFile(path);
  if (found === undefined || found.platform === own || !isRunning(found.pid)) return undefined;
  return (await listens(found.platform)) ? found.pid : undefined;
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function listens(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    const end = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('connect', end(true)).on('error', end(false));
  });
}

function readLocalFile(path: string): LocalFile | undefined {
  try {
    return LocalFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    // The file does not exist, or it does not describe a local stack.
    return undefined;
  }
}

/** Removes the file if this process wrote it. Another stack can have replaced the file. */
export function removeLocalFile(path: string, pid: number): void {
  if (readLocalFile(path)?.pid === pid) rmSync(path, { force: true });
}
