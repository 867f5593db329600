import { Option } from 'commander';
import type { DeadLetterSummary, ReplayReport, Survey } from '../../shared/contract/answers/dead-letters.ts';
import { DEAD_LETTER_CODES } from '../../shared/contract/names.ts';
import { groupId } from '../../shared/domain/ids.ts';
import { SHORT_ID } from '../../shared/operate/dead-letters/amend.ts';
import { replayDeadLetters } from '../../shared/operate/dead-letters/replay.ts';
import { isNamed, type Selection, surveyDeadLetters } from '../../shared/operate/dead-letters/survey.ts';
import { findGroup, type Names, NotFound, undefinedIfNoMatch } from '../../shared/operate/names.ts';
import type { Mailbox } from '../../shared/sync/ports/queues.ts';
import type { Context } from '../context.ts';
import { EXIT, UsageError } from '../io.ts';
import { ageColumn, type Column } from '../output/table.ts';
import { plural, shellWords } from '../output/words.ts';

type QueueName = Mailbox['name'];

export interface QueueOption {
  readonly queue?: QueueName;
}

export const queuesOf = ({ queue }: QueueOption): readonly QueueName[] =>
  queue === undefined ? ['events', 'apply'] : [queue];

export interface MessageFilter extends QueueOption {
  readonly group?: string;
  readonly code?: string;
  readonly all?: boolean;
}

export const queueOption = () =>
  new Option('--queue <queue>', 'only this queue').choices(['events', 'apply']);
export const codeOption = () =>
  new Option('--code <code>', 'only messages with this cause').choices(DEAD_LETTER_CODES);

/** @throws UsageError if the options select nothing, or contradict each other */
export async function selectionOf(
  context: Context,
  ids: readonly string[],
  { group, code, all }: MessageFilter,
) {
  const isNarrow = ids.length > 0 || group !== undefined || code !== undefined;
  if (!isNarrow && all !== true) throw new UsageError('expected message ids, --group, --code or --all');
  if (isNarrow && all === true) throw new UsageError('--all excludes ids, --group and --code');
  return { ids: ids.length === 0 ? undefined : ids, group: await groupNamed(context, group), code };
}

/**
 * Returns the group with this id or name. An unknown text is used as an id, because a dead-lettered message may be
 * about an unknown group.
 */
export async function groupNamed({ connection, ports }: Context, text: string | undefined) {
  if (text === undefined) return undefined;
  const found = await findGroup(connection, text, await ports(), true).catch(undefinedIfNoMatch);
  return found ?? { connection, group: groupId(text) };
}

export const groupOf =
  (names: Names, asked: Pick<Context, 'connection'>) =>
  ({ connection, group }: DeadLetterSummary) =>
    group && (connection === asked.connection ? names.group(group) : `${connection ?? '?'}/${group}`);

export const surveyed = async (
  context: Context,
  selection: Selection,
  options: QueueOption,
  limit = Number.POSITIVE_INFINITY,
): Promise<Survey> =>
  surveyDeadLetters(await context.ports(), {
    queues: queuesOf(options),
    selection,
    limit,
    signal: context.io.signal,
    onElsewhere: reportElsewhere(context),
  });

export async function surveyChosen(context: Context, selection: Selection, options: QueueOption) {
  const survey = await surveyed(context, selection, options);
  for (const id of selection.ids ?? []) {
    const fitting = survey.messages.filter((message) => isNamed(message, id) && message.id !== id);
    if (fitting.length > 1)
      throw new NotFound(`"${id}" matches ${fitting.length} messages; use a longer prefix`);
  }
  if (survey.causes.length > 0) context.out.noteTable(survey.causes, CAUSE_COLUMNS);
  return survey;
}

/**
 * Returns a function that reports the number of messages that other consumers have received. SQS hides these messages
 * from this command. The function reports the number only once.
 */
const reportElsewhere = ({ out }: Context) => {
  let note = out.note;
  return (messages: number, seconds: number): void => {
    note(
      `another consumer is processing ${plural(messages, 'dead-lettered message')}: waiting for up to ${seconds} s`,
    );
    note = () => {};
  };
};

