import { type Command, Option } from 'commander';
import type { Survey } from '../../shared/contract/answers.ts';
import { type Selection, surveyLetters } from '../../shared/operate/dead-letters/survey.ts';
import type { Act } from '../act.ts';
import type { Context } from '../context.ts';
import { EXIT, UsageError } from '../io.ts';
import { duration, plural } from '../output/words.ts';
import { positiveNumber, wholeNumber } from './arguments.ts';
import { discard, edit, show } from './dlq-letter.ts';
import { printCauses, type QueueOption, queuesOf, type ReplayFlags } from './dlq-queue.ts';
import { replay } from './dlq-replay.ts';

const queueOption = () => new Option('--queue <queue>', 'only this queue').choices(['events', 'apply']);

export function addDlq(program: Command, act: Act): void {
  const dlq = program
    .command('dlq')
    .description('dead letters: messages that could not be handled')
    .addHelpText(
      'after',
      `
Examples:
  groupsync dlq list
  groupsync dlq show MESSAGE_ID
  groupsync dlq replay --code unknown_connection
  groupsync dlq replay --all --rate 20 --yes
  groupsync dlq discard MESSAGE_ID --reason "test message"`,
    );
  dlq
    .command('list', { isDefault: true })
    .description('by cause with counts and ages; superseded = newer state has made it moot')
    .addOption(queueOption())
    .option('--code <code>', 'only this cause')
    .option('--group <group>', 'only this group')
    .option('--limit <n>', 'messages listed one by one', wholeNumber, 1_000)
    .action(act(list));
  dlq
    .command('show')
    .description('one message: what it says, why it is here, what is true now')
    .argument('<id>', 'message id')
    .addOption(queueOption())
    .action(act(show));
  dlq
    .command('edit')
    .description('mend a message in $EDITOR; it is checked, sent, and the original kept in the audit')
    .argument('<id>', 'message id')
    .option('--reason <text>', 'why; kept in the audit', 'mended by hand')
    .option('-y, --yes', 'do not ask')
    .action(act(edit));
  dlq
    .command('discard')
    .description('delete messages for good; what they said is kept in the audit')
    .argument('<id...>', 'message ids')
    .addOption(queueOption())
    .requiredOption('--reason <text>', 'why; kept in the audit')
    .option('-y, --yes', 'do not ask')
    .action(act(discard));
  dlq
    .command('replay')
    .description('send messages back, each one first sent and then deleted; Ctrl-C stops between two')
    .argument('[id...]', 'message ids')
    .addOption(queueOption())
    .option('--group <group>', 'those of one group, by its id')
    .option('--code <code>', 'those of one cause')
    .option('--all', 'every message')
    .option('--rate <n>', 'messages a second at most', positiveNumber)
    .option('-y, --yes', 'do not ask')
    .action(
      act((context, ids: string[], options: ReplayFlags) =>
        replay(context, selectionOf(ids, options), options),
      ),
    );
}

function selectionOf(ids: readonly string[], { group, code, all }: ReplayFlags): Selection {
  const isNarrow = ids.length > 0 || group !== undefined || code !== undefined;
  if (!isNarrow && all !== true) throw new UsageError('say which: message ids, --group, --code or --all');
  if (isNarrow && all === true) throw new UsageError('--all does not go with ids, --group or --code');
  return { ids: ids.length === 0 ? undefined : ids, group, code };
}

interface ListOptions extends QueueOption {
  readonly code?: string;
  readonly group?: string;
  readonly limit: number;
}

async function list(context: Context, { code, group, limit, ...options }: ListOptions): Promise<number> {
  const { out, io } = context;
  const survey = await surveyLetters(await context.ports(), {
    queues: queuesOf(options),
    selection: { code, group },
    limit,
    signal: io.signal,
  });
  out.answer(survey, () => printSurvey(survey, context));
  return EXIT.done;
}

const SHOWN_MESSAGES = 20;

function printSurvey(survey: Survey, { out }: Context): void {
  const { causes, messages, total, inFlightElsewhere, complete, selected } = survey;
  if (total === 0) {
    out.line('no dead letters');
    return;
  }
  printCauses(survey, out);
  if (messages.length > 0) {
    out.table(messages.slice(0, SHOWN_MESSAGES), [
      { title: 'message', of: ({ id }) => id, whole: true },
      { title: 'code', of: ({ code }) => code },
      { title: 'group', of: ({ group }) => group },
      { title: 'age', of: ({ ageMs }) => duration(ageMs), align: 'right' },
      { title: 'moot', of: ({ superseded }) => (superseded ? 'yes' : '') },
    ]);
  }
  const shown = Math.min(SHOWN_MESSAGES, messages.length);
  if (selected > shown) out.line(`… and ${selected - shown} more; --json lists them`);
  const elsewhere = inFlightElsewhere === 0 ? '' : `, ${inFlightElsewhere} of them in flight elsewhere`;
  out.line(`${plural(total, 'dead letter')}${elsewhere}${complete ? '' : '; there may be more'}`);
  if (causes.length > 0)
    out.note('next: groupsync dlq show ID; groupsync dlq replay --code CODE once the cause is mended');
}
