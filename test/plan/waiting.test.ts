import { expect, it } from 'vitest';
import type { GroupState } from '../../shared/domain/group-state.ts';
import { waitingOf } from '../../shared/plan/waiting.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 11, 23);
const untilMs = NOW_MS + 900_000;
const uncertain = { untilMs };
const lastError = { code: 'unavailable', message: 'answered 500', atMs: NOW_MS };
const dirty = { dirtySinceMs: NOW_MS, wakeAtMs: untilMs };
const waits = (over: object) => waitingOf({ ...dirty, ...over } as unknown as GroupState, NOW_MS);

const EARLIER = 'outcome of an earlier write unknown';
it.each([
  ['a last check of an uncertain write', { uncertain }, { untilMs, code: 'as_wanted' }],
  [
    'a last check of an uncertain deletion',
    { uncertain, settled: 'deleted' },
    { reason: expect.stringMatching(/^the platform group is deleted as wanted/) },
  ],
  [
    'the outcome of an uncertain write',
    { uncertain: { untilMs: untilMs + 1 } },
    { untilMs, code: 'earlier_write', reason: EARLIER },
  ],
  [
    'the outcome of an open write that could not be checked',
    { lastError, intent: {} },
    { code: 'earlier_write', reason: `${EARLIER}; last error: answered 500` },
  ],
  ['its retry', { lastError }, { untilMs, code: 'unavailable', reason: 'answered 500' }],
  ['a retry that is due or running', { lastError, wakeAtMs: NOW_MS - 5_000 }, { untilMs: NOW_MS }],
])('a group waits for %s', (_, over, expected) => {
  expect(waits(over)).toMatchObject(expected);
});

it.each([
  ['is clean', { dirtySinceMs: undefined }],
  ['is paused', { pausedAtMs: NOW_MS }],
  ['waits for the end of its coalescing window', { uncertain: undefined, lastError: undefined }],
])('there is no reason for a wait if the group %s', (_, over) => {
  expect(waits({ uncertain, lastError, ...over })).toBeUndefined();
});
