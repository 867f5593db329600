import { expect, it } from 'vitest';
import { createEntraDirectory } from '../../../../shared/directory/vendors/entra/vendor.ts';
import { groupId } from '../../../../shared/domain/ids.ts';
import { NOW_MS, TENANT } from '../../../directory-simulator/entra/fixture.ts';
import { allOf, describeMember } from '../google/reader.ts';
import { openEntra } from './reader.ts';

const SALES = groupId('g-sales');
const HIDDEN = groupId('g-hidden');
const WITHOUT_HIDDEN = { roles: ['GroupMember.Read.All', 'User.Read.All'] };

it('groups are read with their ids and names, and their ids are used as addresses', async () => {
  const { directory } = await openEntra();
  const groups = await allOf(directory.groups());
  expect(groups.map(({ id }) => id).sort()).toEqual([
    'g-emea',
    'g-hidden',
    'g-none',
    'g-rule',
    'g-sales',
    'g-team',
  ]);
  expect(groups.find(({ id }) => id === 'g-sales')).toEqual({
    id: 'g-sales',
    name: 'Sales',
    address: 'g-sales',
    userCount: undefined,
  });
});

it.each([{}, { displayName: null }, { displayName: '' }])(
  'a group without a name is refused, and its id is not used as its name: %j',
  async (properties) => {
    const { directory, control } = await openEntra();
    const body = {
      '@odata.context': 'https://graph.example/$metadata#groups',
      id: 'g-emea',
      ...properties,
    };
    await control('faults', [{ match: { path: '*/groups/*' }, times: 9, status: 200, body }]);
    await expect(directory.group('g-emea')).rejects.toMatchObject({ kind: 'invalid' });
  },
);

it('members are users and groups, without deleted users, devices and service principals', async () => {
  const { directory } = await openEntra();
  const members = await allOf(directory.membersOf(SALES));
  expect(members.map(describeMember).sort()).toEqual([
    'group g-emea',
    'gus@partner.example on',
    'liz@contoso.example on',
    'sue@contoso.example off',
  ]);
});

it('users and groups are read at the same time, so the list of groups does not wait for the users', async () => {
  const { account, world } = await openEntra();
  let groupsAsked = () => {};
  const untilGroupsAreAsked = new Promise<void>((resolve) => {
    groupsAsked = resolve;
  });
  const dispatcher = world.dispatcher.compose((dispatch) => (request, handler) => {
    if (request.path.includes('/microsoft.graph.group')) groupsAsked();
    if (!request.path.includes('/microsoft.graph.user')) return dispatch(request, handler);
    untilGroupsAreAsked.then(() => dispatch(request, handler));
    return true;
  });
  const directory = createEntraDirectory(account, { ...world, dispatcher });
  expect((await allOf(directory.membersOf(SALES, 'flatten'))).map(describeMember)).toContain('group g-emea');
});

it.each(['user', 'group'])('the read of all members fails if the list of %ss fails', async (kind) => {
  const { directory, control } = await openEntra();
  await control('faults', [
    { match: { path: `*/members/microsoft.graph.${kind}` }, times: 9, status: 403, body: {} },
  ]);
  await expect(allOf(directory.membersOf(SALES, 'flatten'))).rejects.toMatchObject({ kind: 'denied' });
});

it('nested groups are not read if the caller ignores them', async () => {
  const { directory, graphCalls } = await openEntra();
  const members = await allOf(directory.membersOf(SALES, 'ignore'));
  expect(members.map(describeMember)).not.toContain('group g-emea');
  expect(await graphCalls()).toHaveLength(1);
});

it('the address of a user without a mailbox is the user principal name', async () => {
  const user = { id: 'u-nom', primaryEmail: 'nom@contoso.example', vendorFields: { mail: null } };
  const { directory } = await openEntra({ world: { customerId: TENANT, users: [user] } });
  expect((await directory.user('u-nom'))?.attributes.get('email')).toBe('nom@contoso.example');
});

it('the address of a guest is not the principal name if the guest has a mailbox', async () => {
  const { directory } = await openEntra();
  expect([...((await directory.user('u-gus'))?.attributes ?? [])]).toEqual([
    ['email', 'gus@partner.example'],
    ['userName', 'gus_partner.example#EXT#@contoso.example'],
  ]);
});

it('the first page of users has the number of users, and the first page of groups has the number of groups', async () => {
  const { directory } = await openEntra();
  const counts: unknown[] = [];
  for await (const { userCount, groupCount } of directory.membersOf(SALES))
    counts.push([userCount, groupCount]);
  expect(counts).toEqual([
    [3, undefined],
    [undefined, 1],
  ]);
});

it('an empty list without a count is requested again, and is refused if no answer has a count', async () => {
  const none = groupId('g-none');
  const { directory, control } = await openEntra({ settings: { absentCounts: 1 } });
  await expect(allOf(directory.membersOf(none))).rejects.toMatchObject({ kind: 'invalid' });
  expect((await allOf(directory.membersOf(SALES, 'ignore'))).length).toBe(3);
  await control('settings', { absentCounts: 0 });
  expect(await allOf(directory.membersOf(none))).toEqual([]);
});

it('a nested group is found in a list of the member groups', async () => {
  const { directory } = await openEntra();
  expect(await directory.hasMember(SALES, groupId('g-emea'))).toBe(true);
  expect(await directory.hasMember(SALES, groupId('g-team'))).toBe(false);
  expect(await directory.hasMember(groupId('g-gone'), SALES)).toBe(false);
});

