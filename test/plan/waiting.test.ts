import { expect, it } from 'vitest';
import type { GroupState } from '../../shared/domain/group-state.ts';
import { reportWaiting, waitingOf } from '../../shared/plan/waiting.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 11, 23);
const untilMs = NOW_MS + 900_000;
const uncertain = { untilMs };
const lastError = { code: 'unavailable', message: 'answered 500', atMs: NOW_MS };
const dirty = { dirtySinceMs: NOW_MS, wakeAtMs: untilMs };
const waits = (over: object) => waitingOf({ ...dirty, ...over } as unknown as GroupState, NOW_MS);

it('a group that equals the wanted state waits for a last check at the deadline of an uncertain write', () => {
  expect(waits({ uncertain })).toMatchObject({ untilMs, code: 'as_wanted' });
  expect(waits({ uncertain, settled: 'deleted' })?.reason).toMatch(
    /^the platform group is deleted as wanted/,
  );
});

it('a group that is read before the deadline of an uncertain write waits for its outcome', () => {
  const waiting = waits({ uncertain: { untilMs: untilMs + 1 } });
  expect(reportWaiting(waiting)).toEqual({
    until: '2026-11-20T11:38:00.000Z',
    code: 'earlier_write',
    reason: 'outcome of an earlier write unknown',
  });
});

it('a group whose open write could not be checked waits for its outcome, with the last error', () => {
  expect(waits({ lastError, intent: {} })).toMatchObject({
    code: 'earlier_write',
    reason: 'outcome of an earlier write unknown; last error: answered 500',
  });
});

it('a group waits for its retry after an error', () => {
  expect(waits({ lastError })).toEqual({ untilMs, code: 'unavailable', reason: 'answered 500' });
});

it('the time of the next read is now if the retry is due or running', () => {
  expect(waits({ lastError, wakeAtMs: NOW_MS - 5_000 })).toMatchObject({ untilMs: NOW_MS });
});

it.each([
  ['is clean', { dirtySinceMs: undefined }],
  ['is paused', { pausedAtMs: NOW_MS }],
  ['waits for the end of its coalescing window', { uncertain: undefined, lastError: undefined }],
])('there is no reason for a wait if the group %s', (_, over) => {
  expect(waits({ uncertain, lastError, ...over })).toBeUndefined();
});
