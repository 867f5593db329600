import type { ReplayReport } from '../../shared/contract/answers.ts';
import { SHORT_ID } from '../../shared/operate/dead-letters/amend.ts';
import { replayLetters } from '../../shared/operate/dead-letters/replay.ts';
import { isNamed, type Selection } from '../../shared/operate/dead-letters/survey.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { plural } from '../output/words.ts';
import { queuesOf, sayElsewhere, selectionOf, surveyChosen, type Which } from './dlq-queue.ts';

export interface ReplayFlags extends Which {
  readonly rate?: number;
}

const NONE: ReplayReport = {
  ...{ replayed: 0, failed: 0, remaining: 0, cameBack: 0, because: null, cancelled: false },
};

/** Shows what would be replayed, asks, and replays queue after queue. */
export async function replay(
  context: Context,
  ids: readonly string[],
  options: ReplayFlags,
): Promise<number> {
  const { out } = context;
  const asked = await selectionOf(context, ids, options);
  const plan = await surveyChosen(context, asked, options);
  if (plan.selected === 0 && plan.inFlightElsewhere === 0) {
    out.answer(NONE, () => out.line('nothing to replay'));
    return ids.length > 0 ? EXIT.attention : EXIT.done;
  }
  const refused = plan.messages.filter(({ refusal }) => refusal !== null);
  if (refused[0] !== undefined) {
    out.note(`${refused.length} of them would be refused again, and come back: ${refused[0].refusal}`);
    out.note(`next: groupsync dlq show ${refused[0].id.slice(0, SHORT_ID)}`);
  }
  const atLeast = plan.complete ? '' : 'at least ';
  out.note('sent first and deleted then: a message that is sent twice does no harm');
  if (!(await context.confirm(`Replay ${atLeast}${plural(plan.selected, 'message')}?`))) return EXIT.failed;
  const whole = asked.ids?.map((id) => plan.messages.find((message) => isNamed(message, id))?.id ?? id);
  const report = await replayAll(context, { ...asked, ids: whole }, options, plan.selected);
  out.answer(report, (shown) => print(shown, context));
  if (report.replayed > 0 && report.cameBack === 0) out.note('what is not mended comes back within a minute');
  if (report.replayed > 0) out.note('next: groupsync dlq list');
  if (report.failed > 0) return EXIT.failed;
  return report.remaining > 0 ? EXIT.attention : EXIT.done;
}

async function replayAll(
  context: Context,
  selection: Selection,
  options: ReplayFlags,
  planned: number,
): Promise<ReplayReport> {
  const { out, io, ports, connection } = context;
  const progress = out.progress('replaying');
  let total = NONE;
  try {
    for (const queue of queuesOf(options)) {
      const before = total;
      const report = await replayLetters(queue, await ports(), {
        connection,
        selection,
        rate: options.rate,
        signal: io.signal,
        onElsewhere: sayElsewhere(context),
        onProgress: ({ replayed }) => progress.show(before.replayed + replayed, Math.max(planned, replayed)),
      });
      total = {
        replayed: before.replayed + report.replayed,
        failed: before.failed + report.failed,
        remaining: before.remaining + report.remaining,
        cameBack: before.cameBack + report.cameBack,
        because: before.because ?? report.because,
        cancelled: before.cancelled || report.cancelled,
      };
    }
  } finally {
    progress.end();
  }
  // What a stopped replay has not come to is counted by the plan.
  return { ...total, remaining: Math.max(total.remaining, total.cancelled ? planned - total.replayed : 0) };
}

function print({ replayed, failed, cameBack, because, ...report }: ReplayReport, { out }: Context): void {
  const left = report.remaining - failed - cameBack;
  out.line(`${plural(replayed, 'message')} replayed${report.cancelled ? ', then stopped' : ''}`);
  if (cameBack > 0) out.line(out.paint.red(`${cameBack} came back at once: ${because}`));
  if (failed > 0) out.line(out.paint.red(`${failed} could not be sent; they are still dead letters`));
  if (left > 0) out.line(`${left} remain, held by somebody else or not come to: run the same again to go on`);
}
