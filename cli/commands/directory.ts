import type { Command } from 'commander';
import * as z from 'zod';
import { DirectoryReadReport } from '../../shared/contract/answers.ts';
import { groupId } from '../../shared/domain/ids.ts';
import { readDirectoryGroups, readDirectoryStatus } from '../../shared/operate/directory.ts';
import { saySource } from '../../shared/operate/status.ts';
import { FunctionFailed } from '../../shared/sync/ports/deployment.ts';
import type { Act, Context } from '../context.ts';
import { Advised, EXIT } from '../io.ts';
import { duration, plural } from '../output/words.ts';
import { examples } from './arguments.ts';

const Skipped = z.object({ connection: z.string(), skipped: z.string() });
const Answer = z.object({ reports: z.tuple([z.union([DirectoryReadReport, Skipped])]) });

export function addDirectory(program: Command, act: Act): void {
  const directory = program
    .command('directory')
    .description('the directory that groupsync reads through its API')
    .addHelpText(...examples('directory status', 'directory groups', 'directory read'));
  directory
    .command('status')
    .description('how many groups are read, and how far')
    .addHelpText(...examples('directory status', 'directory status --json'))
    .action(act(status));
  directory
    .command('groups')
    .description('each group: state, last read, next read and problem')
    .addHelpText(...examples('directory groups', 'directory groups --json'))
    .action(act(groups));
  directory
    .command('read')
    .description('read the directory now, as the schedule does')
    .option('--full', 'read every group, due or not')
    .addHelpText(...examples('directory read', 'directory read --full --json'))
    .action(act(read));
}

async function status({ out, connected }: Context): Promise<number> {
  const { ports, found } = await connected();
  const report = await readDirectoryStatus(found, ports);
  const { kind, groups: count, states, due, listedAt, oldestReadAt, freshness, stopped, short } = report;
  out.answer(report, () => {
    if (kind === null) {
      out.line('no directory is read; docs/read-google.md has the steps');
      return;
    }
    const named = Object.entries(states).filter(([, number]) => number > 0);
    const parts = named.map(([state, number]) => `${number} ${state}`);
    out.line(`${kind}: ${plural(count, 'group')}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`);
    if (stopped !== null) out.line(out.paint.red(`stopped since ${stopped.since}: ${stopped.reason}`));
    if (short > 0) out.line(`fewer members listed than counted: ${plural(short, 'group')}`);
    if (freshness !== null) out.line(saySource(freshness, duration));
    out.line(`listed ${listedAt ?? 'never'}; oldest read ${oldestReadAt ?? 'none'}; due now: ${due}`);
  });
  const needsAttention = states.failing + states.missing > 0;
  const isLate = freshness?.late === true || stopped !== null;
  if (isLate) out.note('next: groupsync doctor --faults');
  if (needsAttention) out.note('next: groupsync directory groups');
  return needsAttention || isLate ? EXIT.attention : EXIT.done;
}

async function groups({ out, connected, names }: Context): Promise<number> {
  const { ports, found } = await connected();
  const rows = await readDirectoryGroups(found, ports);
  const named = await names({ groups: rows.map(({ group }) => groupId(group)) });
  out.answer({ groups: rows }, () =>
    out.table(
      rows,
      [
        { title: 'group', of: ({ group }) => named.group(groupId(group)), whole: 'id' },
        { title: 'state', of: ({ state }) => state },
        { title: 'read', of: ({ readAt }) => readAt?.slice(0, 16) ?? 'never' },
        { title: 'next', of: ({ nextAt }) => nextAt.slice(0, 16) },
        { title: 'problem', of: ({ problem }) => problem ?? '' },
      ],
      'no group of a directory is known',
    ),
  );
  return EXIT.done;
}

/** The deployed function reads, with its own permissions and its own lease. */
async function read(context: Context, { full = false }: { readonly full?: boolean }): Promise<number> {
  const { out, connection } = context;
  const { ports } = await context.connected();
  out.note(`reading the directory of ${connection} …`);
  const ran = ports.functions.run('directory', { connection, full }).catch((cause: Error) => {
    if (!(cause instanceof FunctionFailed)) throw cause;
    throw new Advised(cause.message, 'groupsync directory status');
  });
  const [report] = Answer.parse(await ran).reports;
  if ('skipped' in report) {
    out.answer(report, () => out.line(`not run: ${report.skipped}`));
    return EXIT.attention;
  }
  const { read: whole, sent, failed, waiting } = report;
  out.answer(report, () => {
    out.line(
      `${plural(whole, 'group')} read, ${sent} sent, ${failed} failed, ${waiting} left for the next run`,
    );
  });
  return failed > 0 ? EXIT.attention : EXIT.done;
}
