import type { GroupId } from '../../domain/ids.ts';
import type { ReaderGroup } from '../../domain/reader-group.ts';
import { CONFIRMED_AFTER_MS, MAX_SHORT_READS, type ReadOutcome, shortReads } from './outcome.ts';

const HOUR_MS = 3_600_000;
/**
 * A group without changes is read again at the first full hour after 20 to 23 hours. So each group is read daily, and
 * not all groups at once. Runs within the hour make no calls for it.
 */
const ROLLING_MS = 20 * HOUR_MS;
const ROLLING_SPREAD_MS = 3 * HOUR_MS;
/** The time until the next run. */
const SOON_MS = 60_000;

export interface WholeRead {
  readonly outcome: ReadOutcome;
  readonly address: string;
  /** The time at which the oldest page was requested. */
  readonly asOfMs: number;
  /** The time of the stamp, if an event was sent. */
  readonly stampMs: number;
  readonly below: readonly GroupId[];
  readonly nowMs: number;
  /** A random number from 0 up to 1. */
  readonly spread: number;
}

/**
 * Returns the stored group after a whole read. Two reads that agree with desired state, at least ten minutes apart,
 * settle the group until the rolling read. Sent events are not assumed to have taken effect. The next read compares the
 * group with desired state again.
 */
export function afterRead(known: ReaderGroup, read: WholeRead): ReaderGroup {
  const { group, reportedMs, sentMs, shortMs } = known;
  const { outcome, address, asOfMs, stampMs, below, nowMs } = read;
  const base: ReaderGroup = {
    group,
    address,
    dueMs: nowMs + CONFIRMED_AFTER_MS,
    readMs: asOfMs,
    ...(reportedMs !== undefined && { reportedMs }),
    ...(sentMs !== undefined && { sentMs }),
    ...(below.length > 0 && { below }),
  };
  if (outcome.kind === 'equal') return { ...base, ...afterAgreement(known, read) };
  const sent = outcome.kind === 'again' ? base : { ...base, sentMs: stampMs };
  if (isShort(outcome)) {
    const failingMs = known.failingMs ?? nowMs;
    return { ...sent, dueMs: nowMs + SOON_MS, shortMs: shortReads(known, nowMs), problem: SHORT, failingMs };
  }
  const kept = shortMs === undefined ? sent : { ...sent, shortMs };
  const isEmpty = outcome.kind === 'again' && outcome.because === 'empty';
  return isEmpty ? { ...kept, emptyMs: known.emptyMs ?? nowMs } : kept;
}

function afterAgreement({ agreedMs }: ReaderGroup, { asOfMs, nowMs, spread }: WholeRead) {
  const firstMs = agreedMs ?? asOfMs;
  const isSettled = asOfMs - firstMs >= CONFIRMED_AFTER_MS;
  const rollingMs = Math.ceil((nowMs + ROLLING_MS + spread * ROLLING_SPREAD_MS) / HOUR_MS) * HOUR_MS;
  const dueMs = isSettled ? rollingMs : firstMs + CONFIRMED_AFTER_MS;
  return { agreedMs: firstMs, dueMs: Math.max(dueMs, nowMs + SOON_MS) };
}

const isShort = (outcome: ReadOutcome): boolean =>
  (outcome.kind === 'again' && outcome.because === 'short') ||
  (outcome.kind === 'changes' && outcome.isShort);

const SHORT = 'the directory lists fewer members than it counts';

/** Returns the stored group after a read that did not end. */
export const afterFailure = (known: ReaderGroup, problem: string, nowMs: number): ReaderGroup => ({
  ...known,
  problem,
  failingMs: known.failingMs ?? nowMs,
  dueMs: nowMs + SOON_MS,
});

/** The time of failure after which an operator must check a group. */
const LASTING_MS = 3_600_000;

/**
 * Whether an operator must check the group. A missing group does not count, because it is deleted after a day, or found
 * again.
 */
export const isUnreadable = ({ failingMs, missingMs, shortMs = [] }: ReaderGroup, nowMs: number): boolean =>
  missingMs === undefined &&
  failingMs !== undefined &&
  (nowMs - failingMs >= LASTING_MS || isShortForLong({ shortMs }));

/**
 * Whether the directory listed fewer members than it counts three times within an hour, without a complete list since.
 */
export const isShortForLong = ({ shortMs = [] }: Pick<ReaderGroup, 'shortMs'>): boolean =>
  shortMs.length >= MAX_SHORT_READS;

/**
 * Returns the stored group after a report of a change. A report that is not newer than the last report changes nothing.
 */
export function afterReport(known: ReaderGroup, reportedMs: number, nowMs: number): ReaderGroup {
  if (reportedMs <= (known.reportedMs ?? 0)) return known;
  const { agreedMs: _, ...rest } = known;
  return { ...rest, reportedMs, dueMs: nowMs };
}

/** Returns the stored state of a new group. Only its existence is known. */
export const firstSeen = (group: GroupId, address: string, nowMs: number): ReaderGroup => ({
  group,
  address,
  dueMs: nowMs,
});
