import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Act, Context } from '../context.ts';
import { describeError } from '../describe-error.ts';
import { EXIT, UsageError } from '../io.ts';
import { examples, port } from './arguments.ts';
import { addConsoleSessions } from './console-sessions.ts';

export function addConsole(program: Command, act: Act): void {
  const console = program
    .command('console')
    .description('serve the console on this machine, with your credentials, until Ctrl-C')
    .option('--port <n>', 'a fixed port (default: a free one)', port, 0)
    .option('--no-open', 'only print the address')
    .addHelpText(...examples('console', '--local console --port 4400 --no-open'))
    .action(act(serve));
  addConsoleSessions(console, act);
}

async function serve(
  { out, io, prefix, connection, ports, formatCommands }: Context,
  flags: { readonly port: number; readonly open: boolean },
): Promise<number> {
  // Imported here, so that other commands start without loading the console.
  const [{ createHandle }, { loadPage }, { CODE_VALID_MS, serveConsole }] = await Promise.all([
    import('../../console/server/handle.ts'),
    import('../console/page.ts'),
    import('../console/serve.ts'),
  ]);
  const [page, tool] = await Promise.all([loadPage(), ports()]);
  const [token, code] = [newSecret(), newSecret()];
  const handle = createHandle({
    prefix,
    ports: tool,
    describe: (error) => describeError(error).text,
    formatCommands: (text, of) => formatCommands(text, of === connection ? undefined : of),
  });
  const served = await serveConsole({ port: flags.port, token, code, page, handle }).catch((error: Error) => {
    throw new UsageError(`--port ${flags.port}: ${error.message}`, { cause: error });
  });
  const url = served.urlOf(connection);
  out.answer({ url }, () => out.line(url));
  out.note(
    `anyone who opens this address has your permissions. It expires ${CODE_VALID_MS / 60_000} minutes after it is first opened. Ctrl-C stops the console`,
  );
  const forget = flags.open ? openBrowser(url) : () => {};
  const expiry = AbortSignal.timeout(LIFETIME_MS);
  const ended = AbortSignal.any([io.signal, expiry]);
  try {
    if (!ended.aborted) await once(ended, 'abort');
  } finally {
    forget();
    await served.close();
  }
  if (expiry.aborted)
    out.note('the console stopped, because its token expired after 12 hours; run the command again');
  return EXIT.done;
}

const newSecret = (): string => randomBytes(24).toString('base64url');

/** The console stops after this time. The token that a browser has stored is then no longer valid. */
const LIFETIME_MS = 12 * 3_600_000;

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer' };

/**
 * Opens the URL through a file that only its owner may read. Every user of the machine can see a process's
 * arguments, and the URL contains the code.
 */
function openBrowser(url: string): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'groupsync-console-'));
  const file = join(folder, 'open.html');
  writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0;url=${url}">`, { mode: 0o600 });
  const child = spawn(OPENERS[process.platform] ?? 'xdg-open', [file], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
  return () => rmSync(folder, { recursive: true, force: true });
}
