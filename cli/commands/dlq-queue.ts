import { Option } from 'commander';
import type { Survey } from '../../shared/contract/answers.ts';
import { DEAD_LETTER_CODES } from '../../shared/contract/names.ts';
import { isNamed, type Selection, surveyLetters } from '../../shared/operate/dead-letters/survey.ts';
import { NotFound } from '../../shared/operate/find-group.ts';
import type { Mailbox } from '../../shared/sync/ports/queues.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../io.ts';
import type { Column } from '../output/table.ts';
import { duration, plural } from '../output/words.ts';

export type QueueName = Mailbox['name'];

export interface QueueOption {
  readonly queue?: QueueName;
}

export const queuesOf = ({ queue }: QueueOption): readonly QueueName[] =>
  queue === undefined ? ['events', 'apply'] : [queue];

/** Which letters are meant. */
export interface Which extends QueueOption {
  readonly group?: string;
  readonly code?: string;
  readonly all?: boolean;
}

export const queueOption = () =>
  new Option('--queue <queue>', 'only this queue').choices(['events', 'apply']);
export const codeOption = () => new Option('--code <code>', 'those of one cause').choices(DEAD_LETTER_CODES);

/** @throws UsageError where it is not said which */
export async function selectionOf(
  context: Context,
  ids: readonly string[],
  { group, code, all }: Which,
): Promise<Selection> {
  const isNarrow = ids.length > 0 || group !== undefined || code !== undefined;
  if (!isNarrow && all !== true) throw new UsageError('say which: message ids, --group, --code or --all');
  if (isNarrow && all === true) throw new UsageError('--all does not go with ids, --group or --code');
  return { ids: ids.length === 0 ? undefined : ids, group: await groupNamed(context, group), code };
}

/** Letters may be about a group that nobody knows: its id is then what they say. */
export const groupNamed = async (context: Context, group: string | undefined): Promise<string | undefined> =>
  group === undefined
    ? undefined
    : context.group(group).then(
        (ref) => ref.group,
        () => group,
      );

/** What is to be done to letters is shown first. @throws NotFound where a beginning of an id fits several */
export async function surveyChosen(
  context: Context,
  selection: Selection,
  options: QueueOption,
): Promise<Survey> {
  const { out, io } = context;
  const survey = await surveyLetters(await context.ports(), {
    queues: queuesOf(options),
    selection,
    limit: Number.POSITIVE_INFINITY,
    signal: io.signal,
    onElsewhere: sayElsewhere(context),
  });
  for (const id of selection.ids ?? []) {
    const fitting = survey.messages.filter((message) => isNamed(message, id) && message.id !== id);
    if (fitting.length > 1)
      throw new NotFound(`"${id}" fits ${fitting.length} dead letters; give more of it`);
  }
  if (survey.causes.length > 0) out.noteTable(survey.causes, CAUSE_COLUMNS);
  return survey;
}

/** Said once: SQS shows nobody what somebody else has taken. */
export const sayElsewhere = ({ out }: Context) => {
  let say = out.note;
  return (messages: number, seconds: number): void => {
    say(`somebody else looks at ${plural(messages, 'dead letter')}: waiting for up to ${seconds} s`);
    say = () => {};
  };
};

export const CAUSE_COLUMNS: readonly Column<Survey['causes'][number]>[] = [
  { title: 'cause', of: ({ code }) => code, whole: true },
  { title: 'count', of: ({ count }) => count, align: 'right' },
  { title: 'superseded', of: ({ superseded }) => superseded, align: 'right' },
  { title: 'still refused', of: ({ refused }) => refused, align: 'right' },
  { title: 'oldest', of: ({ oldestMs }) => duration(oldestMs), align: 'right' },
  { title: 'newest', of: ({ newestMs }) => duration(newestMs), align: 'right' },
];
