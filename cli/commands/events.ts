import { open, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { type Command, InvalidArgumentError } from 'commander';
import type { EventsReport, ImportComparison, ImportReport } from '../../shared/contract/answers.ts';
import { type EventLine, sendEvents, validateEvents } from '../../shared/operate/events.ts';
import { compareWithNow } from '../../shared/operate/import/compare.ts';
import { importCsv } from '../../shared/operate/import/import.ts';
import { COLUMN_KEYS, type Headings, type Row } from '../../shared/operate/import/rows.ts';
import { withId } from '../../shared/operate/names.ts';
import type { Act, Context } from '../context.ts';
import { describeError } from '../describe-error.ts';
import { EXIT, Stopped, UsageError } from '../io.ts';
import { linesIn } from '../lines.ts';
import { clashLines } from '../output/clashes.ts';
import { plural, shellWord, shellWords } from '../output/words.ts';
import { examples } from './arguments.ts';

export function addEvents(program: Command, act: Act): void {
  const events = program
    .command('events')
    .description('publish or check events, one JSON event a line')
    .addHelpText(...examples('events validate mine.jsonl', 'events send mine.jsonl'));
  events
    .command('send')
    .description('publish a JSONL file; lines that would be refused are left out and reported')
    .argument('<file>', 'a path, or - for standard input')
    .addHelpText(...examples('events send mine.jsonl', 'events send - --json'))
    .action(act(send));
  events
    .command('validate')
    .description('check a JSONL file as ingest would; nothing is sent')
    .argument('<file>', 'a path, or - for standard input')
    .addHelpText(...examples('events validate mine.jsonl', 'events validate - --json'))
    .action(
      act(async (context, file: string) => {
        const report = await validateEvents(linesOf(context, file), { clock: Date.now });
        if (context.io.signal.aborted) throw new Stopped();
        return showReport(context, report, 'would be sent', EXIT.failed);
      }),
    );
  program
    .command('import')
    .description('CSV (group id, group name, member id, email) → a snapshot of each group')
    .argument('<file.csv>', 'a path, or - for standard input')
    .option(
      '--columns <key=heading,...>',
      'where columns are called otherwise: group=…,member=…[,name=…,email=…]',
    )
    .option(
      '--as-of <time>',
      'when the file was true, or now; what the directory said since stands (default: its own time)',
    )
    .option('--delimiter <sign>', "what separates the columns: ';', tab or another sign", delimiter)
    .option('--dry-run', 'check the whole file and say what would change; sends nothing')
    .addHelpText(
      'after',
      `
The rows of a group may stand anywhere in the file. Semicolons and tabs between columns are recognised. With a header the columns may have any order, and others are not
read; without one they are these four. A snapshot says who is in a group and who is not, so nothing is sent unless every
line can be read.

Examples:
  groupsync import members.csv --dry-run
  groupsync import members.csv --as-of 2026-11-20T08:00:00Z
  groupsync import members.csv --columns 'group=Team,member=Work e-mail'`,
    )
    .action(act(importFile));
}

async function send(context: Context, file: string): Promise<number> {
  const ports = await context.ports();
  const { connection, connectionGiven, io } = context;
  const options = { ...(connectionGiven && { connection }), keptBy: connection, signal: io.signal };
  const report = await sendEvents(linesOf(context, file), options, ports);
  return showReport(context, report, 'sent', EXIT.attention);
}

async function* linesOf(context: Context, file: string): AsyncGenerator<EventLine> {
  let line = 0;
  try {
    for await (const text of linesIn(chunksOf(context, file))) {
      line += 1;
      if (text.trim() !== '') yield { line, text };
    }
  } catch (cause) {
    // Whoever stopped it says where.
    if (!(cause instanceof Stopped)) throw cause;
  }
}

async function openFile({ io }: Context, file: string): Promise<Readable> {
  if (file === '-') return io.stdin;
  try {
    const handle = await open(resolve(io.cwd, file));
    if ((await handle.stat()).isFile()) return handle.createReadStream();
    await handle.close();
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw new UsageError(isMissing ? `there is no file ${file}` : `${file}: ${(cause as Error).message}`, {
      cause,
    });
  }
  throw new UsageError(`${file} is not a file`);
}

function showReport({ out }: Context, report: EventsReport, verb: string, onErrors: number): number {
  out.answer(report, (shown) => {
    printErrors(shown, out);
    out.line(`${plural(report.events, 'event')} in ${plural(report.messages, 'message')} ${verb}`);
  });
  return report.errorCount === 0 ? EXIT.done : onErrors;
}

/** Lines of one kind. */
const SHOWN = 20;

function printErrors({ errors, errorCount }: EventsReport, { line, paint }: Context['out']): void {
  for (const { line: at, message } of errors.slice(0, SHOWN)) line(paint.red(`line ${at}: ${message}`));
  if (errorCount > SHOWN) line(`… and ${errorCount - SHOWN} more lines; --json lists up to 1000`);
}

async function importFile(
  context: Context,
  file: string,
  { dryRun = false, columns, asOf, delimiter: sign }: ImportFlags,
): Promise<number> {
  const { out, io, connection } = context;
  const headings = columns === undefined ? undefined : headingsOf(columns);
  const { parseCsv } = await import('../csv.ts');
  const progress = out.progress('sending');
  const ports = dryRun ? offline() : await context.ports();
  const report = await importCsv(
    parseCsv(chunksOf(context, file), {
      delimiter: sign,
      onRecognised: (name) => out.note(`${name} between the columns, as the first line has them`),
    }),
    ports,
    {
      connection,
      dryRun,
      columns: headings,
      asOf: asOf === 'now' ? undefined : (asOf ?? (await timeOf(resolve(io.cwd, file)))),
      compare: (...read) => compare(context, ...read),
      onProgress: progress.show,
      signal: io.signal,
      confirm: async ({ rows, groups, messages, ignoredColumns, comparison }) => {
        if (ignoredColumns !== undefined) out.note(`columns not read: ${ignoredColumns.join(', ')}`);
        for (const line of await changeLines(context, comparison)) out.note(line);
        out.note(
          `${plural(rows, 'row')} → snapshots of ${plural(groups, 'group')} in ${plural(messages, 'message')}`,
        );
        out.note('whoever is in one of these groups now and not in the file will be taken out of it');
        if (io.signal.aborted) throw new Stopped();
        return context.confirm('Publish them?');
      },
    },
  ).finally(progress.end);
  const changes = dryRun ? await changeLines(context, report.comparison) : [];
  out.answer(report, (shown) => {
    for (const line of changes) out.line(line);
    printImport(shown, context);
  });
  if (report.columns !== undefined) {
    out.note('say what the columns are; a guess, of these headings:');
    const given = Object.entries({ delimiter: sign, 'as-of': asOf, columns: report.columns })
      .flatMap(([flag, value]) => (value ? `--${flag} ${shellWord(value)}` : []))
      .join(' ');
    out.note(`next: groupsync import ${given} --dry-run ${shellWords(file)}`);
  }
  if (report.sent && (report.comparison?.held.length ?? 0) > 0) out.note('next: groupsync holds');
  if (report.errorCount > 0) return EXIT.failed;
  if (report.unsent !== undefined) return EXIT.attention;
  return report.sent || dryRun ? EXIT.done : EXIT.failed;
}

interface ImportFlags {
  readonly dryRun?: boolean;
  readonly columns?: string;
  readonly asOf?: string;
  readonly delimiter?: string;
}

function delimiter(text: string): string {
  const sign = /^(?:tab|\\t)$/.test(text) ? '\t' : text;
  if ([...sign].length === 1 && !/["\n\r]/.test(sign)) return sign;
  throw new InvalidArgumentError('expected one sign, or tab');
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

/** Standard input has none. */
const timeOf = async (path: string) => (await stat(path).catch(() => undefined))?.mtime.toISOString();

/** A file can be checked where there is nothing to hold it against. */
async function compare(context: Context, rows: readonly Row[], asOf: string) {
  try {
    const { ports, found } = await context.connected();
    const since = new Date(found.eventsSinceMs ?? 0).toISOString();
    if (new Date(asOf) < new Date(since))
      throw new UsageError(
        `as of: expected a time after ${since}, when all that ${found.name} had was erased, got ${asOf}; --as-of now says that the file is true today`,
      );
    return await compareWithNow(rows, asOf, found, ports);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    context.out.note(`not held against what is true now: ${describeError(error).text.replaceAll('\n', ' ')}`);
    return undefined;
  }
}

const SIGNS = { added: '+', removed: '−', unmatched: '?' } as const;

async function changeLines(context: Context, comparison: ImportComparison | undefined) {
  if (comparison === undefined) return [];
  const { added, removed, unmatched, held, changes, renamed, clashes } = context.out.shown(comparison);
  const names = await context.names({
    groups: [...held, ...changes.map(({ group }) => group)],
    members: changes.map(({ member }) => member),
  });
  const listed = (['removed', 'unmatched', 'added'] as const).flatMap((wanted) => {
    const some = changes.filter(({ kind }) => kind === wanted).slice(0, SHOWN);
    const rest = comparison[wanted] - some.length;
    const lines = some.map(({ group, groupName, member, email }) => {
      const who = sayKnown(names.member(member), member, email);
      return `${SIGNS[wanted]} ${who} in ${sayKnown(names.group(group), group, groupName)}`;
    });
    return rest > 0 ? [...lines, `${SIGNS[wanted]} … and ${rest} more`] : lines;
  });
  return [
    ...listed,
    `${added} in (+), ${removed} out (−), ${unmatched} of those in match nobody on the platform (?)`,
    ...renamed
      .slice(0, SHOWN)
      .map(({ group, before, groupName }) => `${withId(before, group)} will be called ${groupName}`),
    ...(renamed.length > SHOWN ? [`… and ${renamed.length - SHOWN} more groups will be renamed`] : []),
    ...held.map((group) => `the guard would hold the removals of ${names.group(group)}`),
    ...(clashes === null
      ? ['the platform could not be checked for groups with the same names']
      : clashLines(clashes)),
    ...(clashes !== null && clashes.length > 0 ? adoptionLines(context) : []),
  ];
}

/** A single group can be adopted once the directory has it, and before apply has created another. */
const adoptionLines = ({ connection }: Context): readonly string[] => [
  `  to adopt every group whose name is exactly the same and unique, first: groupsync connections set ${connection} adoptExisting=byName`,
  '  to adopt single groups, first: groupsync pause',
  '  after the import, run the commands above, and then: groupsync resume',
];

/** Whom the directory has not named is named by the file. */
const sayKnown = (known: string, id: string, said: string | null) =>
  known === id ? withId(said ?? undefined, id) : known;

/** A dry run needs no deployment. */
const unused = () => Promise.reject(new Error('a dry run sends nothing'));
const offline = () => ({
  events: { send: unused },
  audit: { record: unused, head: unused, endWith: unused },
  caller: unused,
  clock: Date.now,
  newId: () => 'dry-run',
});

function printImport(report: ImportReport, { out }: Context): void {
  printErrors(report, out);
  const { rows, groups, messages, sent, errorCount, ignoredColumns, unsent } = report;
  if (unsent !== undefined) {
    const total = plural(messages + unsent, 'message');
    out.line(`stopped after ${messages} of ${total}; the same import again does no harm`);
    return;
  }
  if (!sent && ignoredColumns !== undefined) out.line(`columns not read: ${ignoredColumns.join(', ')}`);
  const verb = errorCount > 0 ? 'nothing was sent:' : sent ? 'sent' : 'would be sent:';
  out.line(`${verb} ${plural(rows, 'row')}, ${plural(groups, 'group')}, ${plural(messages, 'message')}`);
  if (errorCount > 0) out.line(`${plural(errorCount, 'line')} to mend`);
}

async function* chunksOf(context: Context, file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const { signal } = context.io;
  const input = addAbortSignal(signal, await openFile(context, file));
  try {
    for await (const chunk of input) yield decoder.decode(chunk as Buffer, { stream: true });
    yield decoder.decode();
  } catch (cause) {
    if (signal.aborted) throw new Stopped();
    if (cause instanceof TypeError)
      throw new UsageError(`${file} is not UTF-8; save it as UTF-8 first`, { cause });
    throw cause;
  }
}
