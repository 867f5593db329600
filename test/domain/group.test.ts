import { expect, it } from 'vitest';
import { groupExists, groupName, hasDeparted, memberCounts, NO_GROUP } from '../../shared/domain/group.ts';
import { makeStamp, STAMP_ZERO } from '../../shared/domain/stamp.ts';

const at = (second: number) => makeStamp({ time: `2026-11-20T10:00:0${second}Z`, id: 'e', source: 's' });
const [one, two, three] = [at(1), at(2), at(3)];

it('a group exists if it was upserted after its last deletion', () => {
  expect(groupExists(NO_GROUP)).toBe(false);
  expect(groupExists({ ...NO_GROUP, upserted: one })).toBe(true);
  expect(groupExists({ ...NO_GROUP, upserted: one, deleted: one })).toBe(false);
  expect(groupExists({ ...NO_GROUP, upserted: one, deleted: two })).toBe(false);
  expect(groupExists({ ...NO_GROUP, upserted: two, deleted: one })).toBe(true);
});

it('a group loses its name when it is deleted', () => {
  const named = { ...NO_GROUP, upserted: three, name: { value: 'A', stamp: two } };
  expect(groupName(named)).toBe('A');
  expect(groupName({ ...named, deleted: one })).toBe('A');
  expect(groupName({ ...named, deleted: two })).toBeUndefined();
  expect(groupName({ ...NO_GROUP, upserted: three })).toBeUndefined();
});

it.each([
  ['no event has mentioned', NO_GROUP, true],
  ['is deleted', { ...NO_GROUP, upserted: one, deleted: two }, true],
  ['returned without a name', { ...NO_GROUP, upserted: three, deleted: two }, true],
  ['returned with a name', { upserted: three, name: { value: 'A', stamp: three }, deleted: two }, false],
  ['never had a name', { ...NO_GROUP, upserted: one }, false],
])('hasDeparted for a group that %s: $2', (_, registers, departed) => {
  expect(hasDeparted({ ...NO_GROUP, ...registers })).toBe(departed);
});

const present = { value: 'present', stamp: two } as const;

it.each([
  ['at the group’s floor', two, STAMP_ZERO, true],
  ['above both floors', one, one, true],
  ['below the group’s floor', three, STAMP_ZERO, false],
  ['at the user’s floor', STAMP_ZERO, two, false],
  ['below the user’s floor', STAMP_ZERO, three, false],
])('memberCounts for a stamp %s: $3', (_, groupAt, userAt, counts) => {
  expect(memberCounts(present, groupAt, userAt)).toBe(counts);
  expect(memberCounts({ ...present, value: 'absent' }, groupAt, userAt)).toBe(false);
});
