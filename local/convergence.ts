import { setTimeout as pause } from 'node:timers/promises';
import { AS_WANTED } from '../shared/plan/waiting.ts';
import type { GroupReport } from './report.ts';

/** The remaining work. `groups` is undefined while a queue still contains messages. */
export interface Backlog {
  /** The number of messages in the queue: visible, delayed or in flight. */
  readonly events: number;
  readonly apply: number;
  readonly groups: GroupCounts | undefined;
}

export interface GroupCounts {
  readonly all: number;
  readonly unfinished: number;
}

export interface ConvergenceOptions {
  /** Returns the number of messages of a queue: visible, delayed or in flight. */
  readonly countMessages: (queueUrl: string) => number;
  readonly eventsQueueUrl: string;
  /** The queue of the directory reader; undefined if no directory is read. */
  readonly readerQueueUrl?: string | undefined;
  readonly applyQueueUrl: string;
  /** Counts the groups. It is called ten times a second while the queues are empty. */
  readonly countGroups: () => Promise<GroupCounts>;
  /** Returns the groups. It reads every member, so it is called only at the end. */
  readonly readGroups: () => Promise<readonly GroupReport[]>;
  readonly onBacklog: (backlog: Backlog) => void;
  /** Called when only the apply queue holds messages. No further event can then change the waiting groups. */
  readonly onLastEvent?: (() => Promise<void>) | undefined;
  readonly signal: AbortSignal;
  readonly pollMs?: number;
}

const POLL_MS = 100;

/**
 * Waits until both queues are empty (no message visible, delayed or in flight) and no group is unfinished. Both
 * conditions must hold in two checks in a row, because the queues and the groups are not read at the same instant.
 * @returns the groups as the last check read them; if `signal` ended the wait, the groups at that time
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
 * Returns whether a group still changes. A dirty group does not count if its content is already correct and only the
 * deadline of an earlier write is open.
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
