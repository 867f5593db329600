import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as z from 'zod';
import { jsonValue } from '../shared/contract/json.ts';
import type { ToolTarget } from '../shared/runtime/wire-tool.ts';
import { UsageError } from './io.ts';

export const DEFAULT_LOCAL_FILE = '.groupsync/local.json';

/** The fields that the CLI uses from the file of a local stack (npm start). */
const LocalFile = z.object({
  pid: z.int().positive(),
  region: z.string(),
  prefix: z.string(),
  dynamodb: z.url(),
  sqs: z.url(),
  secretsManager: z.url(),
  lambda: z.url(),
  scheduler: z.url(),
  platform: z.url(),
  eventsQueueUrl: z.url(),
  eventsDlqUrl: z.url(),
  applyQueueUrl: z.url(),
  applyDlqUrl: z.url(),
  scim: z.url().optional(),
});
export type LocalFile = z.infer<typeof LocalFile>;

const start = 'to run a local stack: npm start; to name its file: --local-file';

/** @throws UsageError if the file does not exist or has another form, or if its stack no longer runs */
export function readLocalFile(path: string, cwd: string): LocalFile {
  let text: string;
  try {
    text = readFileSync(resolve(cwd, path), 'utf8');
  } catch (cause) {
    throw new UsageError(`there is no file ${path}, so there is no local stack.\n${start}.`, { cause });
  }
  const parsed = LocalFile.safeParse(jsonValue(text));
  if (!parsed.success) throw new UsageError(`${path} is not the file of a local stack.\n${start}.`);
  if (!isRunning(parsed.data.pid)) {
    throw new UsageError(
      `the local stack of ${path} (process ${parsed.data.pid}) is not running.\n${start}.`,
    );
  }
  return parsed.data;
}

/** The platform simulator lists a new group immediately. With injected faults, the list may be a few seconds late. */
const LOCAL_SETTLE_MS = 5_000;

export function localTarget(file: LocalFile): Omit<ToolTarget, 'user'> {
  const { region, prefix, dynamodb, sqs, secretsManager, lambda, scheduler } = file;
  return {
    region,
    prefix,
    createSettleMs: LOCAL_SETTLE_MS,
    scim: file.scim === undefined ? undefined : { state: 'Active', url: file.scim },
    local: { dynamodb, sqs, secretsManager, lambda, scheduler },
    queueUrls: {
      events: file.eventsQueueUrl,
      eventsDlq: file.eventsDlqUrl,
      apply: file.applyQueueUrl,
      applyDlq: file.applyDlqUrl,
    },
  };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
