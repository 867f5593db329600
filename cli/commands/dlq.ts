import type { Command } from 'commander';
import type { Survey } from '../../shared/contract/answers/dead-letters.ts';
import { SHORT_ID } from '../../shared/operate/dead-letters/amend.ts';
import type { Names } from '../../shared/operate/names.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { ageColumn, type Column } from '../output/table.ts';
import { plural, shellWords } from '../output/words.ts';
import { examples, WATCH, watched, wholeNumber } from './arguments.ts';
import { discard, edit, show } from './dlq-message.ts';
import {
  CAUSE_COLUMNS,
  codeOption,
  groupNamed,
  groupOf,
  type MessageFilter,
  queueOption,
  replay,
  surveyed,
} from './dlq-queue.ts';

export function addDlq(program: Command, act: Act): void {
  const dlq = program
    .command('dlq')
    .description('dead-lettered messages: messages that groupsync could not process')
    .addHelpText(...examples('dlq list', 'dlq replay --code unknown_connection'));
  dlq
    .command('list', { isDefault: true })
    .description(
      'list dead-lettered messages by cause, with counts and ages; superseded = newer state exists',
    )
    .addOption(queueOption())
    .addOption(codeOption())
    .option('--group <group>', 'only messages of this group: id or name')
    .option('--limit <n>', 'maximum number of messages in the list', wholeNumber, 1_000)
    .option(...WATCH)
    .addHelpText(...examples('dlq list --watch', 'dlq list --code unknown_connection'))
    .action(act(watched(list)));
  dlq
    .command('show')
    .description('show one message: content, cause and current state')
    .argument('<id>', 'message id')
    .addOption(queueOption())
    .addHelpText(...examples('dlq show 1f9a01bc', 'dlq show 1f9a01bc --json'))
    .action(act(show));
  dlq
    .command('edit')
    .description('edit a message in $EDITOR, validate and send it; the audit keeps the original')
    .argument('<id>', 'message id')
    .option('--reason <text>', 'reason for the audit', 'edited by hand')
    .addHelpText(...examples('dlq edit 1f9a01bc', 'dlq edit 1f9a01bc --reason "typing error in the id"'))
    .action(act(edit));
  const chosen = (name: string) =>
    dlq
      .command(name)
      .argument('[id...]', 'message ids, or prefixes of ids')
      .addOption(queueOption())
      .option('--group <group>', 'only messages of this group: id or name')
      .addOption(codeOption())
      .option('--all', 'every message');
  chosen('discard')
    .description('discard messages; the audit keeps their content')
    .option('--reason <text>', 'reason for the audit; prompted for at a terminal')
    .addHelpText(
      ...examples(
        'dlq discard 1f9a01bc --reason "test message"',
        'dlq discard --code invalid_json --reason "broken sender"',
      ),
    )
    .action(act(discard));
  chosen('replay')
    .description('send messages back to their queue; Ctrl-C stops after the current message')
    .addHelpText(...examples('dlq replay --code unknown_connection', 'dlq replay --all --yes'))
    .action(act(replay));
}

type ListOptions = MessageFilter & { readonly limit: number };

async function list(context: Context, { code, group, limit, ...options }: ListOptions, _command: Command) {
  const { out } = context;
  const selection = { code, group: await groupNamed(context, group) };
  const survey = await surveyed(context, selection, options, limit);
  const names = await context.names({ groups: survey.messages.flatMap((message) => message.group ?? []) });
  out.answer(survey, () => printSurvey(survey, names, context));
  return EXIT.done;
}

const SHOWN_MESSAGES = 20;

function printSurvey(survey: Survey, names: Names, context: Context): void {
  const { out } = context;
  const { causes, messages, total, inFlightElsewhere, complete, selected } = survey;
  if (causes.length > 0) out.noteTable(causes, CAUSE_COLUMNS, out.line);
  const shown = out.inFull ? messages.length : Math.min(SHOWN_MESSAGES, messages.length);
  const columns: readonly Column<Survey['messages'][number]>[] = [
    { title: 'message', of: ({ id }) => id.slice(0, SHORT_ID), whole: true },
    { title: 'code', of: ({ code }) => code },
    { title: 'group', of: groupOf(names, context), whole: 'id' },
    ageColumn('age', ({ ageMs }) => Date.now() - ageMs, 'failed first'),
    {
      title: 'failed',
      of: ({ failures }) => (failures === 1 ? 'once' : `${failures} times`),
      align: 'right',
    },
    {
      title: 'now',
      of: ({ superseded, refusal }) => (superseded ? 'superseded' : (refusal ?? 'can be replayed')),
    },
  ];
  const none = total === 0 ? 'no dead-lettered messages' : 'no dead-lettered message matches';
  out.table(messages.slice(0, shown), columns, none);
  if (total === 0) return;
  if (selected > shown) out.line(`… and ${selected - shown} more; --json lists them`);
  const elsewhere =
    inFlightElsewhere === 0 ? '' : `, ${inFlightElsewhere} of them in use by another consumer`;
  out.line(`${plural(total, 'dead-lettered message')}${elsewhere}${complete ? '' : '; there may be more'}`);
  for (const step of nextSteps(survey)) out.note(`next: ${step}`);
}

function nextSteps({ causes, messages }: Survey): readonly string[] {
  const fixed = causes.filter(({ count, refused }) => refused < count).map(({ code }) => code);
  const first = messages.find(({ refusal }) => refusal !== null)?.id.slice(0, SHORT_ID);
  const steps = fixed.map((code) => `groupsync dlq replay --code ${code}`);
  if (first !== undefined) steps.push(`groupsync dlq show ${shellWords(first)}`);
  return steps;
}
