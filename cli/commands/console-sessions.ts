import type { Command } from 'commander';
import { endSessions, listSessions } from '../../shared/operate/console-sessions.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { plural } from '../output/words.ts';
import { examples } from './arguments.ts';

export function addConsoleSessions(console: Command, act: Act): void {
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
