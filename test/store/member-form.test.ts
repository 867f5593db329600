import { expect, it } from 'vitest';
import { parseMember, parsePresence } from '../../shared/store/group-item.ts';

const ITEM = { pk: 'G#default#g', sk: 'M#a', member: 'a', presence: 'present', stamp: '2026' };

it('parsePresence returns the same values as parseMember', () => {
  expect(parsePresence(ITEM)).toEqual(parseMember(ITEM));
});

it.each([
  ['member', 1],
  ['presence', 'perhaps'],
  ['presence', undefined],
  ['stamp', null],
])('the error about a member register whose %s is %j names its partition', (name, value) => {
  const item = { ...ITEM, [name]: value } as never;
  for (const parse of [parseMember, parsePresence])
    expect(() => parse(item)).toThrow('expected a member register in partition G#default#g');
});