it('a group with hidden membership is read as empty only with the right Member.Read.Hidden', async () => {
  const refused = { kind: 'invalid', reason: 'Member.Read.Hidden' };
  const { directory, control } = await openEntra();
  await control('changes', [{ kind: 'removeMember', group: 'g-hidden', member: 'u-liz' }]);
  expect(await allOf(directory.membersOf(HIDDEN))).toEqual([]);
  await control('rights', WITHOUT_HIDDEN);
  await expect(allOf(directory.membersOf(HIDDEN))).rejects.toMatchObject(refused);
  expect(await allOf(directory.membersOf(groupId('g-none')))).toEqual([]);
});

const CONTEXT = '"@odata.context":"https://graph.microsoft.com/v1.0/$metadata#users"';

it('a read is repeated after the time that Retry-After names', async () => {
  const { directory, control, waits } = await openEntra();
  await control('faults', [{ match: { path: '*/members/*' }, times: 2, error: 'tooManyRequests' }]);
  expect(await allOf(directory.membersOf(SALES, 'ignore'))).toHaveLength(3);
  expect(waits.map((ms) => ms >= 10_000)).toEqual([true, true]);
});

it.each([429, 503])('a read does not wait for longer than a minute after the status %i', async (status) => {
  const { directory, control, waits } = await openEntra();
  const busy = { status, retryAfter: 600 };
  await control('faults', [{ match: { path: '*/members/*' }, times: 1, ...busy }]);
  await expect(allOf(directory.membersOf(SALES))).rejects.toMatchObject({ kind: 'busy' });
  expect(waits).toEqual([]);
});

it('changed and deleted groups and users are reported by id', async () => {
  const { directory, change, clock } = await openEntra();
  const cursor = await directory.cursorAt(NOW_MS);
  await change(
    { kind: 'addMember', group: 'g-emea', member: 'u-liz' },
    { kind: 'deleteGroup', group: 'g-none' },
    { kind: 'suspendUser', user: 'u-ann' },
    { kind: 'deleteUser', user: 'u-sue' },
  );
  const { groups, users, cursor: next } = await directory.changesSince(cursor);
  const atMs = clock.ms;
  const named = { key: 'u-liz', atMs, isMember: true };
  expect(groups.find(({ key }) => key === 'g-emea')).toEqual({
    key: 'g-emea',
    atMs,
    isDeletion: false,
    isMembership: true,
    members: [named],
  });
  expect(groups.find(({ key }) => key === 'g-none')).toMatchObject({
    atMs,
    isDeletion: true,
    isFinal: true,
  });
  expect(users.toSorted((a, b) => (a.key < b.key ? -1 : 1))).toMatchObject([
    { key: 'u-ann', atMs, isDeletion: false },
    { key: 'u-sue', atMs, isDeletion: true },
  ]);
  await change({ kind: 'purgeUser', user: 'u-sue' });
  expect((await directory.changesSince(next)).users).toMatchObject([
    { key: 'u-sue', atMs: clock.ms, isDeletion: true, isFinal: true },
  ]);
});

type Entra = Awaited<ReturnType<typeof openEntra>>;
const expires = (error: string) => (entra: Entra) => entra.control('delta-tokens/expire', { error });
const answers = (fault: object) => (entra: Entra) =>
  entra.control('faults', [{ match: { path: '*/groups/delta' }, times: 1, ...fault }]);
it.each<[string, (entra: Entra) => unknown, string?]>([
  ['the error syncStateNotFound', expires('syncStateNotFound')],
  ['the error resyncRequired', expires('resyncRequired')],
  ['400 with a refusal of the link', answers({ error: 'unsupportedQuery' })],
  ['410 without a body', answers({ status: 410 })],
  ['a cursor of Google', () => undefined, '1700000000000'],
  ['a cursor with invalid content', () => undefined, '{"groups":1}'],
  [
    'a cursor older than six days, because links expire after seven days',
    ({ clock }) => Object.assign(clock, { ms: clock.ms + 6.1 * 86_400_000 }),
  ],
])('%s gives a reset with a new cursor', async (_, ends, stored) => {
  const entra = await openEntra();
  const cursor = stored ?? (await entra.directory.cursorAt(NOW_MS));
  await ends(entra);
  const changes = await entra.directory.changesSince(cursor);
  expect(changes).toMatchObject({ groups: [], users: [], isReset: true });
  await entra.change({ kind: 'addMember', group: 'g-emea', member: 'u-liz' });
  expect((await entra.directory.changesSince(changes.cursor)).groups).toMatchObject([{ key: 'g-emea' }]);
});

it('the token is not sent to a stored link that leads to another host', async () => {
  const { directory } = await openEntra();
  const links = { groups: 'https://evil.example/delta', users: 'https://evil.example/delta' };
  const cursor = JSON.stringify({ ...links, atMs: NOW_MS });
  await expect(directory.changesSince(cursor)).rejects.toMatchObject({ kind: 'invalid' });
});

it('a read of the changes makes two calls, and a round without a link to later changes is refused', async () => {
  const { directory, control, graphCalls } = await openEntra();
  const cursor = await directory.cursorAt(NOW_MS);
  const before = (await graphCalls()).length;
  await directory.changesSince(cursor);
  expect((await graphCalls()).length - before).toBe(2);
  await control('faults', [
    { match: { path: '*/delta' }, times: 10, status: 200, body: `{${CONTEXT},"value":[]}` },
  ]);
  await expect(directory.changesSince(cursor)).rejects.toMatchObject({ kind: 'invalid' });
});