export const CAUSE_COLUMNS: readonly Column<Survey['causes'][number]>[] = [
  { title: 'cause', of: ({ code }) => code, whole: true },
  { title: 'count', of: ({ count }) => count, align: 'right' },
  { title: 'superseded', of: ({ superseded }) => superseded, align: 'right' },
  { title: 'still refused', of: ({ refused }) => refused, align: 'right' },
  ageColumn('oldest', ({ oldestMs }) => Date.now() - oldestMs),
  ageColumn('newest', ({ newestMs }) => Date.now() - newestMs),
];

const NONE: ReplayReport = {
  replayed: 0,
  failed: 0,
  remaining: 0,
  failedAgain: 0,
  because: null,
  cancelled: false,
};

export async function replay(context: Context, ids: readonly string[], options: MessageFilter) {
  const { out } = context;
  const asked = await selectionOf(context, ids, options);
  const plan = await surveyChosen(context, asked, options);
  if (plan.selected === 0 && plan.inFlightElsewhere === 0) {
    out.answer(NONE, () => out.line('nothing to replay'));
    return ids.length > 0 ? EXIT.attention : EXIT.done;
  }
  const refused = plan.messages.filter(({ refusal }) => refusal !== null);
  if (refused[0] !== undefined) {
    out.note(`${refused.length} would fail again and come back: ${refused[0].refusal}`);
    const short = refused[0].id.slice(0, SHORT_ID);
    out.note(`next: groupsync dlq show ${shellWords(short)}`);
  }
  const atLeast = plan.complete ? '' : 'at least ';
  out.note('each message is sent before it is deleted; duplicates are harmless');
  if (!(await context.confirm(`Replay ${atLeast}${plural(plan.selected, 'message')}?`))) return EXIT.failed;
  const whole = asked.ids?.map((id) => plan.messages.find((message) => isNamed(message, id))?.id ?? id);
  const report = await replayAll(context, { ...asked, ids: whole }, options, plan.selected);
  out.answer(report, (shown) => print(shown, context));
  if (report.replayed > 0 && report.failedAgain === 0)
    out.note('messages that fail again come back within a minute');
  if (report.replayed > 0) out.note('next: groupsync dlq list');
  if (report.failed > 0) return EXIT.failed;
  return report.remaining > 0 ? EXIT.attention : EXIT.done;
}

async function replayAll(context: Context, selection: Selection, options: QueueOption, planned: number) {
  const { out, io, ports, connection } = context;
  const progress = out.progress('replaying');
  let total = NONE;
  try {
    for (const queue of queuesOf(options)) {
      const before = total;
      const report = await replayDeadLetters(queue, await ports(), {
        connection,
        selection,
        signal: io.signal,
        onElsewhere: reportElsewhere(context),
        onProgress: ({ replayed }) => progress.show(before.replayed + replayed, Math.max(planned, replayed)),
      });
      total = {
        replayed: before.replayed + report.replayed,
        failed: before.failed + report.failed,
        remaining: before.remaining + report.remaining,
        failedAgain: before.failedAgain + report.failedAgain,
        because: before.because ?? report.because,
        cancelled: before.cancelled || report.cancelled,
      };
    }
  } finally {
    progress.end();
  }
  // A cancelled replay did not reach all messages. At least the planned number minus the replayed number remains.
  return { ...total, remaining: Math.max(total.remaining, total.cancelled ? planned - total.replayed : 0) };
}

function print({ replayed, failed, failedAgain, because, ...report }: ReplayReport, { out }: Context): void {
  const left = report.remaining - failed - failedAgain;
  out.line(`${plural(replayed, 'message')} replayed${report.cancelled ? ', then stopped' : ''}`);
  if (failedAgain > 0) out.line(out.paint.red(`${failedAgain} failed again: ${because}`));
  if (failed > 0)
    out.line(out.paint.red(`${failed} could not be sent; they are still in the dead-letter queue`));
  if (left > 0)
    out.line(
      `${left} remain: another consumer is processing them, or the replay did not reach them. Run the command again`,
    );
}
