import type { GroupId } from '../../domain/ids.ts';
import type { ReaderGroup } from '../../domain/reader-group.ts';
import { CONFIRMED_AFTER_MS, MAX_SHORT_READS, type ReadOutcome, shortReads } from './outcome.ts';

/** A group without changes is read again after 20 to 24 hours: each group daily, and not all at once. */
const ROLLING_MS = 20 * 3_600_000;
const ROLLING_SPREAD_MS = 4 * 3_600_000;
/** The next run. */
const SOON_MS = 60_000;

export interface WholeRead {
  readonly outcome: ReadOutcome;
  readonly address: string;
  /** When the oldest page was requested. */
  readonly asOfMs: number;
  /** Time of the stamp, if something was sent. */
  readonly stampMs: number;
  readonly below: readonly GroupId[];
  readonly nowMs: number;
  /** From 0 up to 1. */
  readonly spread: number;
}

/**
 * The group after a whole read. Two reads that agree with desired state, at least ten minutes apart, settle it until the
 * rolling read. What was sent is not taken as right: the next read compares it with desired state again.
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
  const dueMs = isSettled ? nowMs + ROLLING_MS + spread * ROLLING_SPREAD_MS : firstMs + CONFIRMED_AFTER_MS;
  return { agreedMs: firstMs, dueMs: Math.max(dueMs, nowMs + SOON_MS) };
}

const isShort = (outcome: ReadOutcome): boolean =>
  (outcome.kind === 'again' && outcome.because === 'short') ||
  (outcome.kind === 'changes' && outcome.isShort);

const SHORT = 'the directory lists fewer members than it counts';

/** The group after a read that did not end. */
export const afterFailure = (known: ReaderGroup, problem: string, nowMs: number): ReaderGroup => ({
  ...known,
  problem,
  failingMs: known.failingMs ?? nowMs,
  dueMs: nowMs + SOON_MS,
});

/** An operator has to look at a group that fails for so long. */
const LASTING_MS = 3_600_000;

/** A group that is missing is not among them: it is deleted after a day, or is there again. */
export const isUnreadable = ({ failingMs, missingMs, shortMs = [] }: ReaderGroup, nowMs: number): boolean =>
  missingMs === undefined &&
  failingMs !== undefined &&
  (nowMs - failingMs >= LASTING_MS || isShortForLong({ shortMs }));

/** The directory has listed fewer members than it counts three times within an hour, and no complete list since. */
export const isShortForLong = ({ shortMs = [] }: Pick<ReaderGroup, 'shortMs'>): boolean =>
  shortMs.length >= MAX_SHORT_READS;

/** The group after a report that it has changed. A report that came before changes nothing. */
export function afterReport(known: ReaderGroup, reportedMs: number, nowMs: number): ReaderGroup {
  if (reportedMs <= (known.reportedMs ?? 0)) return known;
  const { agreedMs: _, ...rest } = known;
  return { ...rest, reportedMs, dueMs: nowMs };
}

/** A group of which nothing is known but that it exists. */
export const firstSeen = (group: GroupId, address: string, nowMs: number): ReaderGroup => ({
  group,
  address,
  dueMs: nowMs,
});
