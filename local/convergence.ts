import { setTimeout as pause } from 'node:timers/promises';
import { AS_WANTED } from '../shared/plan/waiting.ts';
import type { GroupReport } from './report.ts';

/** The remaining work. `groups` is undefined while a queue still contains messages. */
export interface Backlog {
  /** The number of visible, delayed and in-flight messages of the events queue and of the reader's queue. */
  readonly events: number;
  readonly apply: number;
  readonly groups: GroupCounts | undefined;
}

export interface GroupCounts {
  readonly all: number;
  readonly unfinished: number;
}

interface ConvergenceOptions {
  readonly countMessages: (queueUrl: string) => number;
  readonly eventsQueueUrl: string;
  /** The queue of the directory reader; undefined if no directory is read. */
  readonly readerQueueUrl?: string | undefined;
  readonly applyQueueUrl: string;
  /** Counts the groups. Called ten times a second while the queues are empty. */
  readonly countGroups: () => Promise<GroupCounts>;
  /** Returns the groups. The read of every member is slow, so it happens only at the end. */
  readonly readGroups: () => Promise<readonly GroupReport[]>;
  readonly onBacklog: (backlog: Backlog) => void;
  /** Called when only the apply queue still contains messages. At this time, no event can change the waiting groups. */
  readonly onLastEvent?: (() => Promise<void>) | undefined;
  readonly signal: AbortSignal;
  readonly pollMs?: number;
}

const POLL_MS = 100;

/**
 * Waits until the queues contain no visible, delayed or in-flight message and no group is unfinished. Two checks in a
 * row must find this, because a check reads the queues and the groups at different times.
 * @returns the groups after the last check, or the groups at the time when `signal` ended the wait
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
    if (seen === 2) {
      const groups = await options.readGroups();
      if (!groups.some(isUnfinished)) return { converged: true, groups };
      seen = 0;
    }
    await pause(options.pollMs ?? POLL_MS, undefined, options).catch(() => undefined);
  }
  return { converged: false, groups: await options.readGroups() };
}

/**
 * Returns whether groupsync still has to change the group. A dirty group is finished if its content is correct and it
 * only waits for the deadline of an earlier write.
 */
export const isUnfinished = (group: {
  readonly state: string;
  readonly waiting: { readonly code: string } | null | undefined;
}): boolean => group.state === 'dirty' && group.waiting?.code !== AS_WANTED.code;

const isSettled = (backlog: Backlog) =>
  backlog.events === 0 && backlog.apply === 0 && backlog.groups?.unfinished === 0;

async function readBacklog(options: ConvergenceOptions): Promise<Backlog> {
  const { countMessages, eventsQueueUrl, readerQueueUrl, applyQueueUrl } = options;
  const read = readerQueueUrl === undefined ? 0 : countMessages(readerQueueUrl);
  const events = countMessages(eventsQueueUrl) + read;
  const apply = countMessages(applyQueueUrl);
  const groups = events + apply > 0 ? undefined : await options.countGroups();
  return { events, apply, groups };
}
