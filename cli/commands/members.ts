import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { ExportReport, GroupMember, PastMember } from '../../shared/contract/answers/groups.ts';
import { csvLine } from '../../shared/contract/csv.ts';
import { formatMoment } from '../../shared/contract/moment.ts';
import { recordRead } from '../../shared/operate/journal.ts';
import { exportGroups, listMembers } from '../../shared/operate/members.ts';
import { allGroups, NotFound, withId } from '../../shared/operate/names.ts';
import { listPastMembers, whatIsKnown } from '../../shared/operate/past.ts';
import type { Act, Context } from '../context.ts';
import { EXIT, UsageError } from '../io.ts';
import type { Column } from '../output/table.ts';
import { plural, shellWord, shellWords } from '../output/words.ts';
import { examples, moment } from './arguments.ts';
import { SHOWN } from './events.ts';

export function addMembers(program: Command, act: Act): void {
  program
    .command('members')
    .description('list members of a group: whether each is on the platform, and why')
    .argument('<group>', 'id, name, or a prefix')
    .option('--at <time>', 'at an earlier time: an ISO time, "yesterday 14:00" or "2h ago"')
    .addHelpText(
      ...examples('members Engineering', 'members 00g1 --output csv', 'members 00g1 --at "2h ago"'),
    )
    .action(act(showMembers));
  program
    .command('diff')
    .description('show who joined and left a platform group between two times')
    .argument('<group>', 'id, name, or a prefix')
    .requiredOption('--from <time>', 'an ISO time, "yesterday 14:00" or "2h ago"')
    .option('--to <time>', 'the later time', '0s ago')
    .addHelpText(
      ...examples('diff Engineering --from yesterday', 'diff 00g1 --from 2026-11-16 --to "2h ago"'),
    )
    .action(
      act((context, text: string, { from, to }: { from: string; to: string }) =>
        showPast(context, text, [from, to]),
      ),
    );
  program
    .command('export')
    .description('export the members of a group in the directory, as a file for import')
    .argument('[group]', 'id, name, or a prefix')
    .option('--all', 'every group of the connection')
    .option('--at <time>', 'the members on the platform at an earlier time, as in members --at')
    .option('--file <path>', 'write to this file instead of standard output')
    .addHelpText(
      ...examples('export Engineering --at yesterday > engineering.csv', 'export --all --file groups.csv'),
    )
    .action(act(exportMembers));
}

async function showMembers(context: Context, text: string, { at }: { at?: string }): Promise<number> {
  if (at !== undefined) return showPast(context, text, [at]);
  const { out } = context;
  const { ports, found } = await context.connected();
  const ref = await context.group(text);
  const report = await listMembers(ref, { connection: found, ports });
  await recordRead(found.name, { what: 'members', group: ref.group }, ports);
  const absent = report.members.filter(({ wanted, present }) => wanted && !present);
  out.answer(report, ({ members, name }) => {
    out.table(members, MEMBER_COLUMNS, 'this group has no members');
    const there = members.filter(({ present }) => present).length;
    out.line(
      `${withId(name ?? undefined, ref.group)}: ${plural(members.length, 'person', 'people')}, ${there} on the platform`,
    );
  });
  const [first] = absent;
  if (first?.member != null) out.note(`next: groupsync explain ${shellWords(ref.group, first.member)}`);
  return EXIT.done;
}

async function showPast(context: Context, text: string, moments: readonly string[]): Promise<number> {
  const { out } = context;
  const { ports, found } = await context.connected();
  const nowMs = ports.clock();
  const times = moments.map((one) => moment(one, nowMs));
  const [fromMs = nowMs, toMs = fromMs] = times;
  if (fromMs > toMs)
    throw new UsageError(`expected --from before --to, got ${times.map(formatMoment).join(' and ')}`);
  const ref = await context.group(text, fromMs);
  const past = await listPastMembers(ref, times, ports);
  await recordRead(found.name, { what: 'members', group: ref.group }, ports);
  const { known, group, name } = past;
  const members = past.members.filter(({ states }) => states.length === 1 || new Set(states).size > 1);
  out.answer({ ...past, members }, () => {
    const isCertain = members.every(({ changedBetween }) => changedBetween === null);
    const columns = isCertain ? PAST_COLUMNS : [...PAST_COLUMNS, WHEN_UNCERTAIN];
    if (known) out.table(members, columns, times.length === 1 ? 'no members' : 'no difference');
    const when = times.map(formatMoment).join(' → ');
    const count = known ? plural(members.length, 'person', 'people') : 'not known';
    out.line(`${withId(name ?? undefined, group)}, ${when}: ${count}`);
  });
  if (!known) out.note(whatIsKnown(past));
  return known ? EXIT.done : EXIT.attention;
}

