import { expect, it } from 'vitest';
import { outcomeOf, targetOf } from '../../shared/platform/call.ts';

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

const READ = { method: 'GET', path: '/platform/api/groups/{groupId}' } as const;

it.each([
  ['g1', '/platform/api/groups/g1'],
  ['a/b?c#d', '/platform/api/groups/a%2Fb%3Fc%23d'],
  ['../me', '/platform/api/groups/..%2Fme'],
  ['ü 💡%', '/platform/api/groups/%C3%BC%20%F0%9F%92%A1%25'],
  ['$&', '/platform/api/groups/%24%26'],
])('targetOf encodes the id %j as one path segment', (groupId, expected) => {
  expect(targetOf(READ, { groupId })).toBe(expected);
});

it.each(['', '.', '..', '\ud800'])('targetOf refuses the id %j', (groupId) => {
  expect(() => targetOf(READ, { groupId })).toThrow(TypeError);
});

it('targetOf encodes query parameters, and leaves out undefined query parameters', () => {
  const query = { limit: 10, flag: false, none: undefined, next: 'a+b&c=d' };
  expect(targetOf({ method: 'GET', path: '/x' }, {}, query)).toBe(
    '/x?limit=10&flag=false&next=a%2Bb%26c%3Dd',
  );
});
