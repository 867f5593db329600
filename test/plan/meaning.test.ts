import { expect, it } from 'vitest';
import { type CallKind, type FailureKind, meaningOf } from '../../shared/plan/meaning.ts';
import type { PlatformError } from '../../shared/platform/errors.ts';
import { errorOfStatus, failureOf, NetworkError, UnexpectedBodyError } from '../../shared/platform/errors.ts';

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
  statuses: readonly (number | 'unreached' | 'no answer' | 'unfit')[],
  Cells,
])[] = [
  [['unreached'], each('wait')],
  [['no answer', 408, 500, 501, 502, 503, 504, 599, 300, 301, 302, 304, 307, 308, 421], UNSURE],
  [['unfit'], ['settle?', 'settle?', 'settle?', 'invalid', 'invalid', 'invalid']],
  [[401, 402, 403], each('gate')],
  [[404, 410], ABSENT],
  [
    [400, 405, 406, 409, 411, 412, 413, 414, 415, 416, 417, 418, 422, 423, 424, 425, 426, 428, 431, 451, 499],
    CONTENT,
  ],
  [[429], each('gate!')],
];

function errorOf(met: number | string, method: string, pathTemplate: string): PlatformError {
  const facts = { method, pathTemplate, sent: 'answered' as const };
  if (met === 'unfit') return new UnexpectedBodyError('', { ...facts, status: 200 });
  if (typeof met === 'number') return errorOfStatus({ ...facts, status: met }, {}, 0);
  return new NetworkError('', { ...facts, sent: met === 'unreached' ? 'no' : 'maybe' });
}

const cases = TABLE.flatMap(([statuses, cells]) => statuses.map((met) => [met, cells] as const));

it.each(cases)('meaningOf returns the expected cells for every call that fails with %s', (met, cells) => {
  for (const [call, method, path] of CALLS) {
    const failure = failureOf(errorOf(met, method, path), 'v1');
    const { happened, whose, next } = meaningOf(failure, failure.call);
    const shown = `${next}${happened === 'unknown' ? '?' : ''}${{ connection: '!', group: '*', probe: '' }[whose]}`;
    expect([method, path, shown]).toEqual([method, path, cells[COLUMNS.indexOf(call)]]);
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
