import { expect, it } from 'vitest';
import { MINUTE_MS } from '../../support/engine/world.ts';
import { type Body, company, kindsOf, openEntraReader, settle } from './fixture.ts';

const RIGHTS = ['GroupMember.Read.All', 'User.Read.All'];

interface Given {
  readonly hidden?: string;
  readonly nested?: string;
  /** The groups that the reader does not sync. */
  readonly exclude?: readonly string[];
}

/** Creates an Entra directory whose groups are on the platform and in sync. */
async function settled(
  groups: Readonly<Record<string, readonly string[]>>,
  { hidden = '', nested = 'ignore', exclude = [] }: Given = {},
) {
  const world = company(groups);
  const shown = world.groups?.map((group) =>
    group.id === hidden
      ? { ...group, vendorFields: { groupTypes: ['Unified'], visibility: 'HiddenMembership' } }
      : group,
  );
  const settings = { nested, groups: { exclude } };
  return settle(await openEntraReader({ world: { ...world, groups: shown ?? [] }, settings }), 45);
}

type EntraReader = Awaited<ReturnType<typeof settled>>;

/** Returns the body of one page of reported changes. The simulator then omits its own changes from this page. */
const roundOf = ({ entra }: EntraReader, resource: 'groups' | 'users', value: readonly object[]) =>
  JSON.stringify({
    '@odata.context': 'x',
    '@odata.deltaLink': `${entra.url}/v1.0/${resource}/delta?$deltatoken=latest`,
    value,
  });

it('after a reported change of a group, the reader reads the group until two reads twenty minutes apart agree', async () => {
  const reader = await settled({ rowing: ['a'] });
  await reader.change({ kind: 'addMember', group: 'rowing', member: 'b' });
  await reader.passMinutes(10);
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-b']]);
  const reads: (number | undefined)[] = [];
  for (let minute = 5; minute <= 65; minute += 5) {
    await reader.passMinutes(5);
    const { readMs } = (await reader.stored('rowing')) ?? {};
    if (reads.at(-1) !== readMs) reads.push(readMs);
  }
  const gaps = reads.slice(1).map((readMs, n) => ((readMs ?? 0) - (reads[n] ?? 0)) / MINUTE_MS);
  expect(gaps.length).toBeGreaterThanOrEqual(2);
  for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(20);
});

it('the reader sends a change, even if the member list shows it only ten minutes after the report', async () => {
  const reader = await settled({ rowing: ['a'] });
  await reader.entra.control('settings', { lagSeconds: { members: 600 } });
  await reader.change({ kind: 'addMember', group: 'rowing', member: 'b' });
  await reader.passMinutes(65);
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-b']]);
});

it.each(['syncStateNotFound', 'resyncRequired'])(
  'after the error %s, the reader reads everything, finds the lost new member and removes no member',
  async (error) => {
    const reader = await settled({ rowing: ['a', 'b'], chess: ['c'] });
    await reader.change({ kind: 'addMember', group: 'chess', member: 'd' });
    await reader.entra.control('delta-tokens/expire', { error });
    await reader.passMinutes(5);
    expect(reader.takeSent().map(({ data }) => data.group?.id ?? data.user?.['id'])).toEqual(['d', 'chess']);
    expect([reader.shown('rowing'), reader.shown('chess')]).toEqual([[['u-a', 'u-b']], [['u-c', 'u-d']]]);
  },
);

it('the reader of Entra ID flattens nested groups that contain each other', async () => {
  const reader = await settled({ outer: ['a', 'inner'], inner: ['b', 'outer'] }, { nested: 'flatten' });
  expect([reader.shown('outer'), reader.shown('inner')]).toEqual([[['u-a', 'u-b']], [['u-a', 'u-b']]]);
  await reader.change({ kind: 'addMember', group: 'inner', member: 'c' });
  await reader.passMinutes(10);
  expect(reader.shown('outer')).toEqual([['u-a', 'u-b', 'u-c']]);
});

it('a group with hidden membership keeps its members after the reader loses the permission to read them', async () => {
  const reader = await settled({ rowing: ['a', 'b'], chess: ['c'] }, { hidden: 'rowing' });
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-b']]);
  await reader.entra.control('rights', { roles: RIGHTS });
  await reader.run({ isFull: true });
  await reader.passMinutes(30);
  expect(reader.takeSent()).toEqual([]);
  expect((await reader.stored('rowing'))?.problem).toContain('Member.Read.Hidden');
});

const enabled = (id: string) => ({
  id,
  accountEnabled: true,
  mail: `${id}@acme.test`,
  userPrincipalName: `${id}@acme.test`,
});

