import { expect, it } from 'vitest';
import { changesOf, decode, member, native, problemsOf } from '../decoding.ts';

const group = { id: '00g1' };
const added = 'group.member.added';
const adding = (attributes: object) => native(added, { group, members: [] }, attributes);

it.each([
  [
    'group.upserted',
    { group: { id: '00g1', name: 'Sales' } },
    { kind: 'group.upserted', group: '00g1', name: 'Sales' },
  ],
  ['group.deleted', { group }, { kind: 'group.deleted', group: '00g1' }],
  [
    'group.snapshot',
    {
      group: { id: '00g1', name: 'Sales' },
      members: [{ id: '00u1' }],
      part: { snapshotId: 's', index: 1, count: 2 },
    },
    {
      kind: 'group.snapshot',
      group: '00g1',
      name: 'Sales',
      members: [member('00u1')],
      part: { snapshotId: 's', index: 1, count: 2 },
    },
  ],
  ['group.snapshot', { group, members: [] }, { kind: 'group.snapshot', group: '00g1', members: [] }],
  [
    added,
    { group, members: [{ id: '00u1', email: 'Ann@acme.example' }] },
    { kind: 'member.added', group: '00g1', members: [member('00u1', { email: 'Ann@acme.example' })] },
  ],
  [
    'group.member.removed',
    { group, members: [{ id: '00u1' }] },
    { kind: 'member.removed', group: '00g1', members: [member('00u1')] },
  ],
  [
    'user.upserted',
    { user: { id: '00u1', badge: 'B7' } },
    { kind: 'user.upserted', user: member('00u1', { badge: 'B7' }) },
  ],
  ['user.deleted', { user: { id: '00u1' } }, { kind: 'user.deleted', user: '00u1' }],
])('%s is decoded', (type, data, change) => {
  expect(changesOf(native(type, data))).toEqual([change]);
});

it('the decoded event has the id, source, connection and stamp of the CloudEvent', () => {
  const event = adding({ sequence: '0042', connection: 'acme-eu' });
  expect(decode(event, { connection: 'other' }).events).toMatchObject([
    {
      id: 'e1',
      source: 'okta/acme',
      connection: 'acme-eu',
      stamp: '2026-11-20T10:00:00.123000000Z.0242.6531.6f6b74612f61636d65.00000',
    },
  ]);
});

it('a null value of sequence, connection, name or part counts as absent', () => {
  const event = native(
    'group.snapshot',
    { group: { id: '00g1', name: null }, members: [], part: null },
    { sequence: null, connection: null },
  );
  expect(changesOf(event)).toEqual([{ kind: 'group.snapshot', group: '00g1', members: [] }]);
});

it('attributes with text or whole numbers are kept, and attributes with other values are ignored', () => {
  const raw = {
    id: '00u1',
    email: null,
    employeeNumber: 7,
    share: 0.5,
    active: true,
    teams: ['a'],
    manager: { id: 1 },
  };
  expect(changesOf(native('user.upserted', { user: raw }))).toEqual([
    { kind: 'user.upserted', user: member('00u1', { employeeNumber: '7' }) },
  ]);
});

it.each(['"x@acme.example"', '{"email":"x@acme.example"}'])(
  'an attribute named __proto__ with the value %s is refused, because the parser would drop it',
  (value) => {
    const body = JSON.stringify(native('user.upserted', { user: { id: '00u1', name: 'n' } }));
    expect(decode(body.replace('"name"', `"__proto__":${value},"name"`)).rejected).toMatchObject([
      { code: 'invalid_event', message: 'data.user: expected no attribute named __proto__' },
    ]);
  },
);

it.each(['com.example.order.created', 'directory', 'directories.x'])(
  'the CloudEvent %s is ignored',
  (type) => {
    expect(decode({ specversion: '1.0', id: 'x', source: 'shop', type })).toEqual({
      events: [],
      ignored: 1,
      rejected: [],
    });
  },
);

