import { expect, it } from 'vitest';
import { contentDigest, isSameContent } from '../../shared/domain/content-digest.ts';

const GROUP = { name: 'Sales', spokeId: 'G1', users: ['a', 'b', 'c'] };
const isSame = (over: Partial<typeof GROUP> | { readonly spokeId: null }) =>
  isSameContent(contentDigest(GROUP), contentDigest({ ...GROUP, ...over }));

it.each([
  ['another order of the users', { users: ['c', 'a', 'b'] }, true],
  ['a repeated user', { users: ['a', 'b', 'c', 'a'] }, true],
  ['a spokeId that is not shown', { spokeId: null }, true],
  ['a spokeId in another form', { spokeId: 'g1 ' }, true],
  ['another spokeId', { spokeId: 'G2' }, false],
  ['another name', { name: 'sales' }, false],
  ['a missing user', { users: ['a', 'b'] }, false],
  ['another user', { users: ['a', 'b', 'd'] }, false],
  ['two user ids that are joined into one', { users: ['ab', 'c'] }, false],
])('isSameContent for %s: $2', (_, over, expected) => {
  expect(isSame(over)).toBe(expected);
});

it('the digest differs if one of 200,000 users differs', () => {
  const users = Array.from({ length: 200_000 }, (_, n) => `user-${n}`);
  const changed = users.with(77, 'user-x');
  expect(isSame({ users: [] })).toBe(false);
  expect(contentDigest({ ...GROUP, users })).not.toBe(contentDigest({ ...GROUP, users: changed }));
  expect(contentDigest({ ...GROUP, users })).toBe(contentDigest({ ...GROUP, users: users.toReversed() }));
});
