import { expect, it } from 'vitest';
import {
  afterGroupSuccess,
  type CallOutcomes,
  changesRecord,
  type FailingCalls,
  isFailing,
  withOutcomes,
} from '../../shared/domain/failing-calls.ts';

const PATCH = 'PATCH /platform/api/groups/{groupId}';
const HOUR_MS = 3_600_000;
const T = 10 * HOUR_MS;

const record = (over: Partial<FailingCalls> = {}): FailingCalls => ({
  endpoint: PATCH,
  sinceMs: T,
  total: 2,
  failed: 2,
  lastFailedMs: T,
  reason: '500',
  ...over,
});
const outcomes = (of: CallOutcomes, endpoint = PATCH) => new Map([[endpoint, of]]);

it.each([
  ['is failing after a failed call', {}, T + HOUR_MS, true],
  ['is not failing if the failed call was not repeated for two hours', {}, T + 2 * HOUR_MS, false],
  ['is failing while failed and successful calls are mixed', { lastGoodMs: T + 1 }, T + 14_000, true],
  ['is not failing 15 s after a failure if a call succeeded', { lastGoodMs: T + 1 }, T + 15_000, false],
])('an endpoint %s', (_, over, nowMs, expected) => {
  expect(isFailing(record(over), nowMs)).toBe(expected);
});

it('a failing call begins a new record if the previous record has expired', () => {
  const over = record({ lastGoodMs: T + 1 });
  const some = outcomes({ total: 1, failed: 1, lastFailedMs: T + HOUR_MS, reason: '500' });
  expect(withOutcomes([over], some, T + HOUR_MS)).toMatchObject([{ sinceMs: T + HOUR_MS, total: 1 }]);
});

const failedAfter = (ms: number) => ({ total: 1, failed: 1, lastFailedMs: T + ms });
const goodAfter = (ms: number) => ({ total: 1, failed: 0, lastGoodMs: T + ms });
it.each<[string, FailingCalls[], CallOutcomes, number, boolean]>([
  ['a success', [], goodAfter(1), 1, false],
  ['a first failure', [], failedAfter(1), 1, true],
  ['a failure soon after a recorded one', [record()], failedAfter(4_999), 4_999, false],
  ['a later failure', [record()], failedAfter(5_000), 5_000, true],
  ['the first success after a failure', [record()], goodAfter(1), 1, true],
  ['a success before the recorded failure', [record()], goodAfter(-1), 1, false],
  ['a further success', [record({ lastGoodMs: T + 1 })], goodAfter(2), 2, false],
  ['a success after the record expired', [record({ lastGoodMs: T + 1 })], goodAfter(2), 15_000, true],
])('after %s, the record is written or not', (_, recorded, latest, afterMs, expected) => {
  expect(changesRecord(recorded, outcomes(latest), T + afterMs)).toBe(expected);
});

it('group endpoints count as working after a group was written or read, and other endpoints do not', () => {
  const feed = record({ endpoint: 'GET /platform/api/company_activity' });
  expect(afterGroupSuccess([record(), feed], T + 10)).toEqual([record({ lastGoodMs: T + 10 }), feed]);
  const unchanged = [feed, record({ lastGoodMs: T + 1 })];
  expect(afterGroupSuccess(unchanged, T + 10)).toBe(unchanged);
});
