import { expect, it } from 'vitest';
import { applyPatch } from '../../../shared/scim/protocol/patch/apply.ts';
import { foldMembers, splitGroupPatch } from '../../../shared/scim/protocol/patch/members.ts';
import { readPatch } from '../../../shared/scim/protocol/patch/operation.ts';
import { resourceTypes } from '../../../shared/scim/protocol/resource-type.ts';
import type { ScimObject } from '../../../shared/scim/protocol/value.ts';
import { add, remove, replace } from '../../support/scim-operations.ts';

const { User, Group } = resourceTypes(true);
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const WORK = { value: 'w@x', type: 'work', primary: true };
const HOME = { value: 'h@x', type: 'home' };
const ann = { userName: 'ann', active: true, name: { givenName: 'Ann' }, emails: [WORK, HOME] };

const patched = (operation: ScimObject, from: ScimObject = ann) =>
  applyPatch(from, readPatch({ Operations: [operation] }), User);

const wrong = { givenName: {} };

it.each<[string, ScimObject]>([
  ['name.givenName: expected a string', replace('name.givenName', {})],
  ['name.givenName: expected a string', replace('name', wrong)],
  ['name.givenName: expected a string', { op: 'replace', value: { name: wrong } }],
  ['emails.value: expected a string', add('emails', [{ value: {} }])],
  ['emails.value: expected a string', replace('emails[type eq "work"].value', {})],
  ['emails.value: expected a string', replace('emails[type eq "other"].value', {})],
  ['emails.primary: expected true or false', add('emails[primary eq "yes"].value', 'a@x')],
  ['manager.value: expected a string', replace(`${ENTERPRISE}:manager`, { value: {} })],
  ['userName: expected a string', replace('userName', {})],
  [
    'emails: expected at most 1000 values',
    add(
      'emails',
      Array.from({ length: 1_001 }, () => ({ value: 'a@x' })),
    ),
  ],
])('the error names the whole path: %s', (message, operation) => {
  expect(() => patched(operation)).toThrow(message);
});

it.each<[string, ScimObject, ScimObject]>([
  ['ignores the case of names', { op: 'ADD', path: 'USERNAME', value: 'b' }, { ...ann, userName: 'b' }],
  ['reads "False" as false', { op: 'Replace', path: 'active', value: 'False' }, { ...ann, active: false }],
  [
    'keeps only one primary value',
    add('emails', [{ value: 'n@x', primary: true }]),
    { ...ann, emails: [{ ...WORK, primary: false }, HOME, { value: 'n@x', primary: true }] },
  ],
  [
    'replaces the selected values and keeps the sub-attributes of the filter',
    replace('emails[type eq "WORK"]', { value: 'n@x', display: 'N' }),
    { ...ann, emails: [{ type: 'work', value: 'n@x', display: 'N' }, HOME] },
  ],
  [
    'adds a sub-attribute to an existing value',
    add('emails', { value: 'H@x', type: 'Home', display: 'H' }),
    { ...ann, emails: [WORK, { value: 'H@x', type: 'Home', display: 'H' }] },
  ],
  ['treats an empty manager as no manager', add(`${ENTERPRISE}:manager`, { value: '', $ref: 'x' }), ann],
  ['treats an empty manager.value as no manager', add(`${ENTERPRISE}:manager.value`, ''), ann],
  [
    'creates a value from the filter, with the types of the schema',
    { op: 'Add', path: 'roles[type eq "other" and primary eq "True"].value', value: 'admin' },
    { ...ann, roles: [{ type: 'other', primary: true, value: 'admin' }] },
  ],
  [
    'accepts a path with a filter as an attribute name, and creates a missing value',
    {
      op: 'replace',
      value: { 'emails[type eq "other"].value': 'o@x', 'emails[type eq "home"].value': 'n@x' },
    },
    { ...ann, emails: [WORK, { ...HOME, value: 'n@x' }, { type: 'other', value: 'o@x' }] },
  ],
  [
    'accepts a single value in a list',
    { op: 'Add', path: `${ENTERPRISE}:manager`, value: [{ $ref: null, value: 'M' }] },
    { ...ann, [ENTERPRISE]: { manager: { value: 'M' } } },
  ],
  [
    'removes the values in the request',
    { op: 'Remove', path: 'emails', value: [{ value: 'h@x' }] },
    { ...ann, emails: [WORK] },
  ],
  [
    'removes the values in the request and ignores a missing value',
    { op: 'Remove', path: 'emails', value: [{ value: 'none@x' }, { value: 'w@x' }] },
    { ...ann, emails: [HOME] },
  ],
  [
    'accepts many attributes without a path',
    {
      op: 'replace',
      value: {
        'name.givenName': 'B',
        [`${ENTERPRISE}:department`]: 'D',
        'urn:custom:1.0:User:unknown': 1,
        id: 'x',
        nickName: null,
      },
    },
    { ...ann, name: { givenName: 'B' }, [ENTERPRISE]: { department: 'D' } },
  ],
  ['ignores an extension that is null in an add', { op: 'add', value: { [ENTERPRISE]: null } }, ann],
  ['accepts an extension that is null', { op: 'replace', value: { [ENTERPRISE]: null } }, ann],
  [
    'accepts an extension as an object',
    { op: 'add', value: { [ENTERPRISE]: { employeeNumber: 7, manager: 'M' } } },
    { ...ann, [ENTERPRISE]: { employeeNumber: '7', manager: { value: 'M' } } },
  ],
  [
    'accepts the URN of an extension as a path',
    add(ENTERPRISE, { department: 'D' }),
    { ...ann, [ENTERPRISE]: { department: 'D' } },
  ],
  ['ignores an unknown schema', add('urn:other:1.0:User:tag', 'x'), ann],
  [
    'removes a value with null',
    { op: 'replace', value: { emails: null, userName: null } },
    { userName: 'ann', active: true, name: { givenName: 'Ann' } },
  ],
])('a PATCH of attributes %s', (_title, operation, expected) => {
  const before = structuredClone(ann);
  expect(patched(operation)).toEqual(expected);
  expect(ann).toEqual(before);
});

