import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ImportReport } from '../../shared/contract/answers/files.ts';
import { formatMoment } from '../../shared/contract/moment.ts';
import { tableName } from '../../shared/contract/names.ts';
import { namedAttributes } from '../../shared/contract/settings.ts';
import { createDirectory, type KnownNames } from '../../shared/directory/operate/import.ts';
import { groupFloor, NO_GROUP } from '../../shared/domain/group.ts';
import { laterStamp, stampTimeMs } from '../../shared/domain/stamp.ts';
import type { StateRule } from '../../shared/operate/import/account-state.ts';
import { COLUMN_KEYS, type Headings } from '../../shared/operate/import/columns.ts';
import { type Comparing, compareWithNow } from '../../shared/operate/import/compare.ts';
import type { FileKind } from '../../shared/operate/import/identify.ts';
import { type ImportPlan, importCsv } from '../../shared/operate/import/import.ts';
import { durationLines, importRate } from '../../shared/operate/import/rate.ts';
import { countedStates, type UnknownState } from '../../shared/operate/import/read-file.ts';
import type { Row } from '../../shared/operate/import/rows.ts';
import { planUndo } from '../../shared/operate/import/undo.ts';
import { recordRead } from '../../shared/operate/journal.ts';
import { exportGroups } from '../../shared/operate/members.ts';
import { NotFound } from '../../shared/operate/names.ts';
import { ofOtherSources } from '../../shared/operate/other-source.ts';
import type { Act, Context } from '../context.ts';
import { describeError } from '../describe-error.ts';
import { EXIT, Stopped, UsageError } from '../io.ts';
import { changeLines } from '../output/import-changes.ts';
import { plural, shellWord, shellWords, visible } from '../output/words.ts';
import { textChunks } from '../text-file.ts';
import { examples, moment, wholeNumber } from './arguments.ts';
import { printErrors, SHOWN } from './events.ts';
import { noExport, noteLeftOut } from './members.ts';

export function addImport(program: Command, act: Act): void {
  program
    .command('import')
    .description('publish a CSV file (group id, group name, member id, email) as a snapshot of each group')
    .argument('[file.csv]', 'a path, or - for standard input')
    .option('--undo <id>', 'instead change back the memberships that this import changed')
    .option('--reason <text>', 'reason, for the audit')
    .option('--columns <key=heading,...>', 'map columns to headings: group=…,member=…[,name=…,email=…]')
    .option(
      '--column-state <heading:value=state>',
      'whether accounts with this value are active or inactive; the value * is every other value; repeatable',
      stateRule,
    )
    .option(
      '--group <name>',
      'import only this group; or, for a file without a group column, the group of every row: id or name',
    )
    .addOption(new Option('--add', 'the file lists people to add; other members stay').conflicts('remove'))
    .option('--remove', 'the file lists people to remove; other members stay')
    .option('--skip-lines <count>', 'number of lines above the header to skip', wholeNumber)
    .option(
      '--as-of <time>',
      'time of the data, or now; later changes from the directory are kept (default: time of the file)',
    )
    .option('--delimiter <sign>', "column separator: ';', tab or another character", delimiter)
    .option('--dry-run', 'validate the file and show its effect; sends nothing')
    .addHelpText(
      'after',
      `
Files of Google Workspace, GAM, Entra ID and Okta are read as they were exported, in UTF-8, UTF-16 or Windows-1252. Columns are
found by their headings, in any order; other columns are not read. A file without a header must have the columns group id,
group name, member id and email. The rows of a group may be anywhere in the file. A snapshot lists all members of a group, so
a file with an unreadable line is not sent. People whose account is switched off are left out, except with --remove.

Examples:
  groupsync import members.csv --dry-run
  groupsync import members.csv --group Engineering --add
  groupsync import members.csv --as-of 2026-11-20T08:00:00Z
  groupsync import members.csv --columns 'group=Team,member=Work e-mail'
  groupsync import members.csv --column-state 'Worker Status:On leave=active'
  groupsync import --undo 019ab3c2f0de5b1c77d09a3e4f5d6c21-3f9a01bc77d0`,
    )
    .action(act(importOrUndo));
  program
    .command('undo')
    .description('bring back the members of an earlier time; also reverts later changes of the directory')
    .argument('<group>', 'id, name, or a prefix')
    .requiredOption('--to <time>', 'an ISO time, "yesterday 14:00" or "2h ago"')
    .option('--reason <text>', 'reason, for the audit')
    .option('--dry-run', 'show the effect; sends nothing')
    .addHelpText(...examples('undo 00g1 --to "2h ago"', 'undo Engineering --to 2026-11-24T14:00 --dry-run'))
    .action(act(undo));
}

