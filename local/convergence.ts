import { setTimeout as pause } from 'node:timers/promises';
import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { AS_WANTED } from '../shared/plan/waiting.ts';
import type { GroupReport } from './report.ts';

/** Work that is left. `groups` is undefined while a queue still holds messages. */
export interface Backlog {
  /** Messages visible, delayed or in flight. */
  readonly events: number;
  readonly apply: number;
  readonly groups: readonly GroupReport[] | undefined;
  readonly dirty: number;
}

export interface ConvergenceOptions {
  readonly client: SQSClient;
  readonly eventsQueueUrl: string;
  /** The queue of the directory reader; undefined if no directory is read. */
  readonly readerQueueUrl?: string | undefined;
  readonly applyQueueUrl: string;
  readonly readGroups: () => Promise<readonly GroupReport[]>;
  readonly onBacklog: (backlog: Backlog) => void;
  /** Called when only the apply queue holds messages. No further event can then change the waiting groups. */
  readonly onLastEvent?: (() => Promise<void>) | undefined;
  readonly signal: AbortSignal;
  readonly pollMs?: number;
}

const POLL_MS = 100;

/**
 * Waits until both queues are empty (no message visible, delayed or in flight) and no group is dirty. A dirty group
 * does not count if its content is already correct and only the deadline of an earlier write is open. Both conditions
 * must hold in two reads in a row, because the queues and the groups are not read at the same instant.
 * @returns the groups at that moment; if `signal` ends the wait, the groups as read then
 */
export async function untilConverged(
  options: ConvergenceOptions,
): Promise<{ converged: boolean; groups: readonly GroupReport[] }> {
  let seen = 0;
  while (!options.signal.aborted) {
    const backlog = await readBacklog(options);
    options.onBacklog(backlog);
    if (backlog.events === 0 && backlog.apply > 0) await options.onLastEvent?.();
    seen = isSettled(backlog) ? seen + 1 : 0;
    if (seen === 2) return { converged: true, groups: backlog.groups ?? [] };
    await pause(options.pollMs ?? POLL_MS, undefined, options).catch(() => undefined);
  }
  return { converged: false, groups: await options.readGroups() };
}

const isSettled = (backlog: Backlog) =>
  backlog.events === 0 && backlog.apply === 0 && backlog.groups !== undefined && backlog.dirty === 0;

async function readBacklog({
  client,
  eventsQueueUrl,
  readerQueueUrl,
  applyQueueUrl,
  readGroups,
}: ConvergenceOptions): Promise<Backlog> {
  const [pushed, apply, read] = await Promise.all([
    countMessages(client, eventsQueueUrl),
    countMessages(client, applyQueueUrl),
    readerQueueUrl === undefined ? 0 : countMessages(client, readerQueueUrl),
  ]);
  const events = pushed + read;
  if (events > 0 || apply > 0) return { events, apply, groups: undefined, dirty: 0 };
  const groups = await readGroups();
  return { events, apply, groups, dirty: groups.filter(isUnfinished).length };
}

const isUnfinished = ({ state, waiting }: GroupReport) =>
  state === 'dirty' && waiting?.code !== AS_WANTED.code;

async function countMessages(client: SQSClient, queueUrl: string): Promise<number> {
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl: queueUrl,
      AttributeNames: [
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesNotVisible',
        'ApproximateNumberOfMessagesDelayed',
      ],
    }),
  );
  return Object.values(Attributes ?? {}).reduce((sum, count) => sum + Number(count), 0);
}