it.each([
  [native('group.renamed', {}), 'unknown_type: type: expected one of directory\\.group\\.upserted, '],
  [native('', {}), 'unknown_type'],
  [native('constructor', {}), 'unknown_type'],
  [adding({ specversion: '0.3' }), 'specversion: expected "1\\.0"'],
  [adding({ id: '' }), 'id: expected an id of 1 to 512 characters'],
  [adding({ id: 7 }), 'id: expected an id'],
  [adding({ source: undefined }), 'source: .*got nothing'],
  [adding({ time: undefined }), 'time: expected an RFC 3339 time, got nothing'],
  [adding({ time: '2026-02-30T00:00:00Z' }), 'time: '],
  [adding({ sequence: 'x' }), 'sequence: expected a sequence of 1 to 32 digits'],
  [adding({ sequence: '1'.repeat(33) }), 'sequence'],
  [adding({ sequence: -1 }), 'sequence'],
  [adding({ sequence: 1.5 }), 'sequence'],
  [adding({ connection: 'Acme' }), 'connection: expected a connection name'],
  [adding({ connection: '' }), 'connection'],
  [native(added, undefined), 'data: expected data \\{group, members\\}, got nothing'],
  [native(added, { members: [] }), 'data\\.group: expected a group \\{id\\}, got nothing'],
  [native(added, { group }), 'data\\.members: expected a list of members, got nothing'],
  [native(added, { group, members: {} }), 'data\\.members: expected a list of members'],
  [native(added, { group, members: ['00u1'] }), 'data\\.members\\.0: expected a member .*got text of 4'],
  [native(added, { group, members: [{}] }), 'data\\.members\\.0\\.id: expected an id .*got nothing'],
  [native(added, { group: { id: 'x'.repeat(513) }, members: [] }), 'data\\.group\\.id'],
  [native('group.upserted', { group }), 'data\\.group\\.name: expected a name'],
  [native('group.upserted', { group: { ...group, name: '' } }), 'data\\.group\\.name'],
  [
    native('group.snapshot', { group, members: [], part: { snapshotId: 's', index: 2, count: 2 } }),
    'data\\.part: expected an index below the count',
  ],
  [native('user.deleted', { user: { id: null } }), 'data\\.user\\.id: expected an id .*got null'],
])('the rejection of a native event names the field and the expected value (%#)', (event, problem) => {
  const [told = '', ...others] = problemsOf(event);
  expect(others).toEqual([]);
  expect(told.replace(/^invalid_event: /, '')).toMatch(new RegExp(`^${problem}`));
});

it('an id with half a surrogate pair is rejected, because it has no UTF-8 form', () => {
  const body = JSON.stringify(native('group.deleted', { group: { id: 'XX' } })).replace('XX', '\\ud800');
  expect(problemsOf(body)).toEqual([
    'invalid_event: data.group.id: expected an id that is valid Unicode, got text of 1 characters',
  ]);
});

it('the error about an invalid event contains no name or e-mail address from the event', () => {
  const user = { id: '', email: 'ann@acme.example', name: 'Ann Example' };
  const problems = problemsOf(native('user.upserted', { user })).join();
  expect(problems).toContain('data.user.id');
  expect(problems).not.toMatch(/ann/i);
});

const members = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `u${index}` }));
const attributes = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, 'x']));
const user = (raw: object) => native('user.upserted', { user: { id: '00u1', ...raw } });

it('20,000 members are accepted, and 20,001 members are rejected as too large', () => {
  expect(changesOf(native(added, { group, members: members(20_000) }))).toHaveLength(1);
  expect(problemsOf(native(added, { group, members: members(20_001) }))).toEqual([
    'too_large: data.members: expected at most 20000 members',
  ]);
});

it('32 attributes are accepted, and 33 attributes are refused', () => {
  expect(changesOf(user(attributes(32)))).toHaveLength(1);
  expect(problemsOf(user(attributes(33)))).toEqual([
    'invalid_event: data.user: expected at most 32 attributes, got 33',
  ]);
});

it('an attribute may have 1,024 bytes with its name, and is refused with 1,025 bytes', () => {
  expect(changesOf(user({ note: 'x'.repeat(1_020) }))).toHaveLength(1);
  expect(problemsOf(user({ note: 'x'.repeat(1_021) }))).toHaveLength(1);
  expect(problemsOf(user({ note: 'é'.repeat(511) }))).toHaveLength(1);
});
