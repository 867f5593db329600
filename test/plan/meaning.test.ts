import { expect, it } from 'vitest';
import { type CallKind, type FailureKind, meaningOf } from '../../shared/plan/meaning.ts';
import * as errors from '../../shared/platform/errors.ts';
import { errorOfStatus, failureOf } from '../../shared/platform/errors.ts';

const GROUPS = '/platform/api/groups';
const CALLS: readonly (readonly [CallKind, method: string, path: string])[] = [
  ['create', 'POST', GROUPS],
  ['change', 'PUT', `${GROUPS}/{groupId}`],
  ['change', 'PATCH', `${GROUPS}/{groupId}`],
  ['delete', 'DELETE', `${GROUPS}/{groupId}`],
  ['group', 'GET', `${GROUPS}/{groupId}`],
  ['groups', 'GET', GROUPS],
  ['other', 'GET', '/platform/api/employees'],
  ['other', 'GET', '/platform/api/company_activity'],
  ['other', 'POST', '/oauth/token'],
];

/**
 * A cell is the next action. `?` marks a write that may have taken effect. `!` means that the failure concerns the
 * connection, and `*` that it concerns the group. Without `!` or `*`, a probe must show which.
 */
type Cells = readonly [
  create: string,
  change: string,
  del: string,
  group: string,
  groups: string,
  other: string,
];
const COLUMNS: readonly CallKind[] = ['create', 'change', 'delete', 'group', 'groups', 'other'];

const each = (cell: string): Cells => [cell, cell, cell, cell, cell, cell];
const UNSURE: Cells = ['settle?', 'settle?', 'settle?', 'wait', 'wait', 'wait'];
const CONTENT: Cells = ['refuse*', 'compare*', 'refuse*', 'refuse*', 'refuse*', 'refuse*'];
const ABSENT: Cells = ['gate', 'gone*', 'gone*', 'gone*', 'gate', 'refuse*'];

const TABLE: readonly (readonly [
  FailureKind,
  statuses: readonly (number | 'unreached' | 'no answer' | 'unfit')[],
  Cells,
])[] = [
  ['unreached', ['unreached'], each('wait')],
  ['unanswered', ['no answer', 408], UNSURE],
  ['unavailable', [500, 501, 502, 503, 504, 599], UNSURE],
  ['rejected', [300, 301, 302, 304, 307, 308, 421], UNSURE],
  ['unavailable', ['unfit'], ['settle?', 'settle?', 'settle?', 'invalid', 'invalid', 'invalid']],
  ['unauthorized', [401], each('gate')],
  ['forbidden', [402, 403], each('gate')],
  ['not_found', [404, 410], ABSENT],
  [
    'rejected',
    [400, 405, 406, 409, 411, 412, 413, 414, 415, 416, 417, 418, 422, 423, 424, 425, 426, 428, 431, 451, 499],
    CONTENT,
  ],
  ['throttled', [429], each('gate!')],
];

function errorOf(met: number | string, method: string, pathTemplate: string): errors.PlatformError {
  const facts = { method, pathTemplate, sent: 'answered' as const };
  if (met === 'unfit') return new errors.UnexpectedBodyError('', { ...facts, status: 200 });
  if (typeof met === 'number') return errorOfStatus({ ...facts, status: met }, {}, 0);
  return new errors.NetworkError('', { ...facts, sent: met === 'unreached' ? 'no' : 'maybe' });
}

const cases = TABLE.flatMap(([kind, statuses, cells]) => statuses.map((met) => [met, kind, cells] as const));

it.each(cases)('a call that fails with %s has the kind %s and the expected cells', (met, kind, cells) => {
  for (const [call, method, path] of CALLS) {
    const failure = failureOf(errorOf(met, method, path), 'v1');
    const { happened, whose, next } = meaningOf(failure, failure.call);
    const shown = `${next}${happened === 'unknown' ? '?' : ''}${{ connection: '!', group: '*', probe: '' }[whose]}`;
    expect([path, failure.kind, shown]).toEqual([path, kind, cells[COLUMNS.indexOf(call)]]);
  }
});

it('meaningOf returns an action for every kind of failure, even without a call or a status', () => {
  const kinds: readonly FailureKind[] = [
    'unauthorized',
    'forbidden',
    'not_found',
    'rejected',
    'throttled',
    'unavailable',
    'unanswered',
    'unreached',
  ];
  const shown = kinds.map((kind) => meaningOf({ kind }).next);
  expect(shown).toEqual(['gate', 'gate', 'refuse', 'refuse', 'gate', 'wait', 'wait', 'wait']);
});

const facts = (sent: 'no' | 'maybe' | 'answered', status?: number) => ({
  method: 'PUT',
  pathTemplate: `${GROUPS}/{groupId}`,
  sent,
  status,
  retryAfterMs: 7,
});

it.each<[errors.PlatformError, FailureKind, happened: 'no' | 'unknown']>([
  [new errors.InvalidGrantError('', facts('answered', 400)), 'unauthorized', 'no'],
  [new errors.InvalidRequestError('', facts('no')), 'rejected', 'no'],
  [new errors.ReportedError('', facts('answered', 200)), 'unavailable', 'unknown'],
  [new errors.TimeoutError('', facts('maybe')), 'unanswered', 'unknown'],
  [new errors.TimeoutError('', facts('no')), 'unreached', 'no'],
  [new errors.ServerError('', facts('no', 503)), 'unreached', 'no'],
  [new errors.AbortedError('', facts('maybe')), 'unanswered', 'unknown'],
])('the error $name becomes a failure of the kind %s', (error, kind, happened) => {
  const failure = failureOf(error, 'v1');
  expect([failure.kind, meaningOf(failure, failure.call).happened]).toEqual([kind, happened]);
});

it('the failure contains status, retry time, secret version and cause of the error', () => {
  const cause = new errors.RateLimitedError('too many', facts('answered', 429));
  const expected = { status: 429, retryAfterMs: 7, secretVersion: 'v1', cause, message: cause.message };
  expect(failureOf(cause, 'v1')).toMatchObject(expected);
});
