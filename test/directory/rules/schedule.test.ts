import { expect, it } from 'vitest';
import type { ReadOutcome } from '../../../shared/directory/rules/outcome.ts';
import {
  afterFailure,
  afterOldList,
  afterRead,
  afterReport,
  asksFacts,
  firstSeen,
  isUnreadable,
} from '../../../shared/directory/rules/schedule.ts';
import { stampTimeOf } from '../../../shared/directory/rules/stamp.ts';
import { groupId } from '../../../shared/domain/ids.ts';

const START_MS = Date.UTC(2026, 10, 20, 10);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NEW = firstSeen(groupId('g'), 'g@example.com', START_MS);
const EQUAL: ReadOutcome = { kind: 'equal' };

const read = (known: typeof NEW, outcome: ReadOutcome, minute: number, lagMinutes = 0, content = '') =>
  afterRead(known, {
    outcome,
    content,
    address: 'g@example.com',
    asOfMs: START_MS + minute * MINUTE_MS,
    stampMs: START_MS + (minute - 1) * MINUTE_MS,
    below: [],
    belowAddresses: [],
    counted: undefined,
    nowMs: START_MS + minute * MINUTE_MS,
    lagMs: lagMinutes * MINUTE_MS,
  });
const dueAfterMinutes = ({ dueMs }: typeof NEW) => (dueMs - START_MS) / MINUTE_MS;

it('the next read is immediate for a new group, and ten minutes after the first read that agrees', () => {
  expect(NEW.dueMs).toBe(START_MS);
  expect(dueAfterMinutes(read(NEW, EQUAL, 0))).toBe(10);
});

it('after two reads that agree, ten minutes apart, the next read is at a full hour within a day', () => {
  const settled = read(read(NEW, EQUAL, 0), EQUAL, 10);
  // 23 hours after 10:10 it is 9:10, and the next full hour is 10:00.
  expect(settled.dueMs - START_MS).toBe(24 * HOUR_MS);
  const rolling = read(settled, EQUAL, 24 * 60);
  expect(rolling.dueMs - settled.dueMs).toBe(23 * HOUR_MS);
});

it('in a directory with a lag, the two reads that agree are farther apart', () => {
  const first = read(NEW, EQUAL, 0, 10);
  expect(dueAfterMinutes(first)).toBe(20);
  expect(dueAfterMinutes(read(first, EQUAL, 19, 10))).toBe(20);
  expect(dueAfterMinutes(read(first, { kind: 'snapshot', members: [] }, 19, 10))).toBe(39);
  expect(read(first, EQUAL, 20, 10).dueMs - START_MS).toBeGreaterThan(20 * HOUR_MS);
});

it('a read within the lag, or within two minutes, does not disprove a reported deletion of the group', () => {
  const deleted = { ...NEW, deletedMs: START_MS };
  expect(read(deleted, EQUAL, 9, 10).deletedMs).toBe(START_MS);
  expect(read(deleted, EQUAL, 10, 10).deletedMs).toBeUndefined();
  expect(read(deleted, EQUAL, 1).deletedMs).toBe(START_MS);
  expect(read(deleted, EQUAL, 2).deletedMs).toBeUndefined();
});

it('two reads that agree, less than ten minutes apart, do not settle a group', () => {
  expect(dueAfterMinutes(read(read(NEW, EQUAL, 0), EQUAL, 4))).toBe(10);
});

it('after events were sent, the next read is ten minutes later, and two reads must agree again', () => {
  const sent = read(read(NEW, EQUAL, 0), { kind: 'snapshot', members: [] }, 10);
  expect(sent).toMatchObject({ sentMs: START_MS + 9 * MINUTE_MS });
  expect([sent.agreedMs, sent.unconfirmed]).toEqual([undefined, undefined]);
  expect(dueAfterMinutes(sent)).toBe(20);
  expect(dueAfterMinutes(read(sent, EQUAL, 20))).toBe(30);
});

