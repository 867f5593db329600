import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { vi } from 'vitest';
import { loadParts } from '../../../local/load-parts.ts';
import { writeLocalFile } from '../../../local/local-file.ts';
import { openPlatform } from '../../../local/open-platform.ts';
import type { WorldInput } from '../../../local/platform/state/world.ts';
import { startStack } from '../../../local/stack.ts';
import { runCli } from './io.ts';

const BIN = fileURLToPath(new URL('../../../cli/groupsync.mjs', import.meta.url));

/** A whole local stack in this process, and the command line on it, in this process or in one of its own. */
export async function startCliStack(world: WorldInput) {
  const folder = mkdtempSync(join(tmpdir(), 'groupsync-cli-'));
  const localFile = join(folder, 'local.json');
  /** What the handlers logged. */
  const logs: string[] = [];
  const written = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    logs.push(String(chunk));
    return true;
  });
  const platform = await openPlatform({ world, dataFile: undefined, port: 0 });
  const stack = await startStack({
    prefix: 'groupsync',
    coalesceSeconds: 0,
    ports: { aws: 0, sqs: 0 },
    tables: undefined,
    secrets: undefined,
    platform,
    settings: [['guard', null]],
    everySeconds: { pump: 1, feed: 60, sweep: 600, health: 6_000, people: 60 },
    loadParts,
    onError: () => undefined,
  });
  writeLocalFile(localFile, stack.address);
  return {
    stack,
    logs,
    /** Where the commands run, and what they know the stack by. */
    folder,
    localFile,
    cli: (args: readonly string[], around: Parameters<typeof runCli>[1] = {}) =>
      runCli([...args, '--local-file', localFile], around),
    /** The real command as a process of its own. */
    spawn: (args: readonly string[]): ChildProcess =>
      spawn(process.execPath, [BIN, ...args, '--local-file', localFile], { cwd: folder, stdio: 'pipe' }),
    async publish(bodies: readonly string[]) {
      for (let at = 0; at < bodies.length; at += 10) {
        const Entries = bodies
          .slice(at, at + 10)
          .map((MessageBody, index) => ({ Id: String(index), MessageBody }));
        await stack.sqs.send(
          new SendMessageBatchCommand({ QueueUrl: stack.address.eventsQueueUrl, Entries }),
        );
      }
    },
    async stop() {
      await stack.stop();
      await platform.close();
      written.mockRestore();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