/**
 * Makes the reader read the group some minutes after the report, from a list that shows a disabled user as enabled.
 */
async function readLateList(minutes: number) {
  const reader = await settled({ rowing: ['a', 'b'] });
  const value = ['a', 'b'].map(enabled);
  const body = JSON.stringify({ '@odata.context': 'x', '@odata.count': 2, value });
  const match = { path: '*/groups/rowing/members/*' };
  await reader.entra.control('faults', [{ match, times: 1, status: 200, body }]);
  await reader.change({ kind: 'suspendUser', user: 'a' });
  await reader.pass(MINUTE_MS);
  await reader.run();
  await reader.pass(minutes * MINUTE_MS);
  await reader.run({ isFull: true });
  return reader;
}
const statesIn = (bodies: readonly Body[]) => bodies.flatMap(({ data }) => data.user?.['scim:active'] ?? []);

it('a disabled user leaves the groups, although a member list still showed the user as enabled', async () => {
  const reader = await readLateList(12);
  await reader.passMinutes(30);
  expect(reader.shown('rowing')).toEqual([['u-b']]);
});

it('a member list that is read soon after the report does not enable a disabled user again', async () => {
  const reader = await readLateList(5);
  await reader.passMinutes(30);
  expect(statesIn(reader.takeSent())).toEqual(['false']);
  expect(reader.shown('rowing')).toEqual([['u-b']]);
});

it('a deleted user is inactive and leaves every group, and returns after a restoration', async () => {
  const reader = await settled({ rowing: ['a', 'b'], chess: ['a'] });
  await reader.change({ kind: 'deleteUser', user: 'a' });
  await reader.passMinutes(45);
  expect([reader.shown('rowing'), reader.shown('chess')]).toEqual([[['u-b']], [[]]]);
  const users = reader.takeSent().flatMap(({ data }) => (data.user === undefined ? [] : [data.user]));
  expect(users).toEqual([{ id: 'a', 'scim:active': 'false' }]);
  await reader.change({ kind: 'undeleteUser', user: 'a' });
  await reader.passMinutes(45);
  expect([reader.shown('rowing'), reader.shown('chess')]).toEqual([[['u-a', 'u-b']], [['u-a']]]);
});

it('a user is deleted when the deletion in Entra ID is final', async () => {
  const reader = await settled({ rowing: ['a', 'b'] });
  await reader.change({ kind: 'deleteUser', user: 'a' });
  await reader.passMinutes(45);
  reader.takeSent();
  await reader.change({ kind: 'purgeUser', user: 'a' });
  await reader.passMinutes(10);
  expect(kindsOf(reader.takeSent())).toEqual(['user.deleted']);
  expect(reader.shown('rowing')).toEqual([['u-b']]);
});

it('a reported deletion of a user that still exists in the directory removes no member', async () => {
  const reader = await settled({ rowing: ['a', 'b'] });
  const lie = roundOf(reader, 'users', [{ id: 'a', '@removed': { reason: 'deleted' } }]);
  await reader.entra.control('faults', [
    { match: { path: '*/users/delta' }, times: 1, status: 200, body: lie },
  ]);
  await reader.passMinutes(45);
  expect(reader.takeSent()).toEqual([]);
});

it('a restored group is created again with its members', async () => {
  const reader = await settled({ rowing: ['a', 'b'], chess: ['c'] }, { hidden: 'rowing' });
  await reader.change({ kind: 'deleteGroup', group: 'rowing' });
  await reader.passMinutes(30);
  expect(reader.shown('rowing')).toEqual([]);
  await reader.change({ kind: 'undeleteGroup', group: 'rowing' });
  await reader.passMinutes(30);
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-b']]);
});

it.each([
  ['its deletion', { id: 'inner', '@removed': { reason: 'deleted' } }],
  ['a change of the group', { id: 'inner' }],
])(
  'the users of a deleted nested group leave the outer group, even if the directory reports only %s',
  async (_, reported) => {
    const groups = { outer: ['a', 'inner'], inner: ['b'], chess: ['c'] };
    const reader = await settled(groups, { nested: 'flatten', exclude: ['inner'] });
    expect([reader.shown('outer'), reader.shown('inner')]).toEqual([[['u-a', 'u-b']], []]);
    await reader.change({ kind: 'deleteGroup', group: 'inner' });
    const body = roundOf(reader, 'groups', [reported]);
    await reader.entra.control('faults', [
      { match: { path: '*/groups/delta' }, times: 1, status: 200, body },
    ]);
    await reader.passMinutes(10);
    expect(reader.shown('outer')).toEqual([['u-a']]);
  },
);