it('a short listing causes a read in the next run, and counts until a complete listing agrees', () => {
  const short = read(NEW, { kind: 'again', because: 'short' }, 0);
  expect(short).toMatchObject({ shortMs: [START_MS], problem: expect.any(String) });
  expect(dueAfterMinutes(short)).toBe(1);
  const whole = read(short, EQUAL, 5);
  expect([whole.shortMs, whole.problem, short.answers]).toEqual([undefined, undefined, undefined]);
});

it('the first unconfirmed read is stored until a read shows other members, or agrees', () => {
  const again: ReadOutcome = { kind: 'again', because: 'unconfirmed' };
  const first = read(NEW, again, 0, 0, 'x');
  expect([first.sentMs, first.unconfirmed]).toEqual([undefined, { content: 'x', sinceMs: START_MS }]);
  expect(dueAfterMinutes(first)).toBe(10);
  expect(read(first, again, 5, 0, 'x').unconfirmed).toEqual(first.unconfirmed);
  const other = { content: 'y', sinceMs: START_MS + 5 * MINUTE_MS };
  expect(read(first, again, 5, 0, 'y').unconfirmed).toEqual(other);
  expect(read(first, EQUAL, 5, 0, 'x').unconfirmed).toBeUndefined();
});

it('a failure causes a read in the next run, and an earlier agreement still counts', () => {
  const failed = afterFailure(read(NEW, EQUAL, 0), 'unavailable', START_MS);
  expect(failed).toMatchObject({ problem: 'unavailable', agreedMs: START_MS, dueMs: START_MS + MINUTE_MS });
});

it('a group whose list stays older than its reports for an hour needs an operator', () => {
  const old = afterOldList(read(NEW, EQUAL, 0), START_MS);
  expect(old).toMatchObject({ failingMs: START_MS, dueMs: START_MS + MINUTE_MS });
  expect(isUnreadable(afterOldList(old, START_MS + HOUR_MS), START_MS + HOUR_MS)).toBe(true);
  expect(isUnreadable(read(old, EQUAL, 61), START_MS + 2 * HOUR_MS)).toBe(false);
});

it('a group needs an operator only after an hour of failures, or after three short listings', () => {
  const failed = afterFailure(NEW, 'unavailable', START_MS);
  const again = afterFailure(failed, 'unavailable', START_MS + 59 * MINUTE_MS);
  expect(isUnreadable(again, START_MS + 59 * MINUTE_MS)).toBe(false);
  expect(isUnreadable(again, START_MS + HOUR_MS)).toBe(true);
  expect(isUnreadable({ ...again, missingMs: START_MS }, START_MS + HOUR_MS)).toBe(false);
  const short: ReadOutcome = { kind: 'again', because: 'short' };
  const twice = read(read(NEW, short, 0), short, 5);
  expect(isUnreadable(twice, START_MS + 5 * MINUTE_MS)).toBe(false);
  const thrice = read(twice, short, 10);
  expect(isUnreadable(thrice, START_MS + 10 * MINUTE_MS)).toBe(true);
  expect(isUnreadable(read(thrice, EQUAL, 15), START_MS + 15 * MINUTE_MS)).toBe(false);
});

it('a reported change causes one immediate read, and the same report causes no second read', () => {
  const settled = read(read(NEW, EQUAL, 0), EQUAL, 10);
  const reported = afterReport(settled, START_MS + 20 * MINUTE_MS, START_MS + 21 * MINUTE_MS);
  expect(dueAfterMinutes(reported)).toBe(21);
  expect(reported.agreedMs).toBeUndefined();
  const done = read(reported, EQUAL, 21);
  expect([{ counted: 1 }, {}].map((one) => asksFacts({ ...done, name: 'G', ...one }))).toEqual([false, true]);
  expect(afterReport(done, START_MS + 20 * MINUTE_MS, START_MS + 26 * MINUTE_MS)).toBe(done);
});

it('the stamp is a minute before the oldest page', () => {
  expect(stampTimeOf(START_MS, undefined)).toBe(START_MS - MINUTE_MS);
});

it('the stamp is never before the last stamp that was sent', () => {
  expect(stampTimeOf(START_MS, START_MS - 1)).toBe(START_MS - 1);
});