async function importOrUndo(context: Context, file: string | undefined, flags: ImportFlags) {
  const { undo: id, ...ofFile } = flags;
  if (file !== undefined && id === undefined) return importFile(context, file, flags);
  const { dryRun, reason, ...others } = ofFile;
  if (file !== undefined || id === undefined || id.startsWith('-') || Object.keys(others).length > 0)
    throw new UsageError('expected a file, or only --undo ID');
  const { names, out, connected } = context;
  const { ports, found } = await connected();
  // `deliveries` shows the ids of the events, which are the id of the import with a number.
  const importId = id.replace(/\.\d+$/, '');
  const { rows, stays, waiting, asOf } = await planUndo(found.name, importId, ports);
  await recordRead(found.name, { what: 'plan' }, ports);
  const [groups, members] = [stays.map(({ group }) => group), stays.map(({ member }) => member)];
  const named = await names({ groups, members });
  for (const { group, member } of stays.slice(0, SHOWN))
    out.note(`stays, because of another event or group: ${named.member(member)} in ${named.group(group)}`);
  if (stays.length > SHOWN) out.note(`… and ${stays.length - SHOWN} more`);
  if (waiting > 0)
    out.note(`without effect yet, so the undo prevents them: ${plural(waiting, 'change')} of the import`);
  return importFile(
    context,
    `undo of import ${importId}`,
    { asOf, ...(dryRun && { dryRun }), ...(reason && { reason }) },
    {
      rows,
      nothing: 'no membership is as this import left it',
      report: { stays },
    },
  );
}

async function undo(
  context: Context,
  text: string,
  { to, ...flags }: { to: string; dryRun?: boolean; reason?: string },
) {
  const { out, connected, connection, groupLabel } = context;
  const { ports, found } = await connected();
  const atMs = moment(to, ports.clock());
  const ref = await context.group(text, atMs);
  const [other] = await ofOtherSources(found, [ref.group], ports);
  if (other?.source === 'directory')
    throw new NotFound(
      `nothing was changed: the directory reader owns the group ${ref.group}, and its next read would revert an undo; correct its members in the directory; to stop the writes meanwhile: groupsync pause ${shellWords(ref.group)}`,
    );
  const report = await exportGroups([ref], { connection: found, ports }, atMs);
  const [past] = report.groups;
  if (past === undefined) throw new NotFound(`nothing was changed: ${noExport(ref.group)}`);
  await recordRead(connection, { what: 'export', group: ref.group }, ports);
  noteLeftOut(past, to, out);
  out.note(SOURCES[other?.source ?? 'events']);
  const { group, name, members, unresolved } = past;
  const [state, registers] = await Promise.all([ports.groups.read(ref), ports.groups.members(ref)]);
  const floor = groupFloor(state?.registers ?? NO_GROUP);
  // The time of an event may be ahead of the clock.
  const last = registers.reduce((stamp, one) => laterStamp(stamp, one.stamp), floor);
  const asOf = new Date(Math.max(ports.clock(), stampTimeMs(last) + 1)).toISOString();
  return importFile(
    context,
    `undo to ${new Date(atMs).toISOString()}`,
    { ...flags, asOf },
    {
      rows: members.map(({ id }) => ({ line: 0, group, name, member: id, email: '' })),
      nothing: `${await groupLabel(ref)} has its members of ${formatMoment(atMs)}`,
      undoneSinceMs: atMs,
      report: { unresolved },
    },
  );
}

