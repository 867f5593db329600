import { expect, it } from 'vitest';
import { targetOf } from '../../shared/platform/call.ts';

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