it('a PATCH ignores attributes that the type does not store, with and without a path', () => {
  const lean = resourceTypes(false).User;
  for (const operation of [
    add('title', 'T'),
    { op: 'add', value: { title: 'T' } },
    add(`${ENTERPRISE}:department`, 'D'),
  ]) {
    expect(applyPatch(ann, readPatch({ Operations: [operation] }), lean)).toEqual(ann);
  }
});

it.each([null, ''])('a PATCH with a filter creates no value if the given value is %j', (value) => {
  const bare = { userName: 'ann' };
  const operation = replace('emails[type eq "work"].value', value);
  expect(applyPatch(bare, readPatch({ Operations: [operation] }), User)).toEqual(bare);
});

it.each([false, true])('a PATCH never stores a password (scim.storeProfile: %s)', (storeProfile) => {
  const type = resourceTypes(storeProfile).User;
  for (const op of ['add', 'replace', 'remove']) {
    const Operations = [{ op, path: 'password', ...(op === 'remove' ? {} : { value: 'secret' }) }];
    expect(applyPatch(ann, readPatch({ Operations }), type)).toEqual(ann);
  }
});

it.each<[string, ScimObject, string]>([
  ['an extension that is text', add(ENTERPRISE, 'x'), 'invalidValue'],
  ['no operation', { path: 'title' }, 'invalidSyntax'],
  ['an unknown operation', { op: 'move', path: 'title', value: 'x' }, 'invalidSyntax'],
  ['an unknown attribute', add('colour', 'x'), 'invalidPath'],
  ['an invalid path', add('a b', 'x'), 'invalidPath'],
  ['an unknown attribute without a path', { op: 'add', value: { title: 'x', colour: 'x' } }, 'invalidPath'],
  ['a wrong dotted name without a path', { op: 'replace', value: { 'name.colour': 'x' } }, 'invalidPath'],
  ['an invalid name without a path', { op: 'add', value: { 'a b': 'x' } }, 'invalidPath'],
  ['a wrong filter without a path', { op: 'replace', value: { 'emails[type].value': 'x' } }, 'invalidPath'],
  ['no value', { op: 'add', path: 'title' }, 'invalidValue'],
  ['a text as value, without a path', { op: 'add', value: 'x' }, 'invalidValue'],
  ['a remove without a path', { op: 'remove' }, 'noTarget'],
  ['a remove without a path, with a value', { op: 'remove', value: { title: 'x' } }, 'noTarget'],
  ['a replace whose filter selects no value', replace('emails[value eq "no@x"].type', 'x'), 'noTarget'],
  ['a replace whose filter excludes values', replace('roles[type ne "x"].value', 'x'), 'noTarget'],
  ['a path with an invalid filter', replace('emails[type].value', 'x'), 'invalidPath'],
  ['a change of schemas', add('schemas', ['x']), 'mutability'],
  ['a list for a single-valued attribute', replace('title', ['x', 'y']), 'invalidValue'],
  ['a change of id', replace('id', 'x'), 'mutability'],
  ['a change of meta', replace('meta.created', 'x'), 'mutability'],
  ['the removal of a required attribute', remove('userName'), 'mutability'],
  ['text for a boolean attribute', replace('active', 'maybe'), 'invalidValue'],
  ['an object for a text attribute', replace('title', {}), 'invalidValue'],
  ['a filter that orders booleans', remove('emails[primary gt "x"]'), 'invalidFilter'],
  ['too many values in total', add('emails', [...Array(999).keys()].map(String)), 'invalidValue'],
  ['half of a surrogate pair', replace('title', '\ud800'), 'invalidValue'],
])('a PATCH with %s is refused', (_title, operation, scimType) => {
  expect(() => patched(operation)).toThrow(expect.objectContaining({ status: 400, scimType }));
});