const SOURCES = {
  events: 'the source may revert this with its next change of the group',
  scim: 'the SCIM client may never correct this, or revert it with its next change: repeat the change there',
};

interface ImportFlags {
  readonly dryRun?: boolean;
  readonly columns?: string;
  readonly columnState?: readonly StateRule[];
  readonly group?: string;
  readonly add?: boolean;
  readonly remove?: boolean;
  readonly skipLines?: number;
  readonly asOf?: string;
  readonly delimiter?: string;
  readonly undo?: string;
  readonly reason?: string;
}

interface Undo extends Pick<Comparing, 'undoneSinceMs'> {
  readonly rows: readonly Row[];
  readonly nothing: string;
  readonly report: Pick<ImportReport, 'stays' | 'unresolved'>;
}

/** @param given the undo to send instead of the file: `file` is then only its description */
async function importFile(context: Context, file: string, flags: ImportFlags, given?: Undo): Promise<number> {
  const { dryRun = false, columns, asOf, skipLines } = flags;
  const { out, io, connection } = context;
  const headings = columns === undefined ? undefined : headingsOf(columns);
  const kind = kindOf(flags);
  const { parseCsv } = await import('../csv.ts');
  const progress = out.progress('sending');
  const { ports, found } = await context.connected();
  if (given === undefined) await recordRead(connection, { what: 'plan' }, ports);
  const directory = createDirectory(found, ports);
  const group = await givenGroup(context, flags, directory);
  const text = textChunks(io, file, { onRecognised: (encoding) => out.note(`read as ${encoding}`) });
  const records = parseCsv(text, {
    delimiter: flags.delimiter,
    skipLines,
    onRecognised: (name) => out.note(`column separator: ${name}, detected from the first lines`),
  });
  const table = given === undefined ? await tableOf(context) : undefined;
  const report = await importCsv(given?.rows ?? records, ports, {
    connection,
    file: file === '-' ? 'standard input' : basename(file),
    dryRun,
    kind,
    columns: headings,
    stateRules: flags.columnState,
    attributes: namedAttributes(found.settings),
    refuseStates,
    group,
    directory,
    asOf: asOf === 'now' ? undefined : (asOf ?? (await modificationTime(resolve(io.cwd, file)))),
    reason: flags.reason,
    compare: (rows, comparing) =>
      compare(context, rows, { ...comparing, kind, undoneSinceMs: given?.undoneSinceMs }),
    perSecond: importRate(table?.warmUnits),
    onProgress: progress.show,
    signal: io.signal,
    confirm: async (plan) => {
      if (isNothing(plan, given)) return false;
      for (const line of await planLines(context, plan, kind, given)) out.note(line);
      for (const line of durationLines(plan.rows, table)) out.note(line);
      if (io.signal.aborted) throw new Stopped();
      return context.confirm('Send these messages?');
    },
  }).finally(progress.end);
  const document = { ...report, ...given?.report };
  if (given !== undefined && isNothing(report, given)) {
    out.answer(document, () => undefined);
    out.note(`nothing to undo: ${given.nothing}`);
    return EXIT.done;
  }
  const changes = dryRun ? await changeLines(context, report.comparison) : [];
  out.answer(document, (shown) => {
    for (const line of changes) out.line(line);
    printImport(shown, context, given);
  });
  const lasts = dryRun ? durationLines(report.rows, table) : [];
  for (const step of [...lasts, ...nextSteps(report)]) out.note(step);
  return exitCodeOf(report, dryRun);
}

/** Credentials that may not describe the table can import too. */
async function tableOf({ prefix, ports }: Context) {
  const { warmUnits = undefined } = (await (await ports()).deployment.table().catch(() => {})) ?? {};
  return { tableName: tableName(prefix), warmUnits };
}

