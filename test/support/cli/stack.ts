import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeLocalFile } from '../../../local/local-file.ts';
import type { WorldInput } from '../../../local/platform/state/world.ts';
import { startLocalStack } from '../local-stack.ts';
import { runCli } from './io.ts';

const BIN = fileURLToPath(new URL('../../../cli/groupsync.mjs', import.meta.url));

/** A whole local stack in this process, and the command line on it, in this process or in one of its own. */
export async function startCliStack(world: WorldInput) {
  const folder = mkdtempSync(join(tmpdir(), 'groupsync-cli-'));
  const localFile = join(folder, 'local.json');
  const { stack, logs, send, endHolds, stop } = await startLocalStack({
    world,
    pumpSeconds: 1,
    gatherSeconds: 0,
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
    publish: send,
    endHolds,
    async stop() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
