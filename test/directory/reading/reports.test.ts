import { expect, it } from 'vitest';
import {
  type Directory,
  DirectoryError,
  type DirectoryGroup,
  type DirectoryUser,
  type ReportedChange,
} from '../../../shared/directory/ports.ts';
import { groupId, memberId } from '../../../shared/domain/ids.ts';
import { MINUTE_MS } from '../../support/engine/world.ts';
import { memberOf, QUIET, readerOf } from './fixture.ts';

const GROUP: DirectoryGroup = {
  id: groupId('rowing'),
  name: 'Rowing',
  address: 'rowing@acme.test',
  userCount: 1,
};

/** Creates a directory with one group and reports about users. Each request for a user takes a minute. */
async function reported(count: number) {
  const asked: string[] = [];
  const changes: ReportedChange[] = [];
  const state = {
    lists: 0,
    listings: 0,
    failsAt: Number.POSITIVE_INFINITY,
    cursors: [] as string[],
    odd: new Set<string>(),
    failure: new DirectoryError('busy', 'too many calls'),
    group: GROUP as DirectoryGroup | undefined,
    groups: [] as ReportedChange[],
    user: undefined as DirectoryUser | undefined,
  };
  const reader = await readerOf((nowMs): Directory => {
    const page = <Item>(items: readonly Item[]) => ({ items, asOfMs: nowMs() });
    return {
      ...QUIET,
      async *groups() {
        state.listings += 1;
        yield page([GROUP]);
      },
      group: async () => state.group,
      async *membersOf() {
        state.lists += 1;
        yield page([memberOf('a', new Map())]);
      },
      user: async (key) => {
        reader.world.advance(MINUTE_MS);
        if (asked.length >= state.failsAt) throw state.failure;
        if (state.odd.has(key)) throw new DirectoryError('invalid', 'the answer is not as described');
        asked.push(key);
        return state.user;
      },
      changesSince: async (cursor) => {
        state.cursors.push(cursor);
        return { groups: state.groups, users: changes, cursor: String(nowMs()) };
      },
      cursorAt: async (ms) => String(ms),
    };
  });
  for (let run = 0; run < 3; run += 1) {
    await reader.run();
    await reader.pass(11 * MINUTE_MS);
  }
  state.cursors.splice(0);
  for (let user = 0; user < count; user += 1)
    changes.push({ key: `x${user}@acme.test`, atMs: reader.world.nowMs(), isDeletion: false });
  await reader.pass(MINUTE_MS);
  return { reader, asked, changes, state };
}

it('a run of the reader stops its requests for reported users at its time limit, and the next runs request the remaining users', async () => {
  const { reader, asked, state } = await reported(30);
  const begunMs = reader.world.nowMs();
  const report = await reader.run({ deadlineMs: begunMs + 13 * MINUTE_MS });
  expect(report).toMatchObject({ reported: 13 });
  expect(asked).toHaveLength(13);
  await reader.run({ deadlineMs: reader.world.nowMs() + 13 * MINUTE_MS });
  await reader.run({ deadlineMs: reader.world.nowMs() + 13 * MINUTE_MS });
  expect(new Set(asked)).toEqual(new Set(Array.from({ length: 30 }, (_, user) => `x${user}@acme.test`)));
  expect(asked).toHaveLength(30);
  const [first, second, third] = state.cursors;
  expect([second, third]).toEqual([first, first]);
  await reader.run();
  expect(state.cursors.at(-1)).not.toBe(first);
  expect(asked).toHaveLength(30);
});

it.each([
  ['busy', 'only the remaining users', 10],
  ['denied', 'all users', 16],
] as const)(
  'after an error %s about a reported user, the run stops and the next run requests %s',
  async (kind, _, all) => {
    const { reader, asked, state } = await reported(10);
    state.failsAt = 6;
    state.failure = new DirectoryError(kind, 'too many calls');
    const begunMs = reader.world.nowMs();
    await expect(reader.run()).rejects.toThrow('too many calls');
    expect(asked).toHaveLength(6);
    expect(reader.world.nowMs() - begunMs).toBe(7 * MINUTE_MS);
    state.failsAt = Number.POSITIVE_INFINITY;
    await reader.run();
    expect(asked).toHaveLength(all);
    expect(new Set(asked).size).toBe(10);
  },
);

it('of two reports of one moment, the deletion counts first, but a deletion before the last read does not count', async () => {
  const { reader, state } = await reported(0);
  const { readMs = 0 } = (await reader.stored('rowing')) ?? {};
  const deletion = { key: 'rowing', isDeletion: true };
  state.groups = [{ ...deletion, atMs: readMs - 1 }];
  state.group = undefined;
  await reader.run();
  expect(await reader.stored('rowing')).toBeDefined();
  await reader.pass(MINUTE_MS);
  state.group = { ...GROUP, id: groupId('rowing-2') };
  const atMs = reader.world.nowMs();
  state.groups = [
    { key: GROUP.address, isDeletion: false, atMs },
    { ...deletion, atMs },
  ];
  await reader.run();
  expect(await reader.stored('rowing-2')).toBeDefined();
});

it('a wrong answer about one reported user does not stop the processing of other reports and groups', async () => {
  const { reader, asked, state } = await reported(3);
  state.odd.add('x0@acme.test');
  const { lists, listings } = state;
  await expect(reader.run({ isFull: true })).rejects.toThrow('the answer is not as described');
  expect(asked).toEqual(['x1@acme.test', 'x2@acme.test']);
  expect([state.lists, state.listings]).toEqual([lists + 1, listings + 1]);
  state.odd.clear();
  await reader.run();
  expect(asked).toEqual(['x1@acme.test', 'x2@acme.test', 'x0@acme.test']);
  expect(state.cursors[1]).toBe(state.cursors[0]);
});

it('a report of a user who is active again causes a read of the groups of the user', async () => {
  const { reader, changes, state } = await reported(0);
  const lists = [state.lists];
  for (const isActive of [false, true]) {
    state.user = { id: memberId('a'), attributes: new Map(), isActive };
    changes.push({ key: 'a', atMs: reader.world.nowMs(), isDeletion: false });
    await reader.run();
    lists.push(state.lists);
    await reader.pass(MINUTE_MS);
  }
  expect(lists.map((count) => count - (lists[0] ?? 0))).toEqual([0, 0, 1]);
});

it('with more than 1,000 reported users, the reader requests no user and reads all groups until two reads agree', async () => {
  const { reader, asked, state } = await reported(3_000);
  const before = state.lists;
  await reader.run();
  expect(asked).toEqual([]);
  expect(state.lists).toBe(before + 1);
  await reader.pass(MINUTE_MS);
  await reader.run();
  expect(asked).toEqual([]);
  expect(state.lists).toBe(before + 1);
  for (let run = 0; run < 3; run += 1) {
    await reader.pass(11 * MINUTE_MS);
    await reader.run();
  }
  expect(asked).toEqual([]);
  expect(state.lists).toBe(before + 2);
});
