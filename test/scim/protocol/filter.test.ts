import { expect, it } from 'vitest';
import { matchesFilter } from '../../../shared/scim/protocol/filter/evaluate.ts';
import { lookupOf, neededIds } from '../../../shared/scim/protocol/filter/lookup.ts';
import { parseFilter, parsePatchPath } from '../../../shared/scim/protocol/filter/parse.ts';
import { resourceTypes } from '../../../shared/scim/protocol/resource-type.ts';

const { User, Group } = resourceTypes(true);
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const ann = {
  id: 'A1',
  externalId: 'Ext',
  userName: 'Ann "the" \\ Ä',
  active: true,
  title: '',
  emails: [
    { value: 'ann@work.test', type: 'work', primary: true },
    { value: 'ann@home.test', type: 'home' },
  ],
  name: { familyName: 'Archer' },
  meta: { created: '2026-11-20T10:00:00.000Z' },
  [ENTERPRISE]: { employeeNumber: '7', manager: { value: 'M1' } },
};
const matches = (filter: string) => matchesFilter(parseFilter(filter), ann, User);

it.each([
  ['userName eq "ann \\"THE\\" \\\\ ä"', true],
  ['userName ge "ann \\"the\\" \\\\ ä"', true],
  ['id eq "a1"', false],
  ['id eq "A1"', true],
  ['externalId eq "ext"', false],
  ['active eq "False"', false],
  ['active ne true', false],
  ['nickName pr', false],
  ['name pr', true],
  ['userName eq null', false],
  ['emails[type eq "work"].value eq "ann@work.test"', true],
  ['emails[primary eq true].value sw "ann" or userName eq "x"', true],
  [`${ENTERPRISE}:employeeNumber eq "7"`, true],
  [`${ENTERPRISE.toUpperCase()}:employeeNumber eq "7"`, true],
  ['manager eq "M1"', true],
  ['manager eq "m1"', false],
  ['employeeNumber eq "7"', true],
  ['employeeNumber eq 7', false],
  ['urn:unknown:thing:userName eq "x"', false],
  ['meta.created lt "2026-11-20T10:30:00+01:00"', false],
  ['not active eq false', true],
  ['id eq "x" or id eq "A1" and active eq false', false],
])('the filter %s has the result %s', (filter, expected) => {
  expect(matches(filter)).toBe(expected);
});

it.each([
  '',
  'userName',
  'userName eq',
  'eq "x"',
  'userName eq x',
  'userName eq "x',
  'emails[]',
  'userName eq "\\x"',
  'not',
  'userName pr "x"',
  '1name pr',
  'name.family.name pr',
  'userName pr not title pr',
  'userName eq 01',
  'emails[value[type pr]]',
  'emails[not (type pr or value[type pr])]',
  `${'('.repeat(3_000)}userName pr${')'.repeat(3_000)}`,
  `${'not '.repeat(1_000)}userName pr`,
  `userName eq "${'x'.repeat(9_000)}"`,
])('the invalid filter number %# is refused', (filter) => {
  expect(() => parseFilter(filter)).toThrow(
    expect.objectContaining({ status: 400, scimType: 'invalidFilter' }),
  );
});

it('a filter of 200 conditions and a filter with 30 nested brackets are accepted', () => {
  expect(matches(Array.from({ length: 200 }, () => 'id eq "A1"').join(' and '))).toBe(true);
  expect(matches(`${'('.repeat(30)}id eq "A1"${')'.repeat(30)}`)).toBe(true);
});

it.each([
  ['userName eq "X"', User, { by: 'unique', value: 'X' }],
  ['displayName eq "X"', User, undefined],
  ['displayName eq "X"', Group, { by: 'unique', value: 'X' }],
  ['active eq true and (externalId eq "e")', User, { by: 'externalId', value: 'e' }],
  ['id eq "X" and manager eq "Y"', User, { by: 'id', value: 'X' }],
  ['members eq "U"', Group, { by: 'member', value: 'U' }],
  ['members[value eq "U"]', Group, { by: 'member', value: 'U' }],
  ['members[value eq "U" or value eq "V"]', Group, undefined],
  ['emails[value eq "U"]', User, { by: 'emails', value: 'U' }],
  ['userName eq "X" or userName eq "Y"', User, undefined],
  ['not (userName eq "X")', User, undefined],
  ['userName ne "X"', User, undefined],
  ['meta.version eq "X"', User, undefined],
] as const)('the index lookup for the filter %s is correct (%#)', (filter, type, expected) => {
  expect(lookupOf(parseFilter(filter), type)).toEqual(expected);
});

it.each([
  ['displayName eq "X"', []],
  ['id eq "X" and members eq "U"', ['U']],
  ['members[value eq "U" or value eq "V"]', ['U', 'V']],
  ['not (members.value eq "U")', ['U']],
  ['members[value eq "U" or type eq "User"]', 'all'],
  ['members pr', 'all'],
  ['id eq "X" or members.value sw "U"', 'all'],
])('the evaluation of the filter %s reads the members %j', (filter, expected) => {
  expect(neededIds(parseFilter(filter), Group)).toEqual(expected);
});

it.each([
  ['userName', 'userName', undefined],
  ['name.givenName', 'name', 'givenName'],
  ['emails[type eq "work"].value', 'emails', 'value'],
  ['members[value eq "x.y\\"[z]"]', 'members', undefined],
  [`${ENTERPRISE}:manager.value`, 'manager', 'value'],
])('the PATCH path %s is parsed', (text, name, sub) => {
  expect(parsePatchPath(text).path).toMatchObject({ name, sub });
});

it.each([
  '',
  ' ',
  'a b',
  'emails[',
  'emails[type]',
  'emails[type eq "x"].',
  'emails[type eq "x"].a.b',
  'name.a.b',
  `members${'['.repeat(3_000)}`,
])('the invalid path number %# is refused', (text) => {
  expect(() => parsePatchPath(text)).toThrow(expect.objectContaining({ scimType: 'invalidPath' }));
});
