import { HOUR_MS } from '../../domain/duration.ts';
import type { GroupId } from '../../domain/ids.ts';
import { namedWithinLag } from './named.ts';
import {
  CONFIRMED_AFTER_MS,
  MAX_SHORT_READS,
  type ReadOutcome,
  shortReads,
  unconfirmedSince,
} from './outcome.ts';
import type { ReaderGroup } from './reader-group.ts';

/**
 * A group without changes is due again at the first full hour after 23 hours, so daily at the same hour. Many groups
 * are then due in the same run. The run reads a user of several groups only once, which saves requests.
 */
const ROLLING_MS = 23 * HOUR_MS;
/** In a directory without a longer lag, an answer may show the earlier state for this time after a change. */
export const SHOWN_AFTER_MS = 2 * 60_000;
/** The shortest wait before the next read. The next run that starts after it reads the group. */
const SOON_MS = 60_000;

interface WholeRead {
  readonly outcome: ReadOutcome;
  /** A hash of the members. */
  readonly content: string;
  readonly address: string;
  /** The time at which the oldest page was requested. */
  readonly asOfMs: number;
  /** The time of the stamp of the events that the read caused. */
  readonly stampMs: number;
  readonly below: readonly GroupId[];
  /** The addresses of the nested groups. An address that the lists do not show is missing. */
  readonly belowAddresses: readonly string[];
  /** The directory's count of direct users. If the count was not read, the number of listed direct users. */
  readonly counted: number | undefined;
  readonly nowMs: number;
  /** The lag of the directory: for this time after a reported change, a read may show the state before the change. */
  readonly lagMs: number;
}

/**
 * Returns the reader's item of a group after a complete read. Two reads confirm each other if both equal the desired
 * state and at least ten minutes plus the lag are between them. After the second of these reads, the next read is the
 * daily read. If the read caused events, the next read checks whether the events took effect. Within the lag, a
 * successful read does not prove that a group still exists after a report of its deletion.
 */
export function afterRead(known: ReaderGroup, read: WholeRead): ReaderGroup {
  const { shortMs } = known;
  const { outcome, content, stampMs, nowMs } = read;
  const base = readAt(known, read);
  if (outcome.kind === 'equal') return { ...base, ...afterAgreement(known, read) };
  const sent = outcome.kind === 'again' ? base : { ...base, sentMs: stampMs };
  const reason = keptBecause(outcome);
  if (reason === 'short') {
    const failingMs = known.failingMs ?? nowMs;
    return { ...sent, dueMs: nowMs + SOON_MS, shortMs: shortReads(known, nowMs), problem: SHORT, failingMs };
  }
  const kept = shortMs === undefined ? sent : { ...sent, shortMs };
  if (reason !== 'unconfirmed') return kept;
  return { ...kept, unconfirmed: { content, sinceMs: unconfirmedSince(known, { content, nowMs }) } };
}

/** Returns the reader's item with the content of the read. The group is due again after ten minutes plus the lag. */
function readAt(known: ReaderGroup, read: WholeRead): ReaderGroup {
  const { group, reportedMs, deletedMs, sentMs, named: reported } = known;
  const { address, asOfMs, below, belowAddresses, counted, nowMs, lagMs } = read;
  const answers = answersAfter(known, read);
  const named = namedWithinLag({ named: reported ?? [] }, { nowMs, lagMs });
  const shownAfterMs = Math.max(lagMs, SHOWN_AFTER_MS);
  return {
    group,
    address,
    dueMs: nowMs + CONFIRMED_AFTER_MS + lagMs,
    readMs: asOfMs,
    ...(reportedMs !== undefined && { reportedMs }),
    ...(deletedMs !== undefined && asOfMs - deletedMs < shownAfterMs && { deletedMs }),
    ...(sentMs !== undefined && { sentMs }),
    ...(below.length > 0 && { below }),
    ...(belowAddresses.length > 0 && { belowAddresses }),
    ...(named.length > 0 && { named }),
    ...(counted !== undefined && { counted }),
    ...(answers.length > 0 && { answers }),
  };
}

/** The number of lists that show a flip: A, B, A, B, A changes back three times. */
const FLIP_LISTS = 5;

function answersAfter({ answers = [] }: ReaderGroup, { outcome, content, asOfMs }: WholeRead) {
  const isSame = answers.at(-1)?.content === content;
  if (isSame || keptBecause(outcome) === 'short') return answers;
  return [...answers, { content, atMs: asOfMs }].slice(-FLIP_LISTS);
}

/** Returns the times of the last two lists of a group whose list changed back three times within an hour. */
export function flipOf({ answers = [] }: ReaderGroup, nowMs: number): readonly number[] | undefined {
  const [, , first, before, last] = answers;
  const isBack = answers.slice(2).every(({ content }, at) => content === answers[at]?.content);
  if (!isBack || first === undefined || before === undefined || last === undefined) return undefined;
  const isLately = last.atMs - first.atMs <= HOUR_MS && nowMs - last.atMs < HOUR_MS;
  return isLately ? [before.atMs, last.atMs] : undefined;
}

