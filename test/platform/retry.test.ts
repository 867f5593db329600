import { expect, it } from 'vitest';
import {
  decideRetry,
  type RetryFailure,
  type RetryMethod,
  retryAfterOf,
} from '../../shared/platform/retry.ts';

const METHODS: readonly RetryMethod[] = ['GET', 'PUT', 'PATCH', 'DELETE', 'POST'];
const NOW = 1_000_000;

const ask = (method: RetryMethod, failure: RetryFailure, more: { attempt?: number; leftMs?: number } = {}) =>
  decideRetry({
    method,
    failure,
    attempt: more.attempt ?? 1,
    maxAttempts: 4,
    nowMs: NOW,
    deadlineMs: NOW + (more.leftMs ?? 60_000),
    random: 0.5,
  });

/** The table in retry.ts. The last three columns are for GET, for PUT, PATCH and DELETE, and for POST. */
const TABLE: readonly [string, RetryFailure, string, string, string][] = [
  ['a request that never left', { sent: 'no' }, 'again', 'again', 'again'],
  ['no answer', { sent: 'maybe' }, 'again', 'stop', 'stop'],
  ['429', { status: 429 }, 'again', 'again', 'again'],
  ['429 with Retry-After', { status: 429, retryAfterMs: 2000 }, 'again', 'again', 'again'],
  ['503 with Retry-After', { status: 503, retryAfterMs: 2000 }, 'again', 'again', 'stop'],
  ['503 without', { status: 503 }, 'again', 'stop', 'stop'],
  ['502 with Retry-After', { status: 502, retryAfterMs: 1 }, 'again', 'stop', 'stop'],
  ...[408, 500, 502, 504].map((status): [string, RetryFailure, string, string, string] => [
    `${status}`,
    { status },
    'again',
    'stop',
    'stop',
  ]),
  ...[200, 302, 400, 401, 403, 404, 405, 409, 412, 422].map(
    (status): [string, RetryFailure, string, string, string] => [
      `${status}`,
      { status },
      'stop',
      'stop',
      'stop',
    ],
  ),
];

it.each(TABLE)('decideRetry decides for every method after %s', (_, failure, get, write, post) => {
  const expected = { GET: get, PUT: write, PATCH: write, DELETE: write, POST: post };
  for (const method of METHODS) {
    const decision = ask(method, failure) === undefined ? 'stop' : 'again';
    expect([method, decision]).toEqual([method, expected[method]]);
  }
});

it('decideRetry doubles the range of the backoff with each attempt, up to a limit', () => {
  const waits = [1, 2, 3].map((attempt) => ask('GET', { status: 500 }, { attempt }));
  expect(waits).toEqual([100, 200, 400]);
  const late = decideRetry({
    method: 'GET',
    failure: { status: 500 },
    attempt: 40,
    maxAttempts: 50,
    nowMs: NOW,
    deadlineMs: NOW + 60_000,
    random: 0.5,
  });
  expect(late).toBe(10_000);
});

it('decideRetry decides for no wait after the last attempt, and for no wait that ends at the deadline or later', () => {
  expect(ask('GET', { status: 500 }, { attempt: 4 })).toBeUndefined();
  expect(ask('GET', { status: 500 }, { leftMs: 100 })).toBeUndefined();
  expect(ask('GET', { status: 500 }, { leftMs: 101 })).toBe(100);
});

const TEN_O_CLOCK = Date.UTC(2026, 10, 20, 10, 0, 0);

it.each([
  ['seconds', '120', 120_000],
  ['zero seconds, which become one second', '0', 1000],
  ['a fraction of a second', '1.5', 1500],
  ['a number with spaces around it', ' 7 ', 7000],
  ['an IMF-fixdate', 'Fri, 20 Nov 2026 10:00:30 GMT', 30_000],
  ['an RFC 850 date', 'Friday, 20-Nov-26 10:00:30 GMT', 30_000],
  ['an asctime date, which means GMT', 'Fri Nov 20 10:00:30 2026', 30_000],
  ['a date in the past, which becomes one second', 'Fri, 20 Nov 2026 09:00:00 GMT', 1000],
  ['two hours, which become 15 minutes', '7200', 900_000],
  ['a date tomorrow, which becomes 15 minutes', new Date(TEN_O_CLOCK + 86_400_000).toUTCString(), 900_000],
  ['a number of seconds that is not a safe integer, which becomes 15 minutes', '9'.repeat(30), 900_000],
])('retryAfterOf reads %s', (_, header, expected) => {
  expect(retryAfterOf(header, TEN_O_CLOCK)).toBe(expected);
});

it.each([undefined, '', 'soon', '-5', '5 apples', 'Fri, 99 Foo 2026 10:00:30 GMT', '2026-11-20T10:00:30Z'])(
  'retryAfterOf ignores the header %j',
  (header) => {
    expect(retryAfterOf(header, TEN_O_CLOCK)).toBeUndefined();
  },
);
