import type { Command } from 'commander';
import type { EventsReport } from '../../shared/contract/answers/files.ts';
import { type EventLine, sendEvents, type Validating, validateEvents } from '../../shared/operate/events.ts';
import type { Act, Context } from '../context.ts';
import { describeError } from '../describe-error.ts';
import { EXIT, Stopped } from '../io.ts';
import { linesIn } from '../lines.ts';
import { plural } from '../output/words.ts';
import { utf8Chunks } from '../text-file.ts';
import { examples } from './arguments.ts';

export function addEvents(program: Command, act: Act): void {
  const events = program
    .command('events')
    .description('publish or validate events, one JSON event per line')
    .addHelpText(...examples('events validate mine.jsonl', 'events send mine.jsonl'));
  events
    .command('send')
    .description('publish a JSONL file; invalid lines are skipped and reported')
    .argument('<file>', 'a path, or - for standard input')
    .addHelpText(...examples('events send mine.jsonl', 'events send - --json'))
    .action(act(send));
  events
    .command('validate')
    .description('validate a JSONL file; sends nothing')
    .argument('<file>', 'a path, or - for standard input')
    .addHelpText(...examples('events validate mine.jsonl', 'events validate - --json'))
    .action(
      act(async (context, file: string) => {
        const report = await validateEvents(linesOf(context, file), await validating(context));
        if (context.io.signal.aborted) throw new Stopped();
        return showReport(context, report, 'would be sent', EXIT.failed);
      }),
    );
}

/** Connection names are checked only if a deployment can be reached. */
async function validating({ ports, connection, connectionGiven, out }: Context): Promise<Validating> {
  const given = connectionGiven ? connection : undefined;
  try {
    const { connections, clock } = await ports();
    await connections.find(connection);
    return { connection: given, clock, connections };
  } catch (error) {
    const why = describeError(error).text.replaceAll('\n', ' ');
    out.note(`connection names were not checked: ${why}`);
    return { connection: given, clock: Date.now, connections: undefined };
  }
}

async function send(context: Context, file: string): Promise<number> {
  const ports = await context.ports();
  const { connection, connectionGiven, io } = context;
  const options = {
    connection: connectionGiven ? connection : undefined,
    keptBy: connection,
    signal: io.signal,
  };
  const report = await sendEvents(linesOf(context, file), options, ports);
  return showReport(context, report, 'sent', EXIT.attention);
}

async function* linesOf(context: Context, file: string): AsyncGenerator<EventLine> {
  let line = 0;
  try {
    for await (const text of linesIn(utf8Chunks(context.io, file))) {
      line += 1;
      if (text.trim() !== '') yield { line, text };
    }
  } catch (cause) {
    // The caller checks the signal and reports where the command stopped.
    if (!(cause instanceof Stopped)) throw cause;
  }
}

function showReport({ out }: Context, report: EventsReport, verb: string, onErrors: number): number {
  out.answer(report, (shown) => {
    printErrors(shown, out);
    out.line(`${plural(report.events, 'event')} in ${plural(report.messages, 'message')} ${verb}`);
  });
  for (const text of otherSourceLines(report)) out.note(text);
  if (report.errorCount > 0) return onErrors;
  return report.otherSources === undefined ? EXIT.done : EXIT.attention;
}

const WHOSE = {
  directory: 'to the directory reader: the events have no effect there',
  scim: 'to a SCIM client: the events have no effect there after the next request of the client',
};

export const otherSourceLines = ({ otherSources = [] }: Pick<EventsReport, 'otherSources'>) => [
  ...otherSources.slice(0, SHOWN).map(({ group, source }) => `the group ${group} belongs ${WHOSE[source]}`),
  ...(otherSources.length > SHOWN ? [`… and ${otherSources.length - SHOWN} more groups`] : []),
  ...(otherSources.length > 0
    ? ['to take a person out of such a group: groupsync block PERSON --reason TEXT']
    : []),
];

/** The commands `events` and `import` print at most this number of lines of each list, such as the list of errors. */
export const SHOWN = 20;

export function printErrors({ errors, errorCount }: EventsReport, { line, paint }: Context['out']): void {
  for (const { line: at, message } of errors.slice(0, SHOWN)) line(paint.red(`line ${at}: ${message}`));
  if (errorCount > SHOWN) line(`… and ${errorCount - SHOWN} more lines; --json lists up to 1000`);
}