function afterAgreement({ agreedMs }: ReaderGroup, { asOfMs, nowMs, lagMs }: WholeRead) {
  const firstMs = agreedMs ?? asOfMs;
  const confirmedAfterMs = CONFIRMED_AFTER_MS + lagMs;
  const isSettled = asOfMs - firstMs >= confirmedAfterMs;
  const rollingMs = Math.ceil((nowMs + ROLLING_MS) / HOUR_MS) * HOUR_MS;
  const dueMs = isSettled ? rollingMs : firstMs + confirmedAfterMs;
  return { agreedMs: firstMs, dueMs: Math.max(dueMs, nowMs + SOON_MS) };
}

function keptBecause(outcome: ReadOutcome) {
  if (outcome.kind === 'again') return outcome.because;
  return outcome.kind === 'changes' ? outcome.keepsBecause : undefined;
}

/** Returns the item after a read whose list was older than a report. The next run reads again. */
export const afterOldList = ({ agreedMs: _, ...known }: ReaderGroup, nowMs: number): ReaderGroup =>
  afterFailure(known, OLD, nowMs);

const OLD = 'the directory lists members as before a reported change';
const SHORT = 'the directory lists fewer members than it counts';

export const afterFailure = (known: ReaderGroup, problem: string, nowMs: number): ReaderGroup => ({
  ...known,
  problem,
  failingMs: known.failingMs ?? nowMs,
  dueMs: nowMs + SOON_MS,
});

/** If reads of a group fail for this long, an operator must check the group. */
const LASTING_MS = 3_600_000;

/**
 * Whether an operator must check the group. A group that the directory does not find needs no check, because after a
 * day it counts as deleted.
 */
export const isUnreadable = ({ failingMs, missingMs, shortMs = [] }: ReaderGroup, nowMs: number): boolean =>
  missingMs === undefined &&
  failingMs !== undefined &&
  (nowMs - failingMs >= LASTING_MS || isShortForLong({ shortMs }));

/** Whether three reads within an hour were short, without a later read that equals the desired state. */
export const isShortForLong = ({ shortMs = [] }: Pick<ReaderGroup, 'shortMs'>): boolean =>
  shortMs.length >= MAX_SHORT_READS;

/** Returns the reader's item after a report of a change. A report that is older than the last report has no effect. */
export function afterReport(known: ReaderGroup, reportedMs: number, nowMs: number): ReaderGroup {
  if (reportedMs <= (known.reportedMs ?? 0)) return known;
  const { agreedMs: _, ...rest } = known;
  return { ...rest, reportedMs, dueMs: nowMs };
}

/**
 * Returns the reader's item of a group after a report about one of its users. Within the lag, an answer may show the
 * earlier state of the user. So earlier agreement no longer counts, and the group is read again after the lag.
 */
export function afterUserReport(known: ReaderGroup, nowMs: number, lagMs: number): ReaderGroup {
  const { agreedMs: _, ...rest } = known;
  return { ...rest, dueMs: Math.min(known.dueMs, nowMs + CONFIRMED_AFTER_MS + lagMs) };
}

/**
 * Returns the reader's item of a group after a report of a change that is not only about members. The report has an
 * effect even if it is older than the last report, unlike in `afterReport`.
 */
export const afterChange = (known: ReaderGroup, nowMs: number): ReaderGroup => ({
  ...known,
  needsFacts: true,
  dueMs: Math.min(known.dueMs, nowMs),
});

/**
 * Whether the next read must request the name, the address and the number of members of the group. After a change of
 * members alone, these values are not requested again. The hourly list shows names and numbers (`isListedOtherwise`).
 */
export const asksFacts = (known: ReaderGroup): boolean =>
  known.needsFacts === true ||
  known.name === undefined ||
  [known.readMs, known.counted].includes(undefined) ||
  known.other !== undefined ||
  [known.deletedMs, known.missingMs, known.unconfirmed, known.shortMs, known.problem].some(
    (sign) => sign !== undefined,
  );

/** Whether a list shows another name or another number of members than the last read of the group. */
export const isListedOtherwise = (
  { readMs, name, counted, other }: ReaderGroup,
  listed: { readonly name: string; readonly userCount: number | undefined },
): boolean => {
  if (readMs === undefined || other !== undefined) return false;
  if (name !== undefined && name !== listed.name) return true;
  return counted !== undefined && listed.userCount !== undefined && counted !== listed.userCount;
};

export const firstSeen = (group: GroupId, address: string, nowMs: number): ReaderGroup => ({
  group,
  address,
  dueMs: nowMs,
});
