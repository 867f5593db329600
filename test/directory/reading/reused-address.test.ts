import { expect, it } from 'vitest';
import { company, openReader, type Reader } from './fixture.ts';

const MINUTE_MS = 60_000;

async function settled() {
  const world = company({ rowing: ['a', 'b'], chess: ['c'], sport: ['d'] });
  const reader = await openReader({ world });
  await reader.hire('a', 'b', 'c', 'd');
  await reader.passMinutes(40);
  return reader;
}

const addGroup = (id: string, address: string, ...members: readonly string[]) => ({
  kind: 'addGroup',
  group: {
    id,
    email: `${address}@acme.test`,
    name: `Group ${address}`,
    members: members.map((member) => ({ member })),
  },
});
const deleteGroup = (group: string) => ({ kind: 'deleteGroup', group });

function hideDeletions({ google: { directory } }: Reader) {
  const { changesSince } = directory;
  Object.assign(directory, {
    changesSince: async (cursor: string) => {
      const changes = await changesSince(cursor);
      return { ...changes, groups: changes.groups.filter(({ isDeletion }) => !isDeletion) };
    },
  });
}

it.each<[string, (reader: Reader) => Promise<unknown>]>([
  [
    'a deleted group is removed, and a new group with its address is synced as a separate group',
    (reader) => reader.pass(30_000),
  ],
  [
    'a new group with the address of a deleted group is synced if the reader runs between deletion and creation',
    (reader) => reader.passMinutes(10),
  ],
])('%s', async (_, passBetween) => {
  const reader = await settled();
  await reader.change(deleteGroup('chess'));
  await passBetween(reader);
  await reader.change(addGroup('chess-2', 'chess', 'd'));
  await reader.passMinutes(15);
  expect([reader.shown('chess'), reader.shown('chess-2')]).toEqual([[], [['u-d']]]);
  expect(await reader.stored('chess')).toBeUndefined();
});

it('the reader finds a new group with the address of a deleted group, even if the deletion is not reported', async () => {
  const reader = await settled();
  hideDeletions(reader);
  await reader.change(deleteGroup('chess'));
  await reader.change(addGroup('chess-2', 'chess', 'd'));
  await reader.passMinutes(15);
  expect(reader.shown('chess-2')).toEqual([['u-d']]);
  // Without a report, the reader accepts the deletion after a day.
  expect(reader.shown('chess')).toEqual([['u-c']]);
  await reader.pass(25 * 60 * MINUTE_MS);
  await reader.passMinutes(15);
  expect(reader.shown('chess')).toEqual([]);
  expect(reader.shown('chess-2')).toEqual([['u-d']]);
});

it('of three successive groups with one address, only the last group is left', async () => {
  const reader = await settled();
  await reader.change(deleteGroup('chess'));
  await reader.pass(30_000);
  await reader.change(addGroup('chess-2', 'chess', 'a'));
  await reader.passMinutes(10);
  await reader.change(deleteGroup('chess-2'));
  await reader.pass(30_000);
  await reader.change(addGroup('chess-3', 'chess', 'b'));
  await reader.passMinutes(15);
  const shown = ['chess', 'chess-2', 'chess-3'].map((group) => reader.shown(group));
  expect(shown).toEqual([[], [], [['u-b']]]);
});

it('the reader finds changes of a group that took the earlier address of another group', async () => {
  const reader = await settled();
  await reader.change(
    { kind: 'changeGroup', group: 'chess', email: 'games@acme.test', aliases: [] },
    addGroup('chess-2', 'chess', 'd'),
  );
  await reader.passMinutes(15);
  expect([reader.shown('chess'), reader.shown('chess-2')]).toEqual([[['u-c']], [['u-d']]]);
  await reader.change({ kind: 'addMember', group: 'chess-2', member: 'a' });
  await reader.passMinutes(10);
  expect(reader.shown('chess-2')).toEqual([['u-a', 'u-d']]);
});

it('a new user with the address of a deleted user does not get the groups of the deleted user', async () => {
  const reader = await settled();
  await reader.change({ kind: 'deleteUser', user: 'c' });
  await reader.pass(30_000);
  await reader.change({ kind: 'addUser', user: { id: 'c-2', primaryEmail: 'c@acme.test' } });
  await reader.change({ kind: 'addMember', group: 'sport', member: 'c-2' });
  await reader.passMinutes(15);
  expect([reader.shown('chess'), reader.shown('sport')]).toEqual([[[]], [['u-c', 'u-d']]]);
});
