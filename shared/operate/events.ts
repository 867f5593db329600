import type { EventsReport, LineError } from '../contract/answers.ts';
import { decodeMessage } from '../contract/decode.ts';
import type { ConnectionName } from '../domain/ids.ts';
import type { EventSender } from '../sync/ports/queues.ts';

/** One line of a JSONL file; lines are counted from 1. */
export interface EventLine {
  readonly line: number;
  readonly text: string;
}

/** Errors are kept up to this, and counted beyond. */
const MAX_ERRORS = 1_000;
/** SQS takes 1 MiB, attributes included, and emulators a little less. */
const MAX_MESSAGE_BYTES = 1_000_000;
const BATCH = 100;

export interface EventsPorts {
  readonly events: EventSender;
  readonly clock: () => number;
}

/** Says of each line whether ingest would accept it now. Nothing is sent. */
export async function validateEvents(
  lines: AsyncIterable<EventLine>,
  { clock }: Pick<EventsPorts, 'clock'>,
): Promise<EventsReport> {
  const tally = createTally();
  for await (const line of lines) tally.judge(line, judgeLine(line, clock()));
  return tally.report();
}

/**
 * Publishes a file of events, a line a message, in the order of the lines. Lines that ingest would refuse are left out
 * and reported, the others are sent: a bad line says nothing about its neighbours.
 */
export async function sendEvents(
  lines: AsyncIterable<EventLine>,
  {
    connection,
    ports,
    onProgress,
  }: {
    /** For events that do not name one themselves. */
    readonly connection?: ConnectionName;
    readonly ports: EventsPorts;
    readonly onProgress?: (sent: number) => void;
  },
): Promise<EventsReport> {
  const tally = createTally();
  let batch: EventLine[] = [];
  let sent = 0;
  const flush = async () => {
    const outcomes = await ports.events.send(batch.map(({ text }) => ({ body: text, connection })));
    for (const [position, { line }] of batch.entries()) {
      const refused = outcomes[position]?.messageId === undefined;
      if (refused) tally.refuse(line, outcomes[position]?.refused ?? 'the queue did not accept it');
      else sent += 1;
    }
    batch = [];
    onProgress?.(sent);
  };
  for await (const line of lines) {
    if (!tally.judge(line, judgeLine(line, ports.clock()))) continue;
    batch.push(line);
    if (batch.length === BATCH) await flush();
  }
  if (batch.length > 0) await flush();
  return { ...tally.report(), messages: sent };
}

interface Judgement {
  readonly events: number;
  readonly problems: readonly string[];
}

function judgeLine({ text }: EventLine, nowMs: number): Judgement {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > MAX_MESSAGE_BYTES) {
    return { events: 0, problems: [`too_large: expected at most ${MAX_MESSAGE_BYTES} bytes, got ${bytes}`] };
  }
  const message = { body: text, messageId: 'line', sentAtMs: nowMs, receivedAtMs: nowMs };
  const { events, rejected } = decodeMessage(message);
  return { events: events.length, problems: rejected.map(({ code, message: why }) => `${code}: ${why}`) };
}

/** What is wrong with a file: the first thousand lines, by their numbers, and how many there are. */
export function createErrors() {
  const errors: LineError[] = [];
  let errorCount = 0;
  return {
    add(line: number, message: string): void {
      errorCount += 1;
      if (errors.length < MAX_ERRORS) errors.push({ line, message });
    },
    result: () => ({ errors, errorCount }),
  };
}

function createTally() {
  const errors = createErrors();
  let events = 0;
  let messages = 0;
  return {
    refuse: errors.add,
    judge({ line }: EventLine, { events: count, problems }: Judgement): boolean {
      for (const problem of problems) errors.add(line, problem);
      if (problems.length > 0) return false;
      events += count;
      messages += 1;
      return true;
    },
    report: (): EventsReport => ({ events, messages, ...errors.result() }),
  };
}
