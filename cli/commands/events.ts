import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import type { EventsReport, ImportReport } from '../../shared/contract/answers.ts';
import { type EventLine, sendEvents, validateEvents } from '../../shared/operate/events.ts';
import { importCsv } from '../../shared/operate/import/import.ts';
import type { Act } from '../act.ts';
import type { Context } from '../context.ts';
import { EXIT, UsageError } from '../io.ts';
import { plural } from '../output/words.ts';

export function addEvents(program: Command, act: Act): void {
  const events = program
    .command('events')
    .description('publish or check events, one JSON event a line')
    .addHelpText(
      'after',
      '\nExamples:\n  groupsync events validate mine.jsonl\n  groupsync events send mine.jsonl',
    );
  events
    .command('send')
    .description('publish a JSONL file; lines that would be refused are left out and reported')
    .argument('<file>', 'a path, or - for standard input')
    .action(act(send));
  events
    .command('validate')
    .description('check a JSONL file as ingest would; nothing is sent')
    .argument('<file>', 'a path, or - for standard input')
    .action(
      act(async (context, file: string) => {
        const report = await validateEvents(linesOf(context, file), { clock: Date.now });
        return showReport(context, report, 'would be sent', EXIT.failed);
      }),
    );
  program
    .command('import')
    .description('CSV (group id, group name, member id, email) → a snapshot of each group')
    .argument('<file.csv>', 'a path, or - for standard input')
    .option('--dry-run', 'check the whole file and say what would be sent')
    .option('-y, --yes', 'do not ask')
    .addHelpText(
      'after',
      `
The rows of a group may stand anywhere in the file. With a header the columns may have any order, and others are not
read; without one they are these four. A snapshot says who is in a group and who is not, so nothing is sent unless every
line can be read.

Examples:
  groupsync import members.csv --dry-run
  groupsync import members.csv --yes`,
    )
    .action(act(importFile));
}

async function send(context: Context, file: string): Promise<number> {
  const ports = await context.ports();
  const lines = linesOf(context, file);
  const { connection, connectionGiven } = context;
  const report = await sendEvents(lines, {
    ...(connectionGiven ? { connection } : {}),
    keptBy: connection,
    ports,
  });
  return showReport(context, report, 'sent', EXIT.attention);
}

async function* linesOf(context: Context, file: string): AsyncGenerator<EventLine> {
  let line = 0;
  const input = await openFile(context, file);
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1;
    const plain = line === 1 ? text.replace(/^\uFEFF/, '') : text;
    if (plain.trim() !== '') yield { line, text: plain };
  }
}

/** Opened before it is read: readline would pass over an error of its input in silence. */
async function openFile({ io }: Context, file: string): Promise<NodeJS.ReadableStream> {
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
  out.answer(report, () => {
    printErrors(report, out);
    out.line(`${plural(report.events, 'event')} in ${plural(report.messages, 'message')} ${verb}`);
  });
  return report.errorCount === 0 ? EXIT.done : onErrors;
}

const SHOWN_ERRORS = 20;

function printErrors({ errors, errorCount }: EventsReport, { line, paint }: Context['out']): void {
  for (const { line: at, message } of errors.slice(0, SHOWN_ERRORS))
    line(paint.red(`line ${at}: ${message}`));
  if (errorCount > SHOWN_ERRORS)
    line(`… and ${errorCount - SHOWN_ERRORS} more lines; --json lists up to 1000`);
}

async function importFile(
  context: Context,
  file: string,
  { dryRun = false }: { readonly dryRun?: boolean },
): Promise<number> {
  const { out, io, connection } = context;
  const sorter = await io.createSorter();
  const progress = out.progress('sending');
  const ports = dryRun ? offline() : await context.ports();
  const report = await importCsv(
    chunksOf(context, file),
    { ...ports, createSorter: () => sorter },
    {
      connection,
      dryRun,
      onProgress: progress.show,
      confirm: ({ rows, groups, messages, ignoredColumns }) => {
        if (ignoredColumns !== undefined) out.note(`columns not read: ${ignoredColumns.join(', ')}`);
        out.note(
          `${plural(rows, 'row')} → snapshots of ${plural(groups, 'group')} in ${plural(messages, 'message')}`,
        );
        out.note('whoever is in one of these groups now and not in the file will be taken out of it');
        return context.confirm('Publish them?');
      },
    },
  ).finally(progress.end);
  out.answer(report, () => printImport(report, context));
  if (report.errorCount > 0) return EXIT.failed;
  return report.sent || dryRun || report.rows === 0 ? EXIT.done : EXIT.failed;
}

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
  const { rows, groups, messages, sent, errorCount, ignoredColumns } = report;
  if (!sent && ignoredColumns !== undefined) out.line(`columns not read: ${ignoredColumns.join(', ')}`);
  const verb = errorCount > 0 ? 'nothing was sent:' : sent ? 'sent' : 'would be sent:';
  out.line(`${verb} ${plural(rows, 'row')}, ${plural(groups, 'group')}, ${plural(messages, 'message')}`);
  if (errorCount > 0) out.line(`${plural(errorCount, 'line')} to mend`);
}

async function* chunksOf(context: Context, file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const input = await openFile(context, file);
  try {
    for await (const chunk of input) yield decoder.decode(chunk as Buffer, { stream: true });
    yield decoder.decode();
  } catch (cause) {
    if (cause instanceof TypeError)
      throw new UsageError(`${file} is not UTF-8; save it as UTF-8 first`, { cause });
    throw cause;
  }
}
