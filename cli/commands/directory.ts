import { type Command, Option } from 'commander';
import * as z from 'zod';
import {
  type DirectoryComparison,
  type DirectoryDisconnection,
  type DirectoryGroupRow,
  DirectoryReadReport,
  type DirectoryStatus,
} from '../../shared/contract/answers/directory.ts';
import {
  recordAcceptedDeletions,
  recordDeletedGroups,
} from '../../shared/directory/operate/accept-deletions.ts';
import { compareDirectory } from '../../shared/directory/operate/compare.ts';
import type { DirectoryOptions } from '../../shared/directory/operate/guides/guide.ts';
import { guidePages } from '../../shared/directory/operate/guides/index.ts';
import { refuseOwnerless } from '../../shared/directory/operate/reader-groups.ts';
import { readDirectoryGroups, readDirectoryStatus } from '../../shared/directory/operate/status.ts';
import { groupId } from '../../shared/domain/ids.ts';
import { SOURCES } from '../../shared/domain/source.ts';
import { changeSettings, planSettings } from '../../shared/operate/settings.ts';
import { formatSource, needsAttention } from '../../shared/operate/status.ts';
import { FunctionFailed } from '../../shared/sync/ports/deployment.ts';
import type { Act, Context } from '../context.ts';
import { EXIT, HintedError } from '../io.ts';
import { duration, plural } from '../output/words.ts';
import { examples } from './arguments.ts';
import { chosenDirectory, directoryOptions, withHint } from './directory-source.ts';
import { takeover } from './directory-takeover.ts';

const Skipped = z.object({ connection: z.string(), skipped: z.string() });
const Answer = z.object({ reports: z.tuple([z.union([DirectoryReadReport, Skipped])]) });

export function addDirectory(program: Command, act: Act): void {
  const directory = program
    .command('directory')
    .description('the directory that groupsync reads through its API')
    .addHelpText(...examples('directory status', 'directory groups', 'directory read'));
  directory
    .command('status')
    .description('show the number of groups and how far reading has come')
    .addHelpText(...examples('directory status', 'directory status --json'))
    .action(act(status));
  const groupsCommand = directory
    .command('groups')
    .description('list groups with state, last read, next read and problem')
    .option('--compare', 'read the directory and the platform, and show what a first run would change')
    .addHelpText(...examples('directory groups', 'directory groups --compare', 'directory groups --json'))
    .action(act(groups));
  const takeoverCommand = directory
    .command('takeover')
    .description('move groups from other sources to one source, with their platform groups')
    .addOption(
      new Option('--to <source>', 'the new source of the groups; events includes imported files')
        .choices(SOURCES)
        .default('directory'),
    )
    .option(
      '--map <file>',
      'CSV with the columns group,target: the id of a group, and its id in the new source',
    )
    .option('--same-ids', 'with --to events: the events use the ids of the directory')
    .option('--dry-run', 'show the groups, and change nothing')
    .addHelpText(
      ...examples(
        'directory takeover --to scim --dry-run',
        'directory takeover --directory google --administrator admin@acme.example --key key.json',
      ),
    )
    .action(act(takeover));
  directory
    .command('disconnect')
    .description('stop reading the directory, and delete its credential')
    .addHelpText(...examples('directory disconnect', 'directory disconnect --yes --json'))
    .action(act(disconnect));
  for (const command of [takeoverCommand, groupsCommand])
    for (const option of directoryOptions()) command.addOption(option);
  directory
    .command('read')
    .description('read the directory now, as the schedule does')
    .option('--full', 'read every group, also groups that are not due')
    .option('--accept-deletions', 'delete all groups that are missing in the directory, in any number')
    .addHelpText(...examples('directory read', 'directory read --full --json'))
    .action(act(read));
}

async function status({ out, connected }: Context): Promise<number> {
  const { ports, found } = await connected();
  const report = await readDirectoryStatus(found, ports);
  const { kind, states, differing, freshness, openMoves } = report;
  out.answer(report, () => {
    if (kind === null) out.line(`this connection reads no directory; setup: ${guidePages()}`);
    else for (const line of statusLines(report, kind, out.paint.red)) out.line(line);
    if (openMoves !== null) out.line(`moves: ${openMoves}`);
  });
  const hasFault = freshness !== null && needsAttention(freshness);
  if (hasFault) out.note('next: groupsync doctor --faults');
  const hasGroups = states.failing + states.missing + differing > 0;
  if (hasGroups) out.note('next: groupsync directory groups');
  return hasGroups || hasFault ? EXIT.attention : EXIT.done;
}

function statusLines(report: DirectoryStatus, kind: string, red: (text: string) => string) {
  const { groups: count, states, due, listedAt, oldestReadAt, otherSource, differing } = report;
  const { freshness } = report;
  const named = Object.entries(states).filter(([, number]) => number > 0);
  const parts = named.map(([state, number]) => `${number} ${state}`);
  const others = `${plural(otherSource, 'group')} of another source, ${differing} of them differ from the directory`;
  const lines = [`${kind}: ${plural(count, 'group')}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`];
  if (freshness !== null) {
    const text = formatSource(freshness, duration);
    lines.push(needsAttention(freshness) ? red(text) : text);
  }
  lines.push(`listed ${listedAt ?? 'never'}; oldest read ${oldestReadAt ?? 'none'}; due now: ${due}`);
  if (otherSource > 0) lines.push(others);
  return lines;
}