const change = (operations: readonly ScimObject[], current: readonly string[] = ['a', 'b', 'c']) => {
  const { members, attributes } = splitGroupPatch(readPatch({ Operations: operations }), Group);
  const { emptied, present, absent } = foldMembers(members, { current: new Set(current), type: Group });
  return { emptied, present: [...present], absent: [...absent], others: attributes.length };
};
const kept = { emptied: false, present: [], absent: [], others: 0 };

it.each<[string, readonly ScimObject[], ReturnType<typeof change>]>([
  [
    'adds each member once',
    [add('members', [{ value: 'x' }, { value: 'x' }, 'y'])],
    { ...kept, present: ['x', 'y'] },
  ],
  ['adds one member', [add('members', { value: 'x', $ref: null })], { ...kept, present: ['x'] }],
  ['removes a member by a filter', [remove('members[value eq "a"]')], { ...kept, absent: ['a'] }],
  [
    'removes several members by a filter',
    [remove('members[value eq "a" or value eq "z"]')],
    { ...kept, absent: ['a', 'z'] },
  ],
  ['removes members by not', [remove('members[not (value eq "a")]')], { ...kept, absent: ['b', 'c'] }],
  [
    'removes only the members in the value',
    [{ op: 'Remove', path: 'members', value: [{ $ref: null, value: 'a' }] }],
    { ...kept, absent: ['a'] },
  ],
  ['removes no member if the value is an empty list', [{ op: 'remove', path: 'members', value: [] }], kept],
  ['removes all members if the operation has no value', [remove('members')], { ...kept, emptied: true }],
  ['replaces members', [replace('members', [{ value: 'x' }])], { ...kept, emptied: true, present: ['x'] }],
  ['removes all members by a replace with []', [replace('members', [])], { ...kept, emptied: true }],
  [
    'replaces the members and the name without a path',
    [{ op: 'replace', value: { id: 'g', displayName: 'N', members: [] } }],
    { ...kept, emptied: true, others: 1 },
  ],
  [
    'adds a member without a path',
    [{ op: 'add', value: { MEMBERS: [{ value: 'x' }] } }],
    { ...kept, present: ['x'] },
  ],
  ['changes no member for a name', [{ op: 'replace', value: { displayName: 'N' } }], { ...kept, others: 1 }],
  ['removes all members by a replace with null', [replace('members', null)], { ...kept, emptied: true }],
  [
    'removes all members by a replace with null, without a path',
    [{ op: 'replace', value: { members: null } }],
    { ...kept, emptied: true },
  ],
  ['adds no member for null', [add('members', null), { op: 'add', value: { members: null } }], kept],
  ['removes no member if the value is null', [{ op: 'remove', path: 'members', value: null }], kept],
  [
    'replaces the members that a filter selects',
    [replace('members[value eq "a" or value eq "z"]', [{ value: 'x' }])],
    { ...kept, present: ['x'], absent: ['a'] },
  ],
  [
    'keeps a member that is replaced with the same member',
    [replace('members[value eq "a"]', { value: 'a', display: 'A' })],
    { ...kept, present: ['a'] },
  ],
  [
    'removes the members that a filter selects if there is no new member',
    [replace('members[value eq "a"]', [])],
    { ...kept, absent: ['a'] },
  ],
  ['ignores a new sub-attribute', [replace('members[value eq "a"]', { display: 'A' })], kept],
  [
    'applies the operations in their order',
    [remove('members[value eq "a"]'), add('members', ['a', 'x']), remove('members[value eq "x"]')],
    { ...kept, present: ['a'], absent: ['x'] },
  ],
  [
    'applies additions before and after a replacement in their order',
    [add('members', ['x']), replace('members', ['y']), add('members', ['z'])],
    { ...kept, emptied: true, present: ['y', 'z'] },
  ],
  ['ignores a sub-attribute of a member', [replace('members[value eq "a"].display', 'x')], kept],
])('a PATCH of members %s', (_title, operations, expected) => {
  expect(change(operations)).toEqual(expected);
});

it.each<[string, ScimObject, string]>([
  ['a replacement of a missing member', replace('members[value eq "z"]', 'b'), 'noTarget'],
  ['a sub-attribute of a missing member', replace('members[value eq "z"].display', 'b'), 'noTarget'],
  ['a member without an id', add('members', [{}]), 'invalidValue'],
  ['an empty id', add('members', ['']), 'invalidValue'],
  ['an id that is a number', add('members', [{ value: 7 }]), 'invalidValue'],
  ['a path to the id of the members', add('members.value', 'a'), 'invalidPath'],
  ['a new id for a member', replace('members[value eq "a"].value', 'b'), 'invalidPath'],
  ['a dotted name of an id', { op: 'add', value: { 'members.value': 'a' } }, 'invalidPath'],
  ['a dotted path with a filter', { op: 'add', value: { 'members[value pr]': 'b' } }, 'invalidPath'],
  ['an addition to members that a filter selects', add('members[value eq "a"]', 'b'), 'invalidPath'],
])('a PATCH of members with %s is refused', (_title, operation, scimType) => {
  expect(() => change([operation])).toThrow(expect.objectContaining({ status: 400, scimType }));
});