const PAST_COLUMNS: readonly Column<PastMember>[] = [
  { title: 'member', of: ({ member, name, user }) => withId(name ?? undefined, member ?? user), whole: 'id' },
  { title: 'as', of: ({ user }) => user },
  { title: 'in the group', of: ({ states }) => states.join(' → ') },
];
const WHEN_UNCERTAIN: Column<PastMember> = {
  title: 'changed between',
  of: ({ changedBetween }) => (changedBetween ?? []).map((at) => formatMoment(Date.parse(at))).join(' and '),
};

const MEMBER_COLUMNS: readonly Column<GroupMember>[] = [
  {
    title: 'member',
    of: ({ member, name, email, user }) => {
      const called = name !== null && email !== null ? `${name} <${email}>` : (name ?? email ?? undefined);
      return withId(called, member ?? user ?? '');
    },
    whole: 'id',
  },
  { title: 'on the platform', of: ({ present }) => (present ? 'yes' : 'no') },
  { title: 'as', of: ({ user }) => user },
  { title: 'state', of: ({ outcome }) => outcome },
  { title: 'because', of: ({ because }) => because },
];

interface ExportFlags {
  readonly all?: boolean;
  readonly file?: string;
  readonly at?: string;
}

async function exportMembers(
  context: Context,
  text: string | undefined,
  { all = false, ...flags }: ExportFlags,
): Promise<number> {
  if ((text === undefined) !== all) throw new UsageError('expected a group or --all');
  const { file, at } = flags;
  const { out, io, connection } = context;
  const { ports, found } = await context.connected();
  const atMs = at === undefined ? undefined : moment(at, ports.clock());
  const refs = text === undefined ? await allGroups(connection, ports) : [await context.group(text, atMs)];
  const report = await exportGroups(refs, { connection: found, ports }, atMs);
  const [only] = report.leftOut;
  if (!all && only !== undefined) throw new NotFound(`nothing to export: ${noExport(only)}`);
  await recordRead(connection, { what: 'export', group: all ? undefined : refs[0]?.group }, ports);
  const csv = csvOf(report);
  if (file !== undefined) writeFileSync(resolve(io.cwd, file), csv, { mode: 0o600 });
  else if (!out.json) io.stdout.write(csv);
  if (out.json) out.answer(report, () => undefined);
  noteExport(report, flags, out);
  return report.unknown === undefined ? EXIT.done : EXIT.attention;
}

export const noExport = (group: string): string =>
  `expected a group of the directory with a name, without groups in it, of its present source, and with members at the given time; the group ${group} lacks one of these`;

function noteExport(
  { groups, leftOut }: ExportReport,
  { file, at }: ExportFlags,
  { note }: Pick<Context['out'], 'note'>,
): void {
  const members = groups.reduce((sum, one) => sum + one.members.length, 0);
  const where = file === undefined ? '' : ` written to ${file}`;
  note(`${plural(groups.length, 'group')}, ${plural(members, 'membership')}${where}`);
  if (leftOut.length > 0)
    note(
      `${plural(leftOut.length, 'group')} skipped: deleted in the directory, without a name, moved to another source, with groups in it, or without members at this time that are known`,
    );
  for (const one of groups) noteLeftOut(one, String(at), { note });
  if (file !== undefined) note(`to import this file: groupsync import --as-of now ${shellWords(file)}`);
}

export function noteLeftOut(
  { group, unresolved }: ExportReport['groups'][number],
  at: string,
  { note }: Pick<Context['out'], 'note'>,
): void {
  for (const { member, name, user, because } of unresolved.slice(0, SHOWN))
    note(`left out of ${group}: ${withId(name ?? undefined, member ?? user)}: ${because}`);
  if (unresolved.length > SHOWN)
    note(
      `… and ${unresolved.length - SHOWN} more: groupsync members --at ${shellWord(at)} ${shellWords(group)}`,
    );
}

/** Returns one row per membership. A group without members has one row with only its id and name. */
function csvOf({ groups }: ExportReport): string {
  const rows = groups.flatMap(({ group, name, members }) =>
    members.length === 0
      ? [[group, name, '', '']]
      : members.map(({ id, email }) => [group, name, id, email ?? '']),
  );
  const lines = [['group id', 'group name', 'member id', 'email'], ...rows];
  return lines.map((row) => `${csvLine(row)}\n`).join('');
}