function isNothing({ rows, comparison }: Pick<ImportPlan, 'rows' | 'comparison'>, given?: Undo): boolean {
  if (given === undefined) return false;
  const changes =
    given.undoneSinceMs === undefined ? rows : (comparison?.added ?? 1) + (comparison?.removed ?? 0);
  return changes === 0;
}

async function planLines(context: Context, plan: ImportPlan, kind: FileKind, given?: Undo) {
  const { rows, groups, messages, comparison } = plan;
  const lines = [...fileLines(plan), ...(await changeLines(context, comparison))];
  if (given !== undefined) return lines;
  const what = `${CONTENT[kind]} ${plural(groups, 'group')} in ${plural(messages, 'message')}`;
  lines.push(`${plural(rows, 'row')} → ${what}`);
  if (kind === 'snapshot')
    lines.push('members that are not in the file will be removed, except removals that the guard holds');
  return lines;
}

const nextSteps = ({ sent, comparison, importId }: ImportReport): readonly string[] => [
  ...(sent && importId !== undefined ? [`to undo this import: groupsync import --undo ${importId}`] : []),
  ...(sent && (comparison?.held.length ?? 0) > 0 ? ['next: groupsync holds'] : []),
];

function exitCodeOf({ errorCount, refusedCount, unsent, sent, comparison }: ImportReport, dryRun: boolean) {
  if (errorCount > 0) return EXIT.failed;
  if (!sent && !dryRun) return EXIT.failed;
  const isOld = (comparison?.changedSince?.length ?? 0) > 0;
  const isPartial = (unsent ?? refusedCount ?? comparison?.otherSources) !== undefined;
  return isPartial || isOld ? EXIT.attention : EXIT.done;
}

function fileLines({
  ignoredColumns,
  noPeople = 0,
  switchedOff = [],
  refused = [],
  refusedCount = 0,
  otherGroups = 0,
}: ImportPlan): readonly string[] {
  const lines: string[] = [];
  if (ignoredColumns !== undefined) lines.push(`columns not read: ${ignoredColumns.join(', ')}`);
  if (otherGroups > 0) lines.push(`${plural(otherGroups, 'row')} of other groups skipped`);
  if (noPeople > 0)
    lines.push(`${plural(noPeople, 'row')} skipped: nested group, device or example, not a person`);
  if (switchedOff.length > 0) {
    const rows = switchedOff.reduce((sum, state) => sum + state.rows, 0);
    lines.push(`${plural(rows, 'row')} skipped: account switched off (${countedStates(switchedOff)})`);
  }
  if (refusedCount > 0) {
    lines.push(`${plural(refusedCount, 'line')} refused; the memberships of these members do not change:`);
    for (const { line, message } of refused.slice(0, SHOWN)) lines.push(`  line ${line}: ${message}`);
  }
  return lines;
}

const CONTENT: Readonly<Record<FileKind, string>> = {
  snapshot: 'snapshots of',
  add: 'people to add to',
  remove: 'people to remove from',
};

function kindOf({ add, remove }: ImportFlags): FileKind {
  if (add) return 'add';
  return remove ? 'remove' : 'snapshot';
}

