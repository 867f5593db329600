import type { Cause, DeadLetterSummary, Survey } from '../../contract/answers/dead-letters.ts';
import type { GroupRef } from '../../domain/ids.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Mailbox } from '../../sync/ports/queues.ts';
import { mapConcurrently, READS_IN_FLIGHT } from '../../sync/tuning.ts';
import { type DeadLetter, originOf, readDeadLetter } from './dead-letter.ts';
import { isSuperseded, refusalsOf, type StateReadPorts } from './describe.ts';
import { MAX_READ_MS, type ReadMailboxOptions, readMailbox } from './read-mailbox.ts';

export interface Selection {
  readonly ids?: readonly string[] | undefined;
  /** Selects messages about this group, including messages that name no connection. */
  readonly group?: GroupRef | undefined;
  readonly code?: string | undefined;
}

type SurveyPorts = StateReadPorts & Pick<ToolPorts, 'connections' | 'mailboxes' | 'clock'>;

interface SurveyOptions extends Pick<ReadMailboxOptions, 'signal' | 'onElsewhere' | 'patienceSeconds'> {
  readonly queues: readonly Mailbox['name'][];
  readonly selection?: Selection;
  /** The maximum number of listed messages. For all further messages, only the ids are kept in memory. */
  readonly limit: number;
}

export async function surveyDeadLetters(ports: SurveyPorts, options: SurveyOptions): Promise<Survey> {
  const totals = createTotals(options.limit);
  const { signal, onElsewhere, patienceSeconds } = options;
  const reading = { signal, onElsewhere, patienceSeconds, longestMs: MAX_READ_MS };
  const reads = await Promise.all(
    options.queues.map((queue) =>
      readMailbox(ports.mailboxes[queue], { ...reading, clock: ports.clock }, async (messages) => {
        const nowMs = ports.clock();
        const chosen = messages
          .map((message) => readDeadLetter(message, queue, nowMs))
          .filter((deadLetter) => isSelected(deadLetter, options.selection));
        for (const summary of await summarise(chosen, nowMs, ports)) totals.add(summary);
        return true;
      }),
    ),
  );
  const inFlightElsewhere = reads.reduce((sum, { elsewhere }) => sum + elsewhere, 0);
  const [only, ...others] = options.queues;
  return {
    queue: only !== undefined && others.length === 0 ? only : 'all',
    total: reads.reduce((sum, { found }) => sum + found, 0) + inFlightElsewhere,
    inFlightElsewhere,
    complete: reads.every(({ complete }) => complete),
    ...totals.result(),
  };
}

export function isSelected({ message, group, connection }: DeadLetter, selection: Selection = {}): boolean {
  const { ids, group: wanted, code } = selection;
  return (
    (ids === undefined || ids.some((id) => isNamed(message, id))) &&
    (wanted === undefined ||
      (wanted.group === group && wanted.connection === (connection ?? wanted.connection))) &&
    (code === undefined || code === message.code)
  );
}

export const isNamed = (message: Pick<DeadLetter['message'], 'id'>, id: string): boolean =>
  id !== '' && message.id.startsWith(id);

const summarise = (deadLetters: readonly DeadLetter[], nowMs: number, ports: SurveyPorts) =>
  mapConcurrently(
    READS_IN_FLIGHT,
    deadLetters,
    async (deadLetter): Promise<DeadLetterSummary> => ({
      id: deadLetter.message.id,
      queue: deadLetter.queue,
      code: deadLetter.message.code,
      message: deadLetter.message.message,
      ...originOf(deadLetter),
      connection: deadLetter.connection ?? null,
      group: deadLetter.group ?? null,
      ageMs: Math.max(0, nowMs - deadLetter.message.firstFailedAtMs),
      failures: deadLetter.message.failures,
      superseded: await isSuperseded(deadLetter, ports),
      refusal: (await refusalsOf(deadLetter, ports)).problems[0] ?? null,
    }),
  );

function createTotals(limit: number) {
  const causes = new Map<string, Cause>();
  const messages: DeadLetterSummary[] = [];
  let selected = 0;
  return {
    add(summary: DeadLetterSummary): void {
      const { code, ageMs, superseded, refusal } = summary;
      const before = causes.get(code);
      selected += 1;
      causes.set(code, {
        code,
        count: (before?.count ?? 0) + 1,
        superseded: (before?.superseded ?? 0) + (superseded ? 1 : 0),
        refused: (before?.refused ?? 0) + (refusal === null ? 0 : 1),
        oldestMs: Math.max(before?.oldestMs ?? 0, ageMs),
        newestMs: Math.min(before?.newestMs ?? ageMs, ageMs),
      });
      if (messages.length < limit) messages.push(summary);
    },
    result: () => ({
      causes: [...causes.values()].sort((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1)),
      messages: [...messages].sort((a, b) => b.ageMs - a.ageMs),
      selected,
    }),
  };
}