async function groups(context: Context, options: DirectoryOptions & { readonly compare?: boolean }) {
  if (options.compare === true) return compare(context, options);
  const { out, connected, names } = context;
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
        { title: 'problem', of: problemOf },
      ],
      'no directory groups yet',
    ),
  );
  return EXIT.done;
}

function problemOf({ problem, other, differs }: DirectoryGroupRow): string {
  if (problem !== null) return problem;
  if (other === null) return '';
  if (differs === null) return `another source owns it (${other})`;
  return `another source owns it (${other}): ${differs.added} missing, ${differs.removed} too many`;
}

const ACCEPT =
  'Delete the groups that are missing in the directory? Deletions above the limit of the guard are held until an operator approves them.';

/** The deployed function reads the directory, with its own permissions and lease. */
async function read(
  context: Context,
  { full = false, acceptDeletions }: { full?: boolean; acceptDeletions?: boolean },
): Promise<number> {
  const { out, connection } = context;
  const { ports, found } = await context.connected();
  if (acceptDeletions === true && !(await context.confirm(ACCEPT))) return EXIT.failed;
  if (acceptDeletions === true) await recordAcceptedDeletions(found.name, ports);
  out.note(`reading the directory of ${connection} …`);
  const ran = ports.functions
    .run('directory', { connection, full, acceptDeletions })
    .catch((cause: Error) => {
      if (!(cause instanceof FunctionFailed)) throw cause;
      throw new HintedError(cause.message, 'groupsync directory status');
    });
  const [report] = Answer.parse(await ran).reports;
  if ('skipped' in report) {
    out.answer(report, () => out.line(`not run: ${report.skipped}`));
    return EXIT.attention;
  }
  const { read: whole, sent, failed, waiting, deleted } = report;
  if (acceptDeletions === true) await recordDeletedGroups(found.name, deleted, ports);
  out.answer(report, () => {
    out.line(
      `${plural(whole, 'group')} read, ${sent} sent, ${failed} failed, ${waiting} left for the next run`,
    );
  });
  return failed > 0 ? EXIT.attention : EXIT.done;
}

async function disconnect(context: Context): Promise<number> {
  const { out } = context;
  const { ports, found } = await context.connected();
  const { name } = found;
  const kind = found.settings.directory?.kind ?? null;
  const answer: DirectoryDisconnection = { connection: name, kind };
  if (kind === null) {
    out.answer(answer, () => out.line(`${name} reads no directory`));
    return EXIT.done;
  }
  const plan = await planSettings(name, [{ key: 'directory', value: null }], ports);
  await refuseOwnerless(found, plan.next, ports);
  if (
    !(await context.confirm(`Stop reading the directory (${kind}) for ${name}, and delete its credential?`))
  )
    return EXIT.failed;
  await changeSettings(plan, ports);
  await ports.directoryApplicants.remove(name);
  out.answer(answer, () => out.line(`${name} does not read ${kind} any more; its groups stay as they are`));
  return EXIT.done;
}

async function compare(context: Context, options: DirectoryOptions): Promise<number> {
  const { out } = context;
  const { connection, kind, directory, ports } = await chosenDirectory(context, options);
  out.note(`reading the directory of ${connection.name} and the platform …`);
  const comparison = await withHint(compareDirectory(connection, directory, ports), kind);
  const { groups, changes, unmanaged, unmanagedCount } = comparison;
  out.answer(comparison, () => {
    out.line(totalsLine(comparison));
    out.table(
      groups.filter(({ action }) => action !== 'same'),
      [
        { title: 'group', of: ({ group, name }) => `${name} (${group})`, whole: 'id' },
        { title: 'would be', of: ({ action }) => ACTIONS[action] },
        { title: 'platform group', of: ({ platformId }) => platformId ?? '' },
        { title: 'added', of: ({ added }) => added, align: 'right' },
        { title: 'removed', of: ({ removed }) => removed, align: 'right' },
        { title: 'pending', of: ({ pending }) => pending, align: 'right' },
        { title: 'problem', of: ({ problem, other }) => problem ?? other ?? '' },
      ],
      'every compared platform group equals its directory group',
    );
    for (const { kind, groupName, user, email } of changes)
      out.line(`${kind === 'added' ? '+' : '-'} ${groupName}: ${email ?? user}`);
    if (unmanagedCount > 0)
      out.line(
        `${plural(unmanagedCount, 'platform group')} stay as they are: ${unmanaged
          .slice(0, MAX_NAMED)
          .map(({ name, platformId }) => name ?? platformId)
          .join(', ')}`,
      );
  });
  return EXIT.done;
}

const MAX_NAMED = 5;

const ACTIONS = {
  adopt: 'adopted',
  create: 'created',
  change: 'changed',
  same: 'left as it is',
  name_clash: 'name in use',
  other_source: 'left to its source',
  unreadable: 'not read',
} as const;

const totalsLine = ({ totals }: DirectoryComparison): string =>
  `${totals.adopt} adopted, ${totals.create} created, ${totals.change} changed, ${totals.same} same; ${plural(totals.added, 'member')} added, ${totals.removed} removed, ${totals.pending} pending`;