function delimiter(text: string): string {
  const sign = /^(?:tab|\\t)$/.test(text) ? '\t' : text;
  if ([...sign].length === 1 && !/["\n\r]/.test(sign)) return sign;
  throw new InvalidArgumentError('expected one character, or tab');
}

function headingsOf(text: string): Headings {
  const headings = text.split(',').map((part) => {
    const [key = '', ...heading] = part.split('=');
    const column = COLUMN_KEYS.get(key.trim());
    if (column !== undefined && heading.join('=').trim() !== '') return [column, heading.join('=')] as const;
    throw new UsageError(`--columns: expected ${[...COLUMN_KEYS.keys()].join('=…,')}=…, got "${part}"`);
  });
  return new Map(headings);
}

/** Returns undefined for standard input, which has no modification time. */
const modificationTime = async (path: string) =>
  (await stat(path).catch(() => undefined))?.mtime.toISOString();

async function givenGroup(
  { out }: Context,
  { group: text, add, remove }: ImportFlags,
  directory: KnownNames,
) {
  if (text === undefined) return undefined;
  if (text.trim() === '') throw new UsageError('--group: expected the id or name of a group, got nothing');
  const group = await directory.groupOf(text.trim());
  if ('ids' in group)
    throw new UsageError(`--group: "${text}" is the name of ${group.ids.join(', ')}; give the id`);
  if (group.isKnown === false && !add && !remove)
    out.note(`--group: no group is named "${text}" yet; the import creates it`);
  return group;
}

/** @returns undefined if the file cannot be compared. @throws UsageError for a time before the last erasure */
async function compare(context: Context, rows: readonly Row[], comparing: Comparing) {
  const { asOf } = comparing;
  const { ports, found } = await context.connected();
  const since = new Date(found.eventsSinceMs ?? 0).toISOString();
  if (new Date(asOf) < new Date(since))
    throw new UsageError(
      `as of: expected a time after ${since}, when all data of ${found.name} was erased, got ${asOf}; if the file is current, use --as-of now`,
    );
  return compareWithNow(rows, comparing, found, ports).catch((error: unknown) => {
    context.out.note(
      `not compared with the current state: ${describeError(error).text.replaceAll('\n', ' ')}`,
    );
    return undefined;
  });
}

function verbOf({ sent, errorCount }: ImportReport): string {
  if (errorCount > 0) return 'nothing was sent:';
  return sent ? 'sent' : 'would be sent:';
}

function printImport(report: ImportReport, { out }: Context, given?: Undo): void {
  printErrors(report, out);
  const { rows, groups, messages, sent, errorCount, unsent } = report;
  if (unsent !== undefined) {
    const total = plural(messages + unsent, 'message');
    out.line(`stopped after ${messages} of ${total}; the same command can safely be repeated`);
    return;
  }
  if (!sent) for (const line of fileLines(report)) out.line(line);
  const what = given === undefined ? plural(rows, 'row') : 'the undo';
  out.line(`${verbOf(report)} ${what}, ${plural(groups, 'group')}, ${plural(messages, 'message')}`);
  if (errorCount > 0) out.line(`${plural(errorCount, 'line')} with errors`);
}

function stateRule(text: string, before: readonly StateRule[] = []): readonly StateRule[] {
  const [, of, state] = /^(.+:.*)=(active|inactive)$/i.exec(text) ?? [];
  if (of === undefined)
    throw new InvalidArgumentError('expected HEADING:VALUE=active or HEADING:VALUE=inactive');
  return [...before, { text: of, state: state?.toLowerCase() === 'active' ? 'active' : 'inactive' }];
}

/** With more unknown values, the column is probably not about accounts, and one option decides about all values. */
const MAX_STATES = 10;

/** @throws UsageError with the options that decide about these states of accounts */
function refuseStates(unknown: readonly UnknownState[]): never {
  const rest = unknown.length - MAX_STATES;
  const columns = [...new Set(unknown.map(({ column }) => column))];
  const option = (column: string, value: string) =>
    `--column-state ${shellWord(`${column}:${value}=active`)}`;
  const placed = ({ line, column, value, rows }: UnknownState) =>
    `  line ${line}: column "${visible(column)}" has "${visible(value)}" (${plural(rows, 'row')}); ${option(column, value)}`;
  const lines = [
    'expected states of accounts that import knows, such as ACTIVE or SUSPENDED, got:',
    ...unknown.slice(0, MAX_STATES).map(placed),
    ...(rest > 0 ? [`  … and ${plural(rest, 'more value')}`] : []),
    'the options import these people; with =inactive instead of =active, import leaves the people out',
    `if a column is not about accounts: ${columns.map((column) => option(column, '*')).join(' ')}`,
  ];
  throw new UsageError(lines.join('\n'));
}
