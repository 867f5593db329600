import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { add, remove, replace } from '../../support/scim-operations.ts';
import { changesOf, decode, member, problemsOf, SENT_AT } from '../decoding.ts';

const patch = (operations: unknown, more: object = {}) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  groupId: 'g1',
  Operations: operations,
  ...more,
});
const group = (more: object) => ({
  schemas: [
    'urn:ietf:params:scim:schemas:core:2.0:Group',
    'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group',
  ],
  ...more,
});

const snapshot = (...members: unknown[]) => ({ kind: 'group.snapshot', group: 'g1', members });
const added = (...members: unknown[]) => ({ kind: 'member.added', group: 'g1', members });
const removed = (...members: unknown[]) => ({ kind: 'member.removed', group: 'g1', members });
const named = (name: string) => ({ kind: 'group.upserted', group: 'g1', name });

describe('SCIM operations that identity providers send', () => {
  it.each([
    ['Okta rename, no path', { op: 'replace', value: { id: 'g1', displayName: 'Sales' } }, [named('Sales')]],
    [
      'Okta add',
      add('members', [{ value: 'u2', display: 'u2@acme.example' }]),
      [added(member('u2', { userName: 'u2@acme.example', email: 'u2@acme.example' }))],
    ],
    ['Okta remove', remove('members[value eq "u1"]'), [removed(member('u1'))]],
    ['Okta push now', replace('members', [{ value: 'u1' }]), [snapshot(member('u1'))]],
    ['Okta push of an empty group', replace('members', []), [snapshot()]],
    [
      'Okta push, no path',
      { op: 'replace', value: { members: [], id: 'g1', displayName: 'Sales' } },
      [snapshot(), named('Sales')],
    ],
    ['Entra rename', { op: 'Replace', path: 'displayName', value: 'Sales' }, [named('Sales')]],
    [
      'Entra add',
      { op: 'Add', path: 'members', value: [{ $ref: null, value: 'u1' }] },
      [added(member('u1'))],
    ],
    [
      'Entra remove of the listed members',
      { op: 'Remove', path: 'members', value: [{ $ref: null, value: 'u1' }] },
      [removed(member('u1'))],
    ],
    ['remove without a value, which removes all members', remove('members'), [snapshot()]],
    ['remove of an empty list', { op: 'remove', path: 'members', value: [] }, [removed()]],
    ['one member that is not in a list', add('MEMBERS', { value: 'u1' }), [added(member('u1'))]],
    ['bare ids', add('members', ['u1', 'u2']), [added(member('u1'), member('u2'))]],
    [
      'a display that is a name',
      add('members', [{ value: 'u1', display: 'Ann Lee', type: 'User' }]),
      [added(member('u1', { name: 'Ann Lee', type: 'User' }))],
    ],
    [
      'a path that begins with the URN',
      replace('urn:ietf:params:scim:schemas:core:2.0:Group:displayName', 'Sales'),
      [named('Sales')],
    ],
    [
      'a URN as an attribute of the value',
      { op: 'add', value: { 'URN:ietf:params:scim:schemas:core:2.0:group:members': ['u1'] } },
      [added(member('u1'))],
    ],
    ['a filter with an escape', remove('members[ value EQ "a\\"]b\\u00e9" ]'), [removed(member('a"]bé'))]],
  ])('the decoder reads the operation: %s', (_, operation, changes) => {
    expect(changesOf(patch([operation]))).toEqual(changes);
  });

  it.each([
    replace('externalId', 'x'),
    remove('displayName'),
    replace('members[value eq "u1"].display', 'Ann'),
    { op: 'replace', value: { id: 'g1', externalId: 'x' } },
  ])('the SCIM operation %j changes nothing and is ignored', (operation) => {
    expect(decode(patch([operation]))).toEqual({ events: [], ignored: 1, rejected: [] });
  });

  it('several SCIM operations keep their order, and each has its own stamp', () => {
    const { events } = decode(
      patch([
        remove('members'),
        add('members', ['u1']),
        replace('externalId', 'x'),
        remove('members[value eq "u2"]'),
      ]),
    );
    expect(events.map(({ change }) => change)).toEqual([
      snapshot(),
      added(member('u1')),
      removed(member('u2')),
    ]);
    const stamps = events.map(({ stamp }) => stamp);
    expect(stamps.toSorted()).toEqual(stamps);
    expect(new Set(stamps).size).toBe(3);
  });
});

