import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { endSessions, listSessions } from '../../shared/operate/console-sessions.ts';
import type { Act, Context } from '../context.ts';
import { describeError } from '../describe-error.ts';
import { EXIT, UsageError } from '../io.ts';
import { plural } from '../output/words.ts';
import { examples, port } from './arguments.ts';

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
    import('../../console/local/page.ts'),
    import('../../console/local/serve.ts'),
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

function addConsoleSessions(console: Command, act: Act): void {
  const sessions = console
    .command('sessions')
    .description('people who are signed in to the deployed console')
    .addHelpText(...examples('console sessions', 'console sessions end ann@acme.test'));
  sessions
    .command('list', { isDefault: true })
    .description('list the sessions of people with a role for the connection')
    .addHelpText(...examples('console sessions list', 'console sessions list --json'))
    .action(act(list));
  sessions
    .command('end')
    .description('end a session, or all sessions of a person')
    .argument('<session>', 'id of a session, as in list, or the person')
    .addHelpText(...examples('console sessions end 3f9a01bc77e2', 'console sessions end ann@acme.test --yes'))
    .action(act(end));
}

async function list({ out, connection, connected }: Context): Promise<number> {
  const sessions = await listSessions(connection, (await connected()).ports);
  out.answer({ sessions }, () =>
    out.table(
      sessions,
      [
        { title: 'id', of: ({ id }) => id, whole: true },
        { title: 'person', of: ({ person }) => person, whole: true },
        { title: 'role', of: ({ role }) => role },
        { title: 'since', of: ({ since }) => since },
        { title: 'expires', of: ({ expiresAt }) => expiresAt },
      ],
      'no person with a role for this connection is signed in',
    ),
  );
  return EXIT.done;
}

async function end(context: Context, session: string): Promise<number> {
  const { out, connection, connected } = context;
  if (!(await context.confirm(`End the sessions ${session}? The person must sign in again.`)))
    return EXIT.failed;
  const ended = await endSessions(connection, session, (await connected()).ports);
  const done = `ended ${plural(ended, 'session')}`;
  out.answer({ ended }, () =>
    out.line(ended > 0 ? done : `connection ${connection} has no session ${session}`),
  );
  return ended > 0 ? EXIT.done : EXIT.failed;
}
