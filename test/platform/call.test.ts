import { expect, it } from 'vitest';
import { outcomeOf } from '../../shared/platform/call.ts';

const facts = { method: 'PATCH', pathTemplate: '/platform/api/groups/{groupId}', attempt: 1, durationMs: 5 };
const endpoint = 'PATCH /platform/api/groups/{groupId}';

it.each([
  ['200', { status: 200 }, undefined],
  ['404, which depends on the group', { status: 404, error: 'NotFoundError' }, undefined],
  ['409, which depends on the version', { status: 409, error: 'ConflictError' }, undefined],
  ['500', { status: 500, error: 'ServerError' }, '500'],
  ['429 after the last attempt', { status: 429, error: 'RateLimitedError' }, '429'],
  ['403', { status: 403, error: 'ForbiddenError' }, '403'],
  ['408 after the last attempt', { status: 408, error: 'UnavailableError' }, '408'],
  ['a redirect, which is never followed', { status: 302, error: 'RefusedError' }, '302'],
  ['no answer', { error: 'TimeoutError' }, 'TimeoutError'],
  ['200 with a malformed body', { status: 200, error: 'UnexpectedBodyError' }, 'UnexpectedBodyError'],
])('outcomeOf returns the endpoint, and for a failed call also the failure: %s', (_, of, failure) => {
  expect(outcomeOf({ ...facts, ...of })).toEqual({ endpoint, failure });
});

it('outcomeOf returns undefined before the last attempt, and for a call that the caller cancelled', () => {
  expect(outcomeOf({ ...facts, status: 503, error: 'ServerError', waitMs: 200 })).toBeUndefined();
  expect(outcomeOf({ ...facts, error: 'AbortedError' })).toBeUndefined();
});