describe('invalid SCIM PATCH', () => {
  const NO_SUCH_PATH = 'Operations.0: expected a path such as members or members[value eq "…"]';
  it.each([
    [
      [{ op: 'move', path: 'members' }],
      'Operations.0.op: expected add, remove or replace, got text of 4 characters',
    ],
    [[], 'Operations: expected at least one operation, got a list'],
    [undefined, 'Operations: expected a list of operations, got nothing'],
    [[{ op: 'remove' }], 'Operations.0: expected a path, which remove needs (RFC 7644 section 3.5.2.2)'],
    [
      [{ op: 'replace', value: 'x' }],
      'Operations.0: expected a path, or a value that is an object of attributes',
    ],
    [[{ op: 'add', path: 'members' }], 'Operations.0: expected a list of members, got nothing'],
    [[replace('members', null)], 'Operations.0: expected a list of members, got null'],
    [[{ op: 'remove', path: 'members', value: null }], 'Operations.0: expected a list of members, got null'],
    [
      [{ op: 'replace', value: { members: null } }],
      'Operations.0: value.members: expected a list of members, got null',
    ],
    [
      [add('members', [{ display: 'x' }])],
      'Operations.0: 0.id: expected an id of 1 to 512 characters, got nothing',
    ],
    [
      [replace('displayName', '')],
      'Operations.0: expected a name of 1 to 1024 characters, got text of 0 characters',
    ],
    [[remove('members[display eq "x"]')], NO_SUCH_PATH],
    [[remove(`members${'['.repeat(5_000)}`)], NO_SUCH_PATH],
    [
      [{ op: 'add', path: 'members[value eq "u1"]' }],
      'Operations.0: expected remove for a path with a filter, got add',
    ],
  ])('an invalid SCIM PATCH is rejected (%#)', (operations, problem) => {
    expect(problemsOf(patch(operations))).toEqual([`invalid_event: ${problem}`]);
  });

  it('a SCIM PATCH with one invalid operation changes nothing', () => {
    const operations = [replace('displayName', 'Sales'), { op: 'add', path: 'members' }];
    expect(decode(patch(operations)).events).toEqual([]);
  });

  it('a SCIM PATCH without a group, or with too many members, is rejected', () => {
    const tooMany = 'too_large: Operations.0: expected at most 20000 members';
    expect(problemsOf(patch([add('members', Array(20_001).fill('u'))]))).toEqual([tooMany]);
    expect(problemsOf(patch([remove('members')], { groupId: undefined }))).toEqual([
      expect.stringMatching(/^invalid_event: groupId: expected an id/),
    ]);
  });
});

describe('SCIM Group resource', () => {
  it.each([
    ['a name without members', { id: 's1', externalId: 'g1', displayName: 'Sales' }, [named('Sales')]],
    ['null as members', { externalId: 'g1', displayName: 'Sales', members: null }, [named('Sales')]],
    [
      'members',
      { id: 's1', externalId: 'g1', displayName: 'Sales', members: [{ value: 'u1' }] },
      [{ ...snapshot(member('u1')), name: 'Sales' }],
    ],
    ['no members', { id: 'g1', displayName: 'Sales', members: [] }, [{ ...snapshot(), name: 'Sales' }]],
    ['no name', { id: 'g1', members: [] }, [snapshot()]],
  ])('the decoder reads a SCIM Group resource with: %s', (_, fields, changes) => {
    expect(changesOf(group(fields))).toEqual(changes);
  });

  it.each([
    [{ displayName: 'Sales' }, 'externalId: expected externalId or id, got neither'],
    [{ id: 'g1' }, 'displayName: expected displayName or members, got neither'],
    [
      { id: 'g1', members: 'u1,u2', displayName: '' },
      'displayName: expected a name of 1 to 1024 characters, got text of 0 characters',
    ],
  ])('the SCIM Group resource %j is rejected', (fields, problem) => {
    expect(problemsOf(group(fields))).toEqual([`invalid_event: ${problem}`]);
  });
});

describe('stamp of a SCIM message', () => {
  const rename = [replace('displayName', 'Sales')];

  it("the stamp consists of the message's own time, sequence and id if the message has them", () => {
    const own = patch(rename, {
      time: '2026-11-20T09:00:00Z',
      sequence: '3',
      id: 'p1',
      connection: 'acme-eu',
    });
    const { events } = decode(own, { stamp: 'unreadable' });
    expect(events).toMatchObject([{ id: 'p1', connection: 'acme-eu' }]);
    expect(events[0]?.stamp).toBe('2026-11-20T09:00:00.000000000Z.013.7031.7363696d.00000');
  });

  it('a SCIM message without a time has the stamp of its first sending', () => {
    expect(decode(patch(rename)).events[0]?.stamp).toBe(`${SENT_AT}.00.6d31.7363696d.00000`);
  });

  it('the stamp of a SCIM message does not contain the id of the resource, and does not change in a replay', () => {
    const resource = group({ id: 's1', externalId: 'g1', members: [], time: '2026-11-20T09:00:00Z' });
    const stamps = [decode(resource), decode(patch(rename, { id: 'g1', time: '2026-11-20T09:00:00Z' }))].map(
      ({ events }) => events[0]?.stamp,
    );
    const first = '2026-11-20T09:00:00.000000000Z.00.6d31.7363696d.00000';
    expect(stamps).toEqual([first, first]);
    const [rejected] = decode(resource, { knowsConnection: () => false }).rejected;
    const again = decode(resource, { messageId: 'm9', stamp: rejected?.stamp });
    expect(again.events[0]?.stamp).toBe(first);
  });
});

describe('examples/scim-patch.json', () => {
  it('the SCIM example file contains a rename of a group, two additions and one removal', () => {
    const url = new URL('../../../examples/scim-patch.json', import.meta.url);
    expect(changesOf(readFileSync(url, 'utf8'))).toMatchObject([
      { kind: 'group.upserted' },
      { kind: 'member.added', members: [{}, {}] },
      { kind: 'member.removed', members: [{}] },
    ]);
  });
});
