import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../cli/groupsync.mjs', import.meta.url));
const START_TIMEOUT_MS = 60_000;

/**
 * Starts `groupsync console` for this stack in a child process.
 * @returns the URL of the console (undefined if it did not start in time), and a function that stops the console
 */
export async function startConsole(localFile: string) {
  const args = [BIN, '--local-file', localFile, 'console', '--no-open'];
  // The hints of the console then begin with npx.
  const env = { ...process.env, npm_command: 'exec' };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const url = await new Promise<string | undefined>((resolve) => {
    child.stdout.once('data', (line) => resolve(String(line).trim()));
    child.once('error', () => resolve(undefined)).once('exit', () => resolve(undefined));
    setTimeout(() => resolve(undefined), START_TIMEOUT_MS).unref();
  });
  const stop = () => void child.kill();
  process.once('exit', stop);
  return { url, stop };
}
