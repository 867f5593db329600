import { beforeEach, expect, it } from 'vitest';
import { callerStorage } from '../../support/caller-storage.ts';
import { add, replace } from '../../support/scim-operations.ts';
import { type Answer, type Client, createWorld } from './support/server.ts';

let world: ReturnType<typeof createWorld>;
let client: Client;
let group: string;
/**
 * A function that runs before each table call of the tested request. Table calls of the function itself do not start it
 * again.
 */
let interrupt: (() => Promise<void>) | undefined;
const isOther = callerStorage<boolean>();

const people = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `m${from + n}`);
const valuesOf = (ids: readonly string[]) => ids.map((value) => ({ value }));
const membersOf = (members: readonly { value: string }[]) => members.map(({ value }) => value).sort();
const put = (ids: readonly string[]) =>
  client.put(`${group}?attributes=displayName`, { displayName: 'Large', members: valuesOf(ids) });

beforeEach(async () => {
  interrupt = undefined;
  world = createWorld({
    before: async () => {
      if (interrupt !== undefined && isOther.getStore() !== true) await isOther.run(true, interrupt);
    },
  });
  client = await world.client();
});

async function createGroup(ids: readonly string[]): Promise<void> {
  const made = await client.post('/Groups?attributes=id', { displayName: 'Large', members: valuesOf(ids) });
  group = `/Groups/${made.body.id}`;
}

/**
 * Before each table call of a request, reads the group in every way that a client can. Returns the lists of these
 * reads.
 */
async function listsSeen(request: () => Promise<Answer>, { every = 1 } = {}) {
  const seen = new Set<string>();
  const id = group.slice('/Groups/'.length);
  let calls = 0;
  interrupt = async () => {
    calls += 1;
    if (calls % every !== 0) return;
    const lists = [
      (await client.get(group)).body.members,
      (await client.get('/Groups?count=5')).body.Resources[0].members,
      (await client.get(`/Groups?filter=id eq "${id}"`)).body.Resources[0].members,
    ];
    for (const list of lists) seen.add(membersOf(list).join());
  };
  const { status } = await request();
  interrupt = undefined;
  expect(status).toBeLessThan(300);
  return seen;
}

it.each<[string, string[], string[]]>([
  ['one member by another', ['a'], ['b']],
  ['a few members by others', ['a', 'b', 'c'], ['c', 'd', 'e']],
  ['an empty list by some members', [], ['a', 'b', 'c']],
  ['some members by an empty list', ['a', 'b', 'c'], []],
  ['a large list by a list with few changes', people(150), [...people(148, 2), 'x', 'y', 'z']],
  ['a large list by a completely different one', people(120), people(130, 500)],
])('readers never see a mixture of lists if a request replaces %s', async (_title, before, after) => {
  for (const method of ['PUT', 'PATCH']) {
    await createGroup(before);
    const write = () =>
      method === 'PUT' ? put(after) : client.patch(group, [replace('members', valuesOf(after))]);
    const seen = await listsSeen(write, { every: before.length > 100 ? 11 : 1 });
    const allowed = [before.toSorted().join(), after.toSorted().join()];
    expect([...seen].filter((list) => !allowed.includes(list))).toEqual([]);
    expect(membersOf((await client.get(group)).body.members)).toEqual(after.toSorted());
    await client.delete(group);
  }
});

it('a filter by members matches the old list or the new list, and never a mixture', async () => {
  await createGroup(['a', 'b']);
  const both = new Set<number>();
  const neither = new Set<number>();
  interrupt = async () => {
    const count = async (filter: string) =>
      (await client.get(`/Groups?attributes=id&filter=${filter}`)).body.totalResults;
    both.add(await count('members eq "a" and members eq "c"'));
    neither.add(await count('displayName eq "Large" and not (members eq "a") and not (members eq "d")'));
  };
  await put(['c', 'd']);
  expect([...both, ...neither].filter((found) => found !== 0)).toEqual([]);
});

it('after a minute, the next read completes a replacement whose request crashed', async () => {
  const [before, after] = [people(150), people(130, 70)];
  await createGroup(before);
  for (const deadAfter of [120, 200, 260, 330]) {
    let calls = 0;
    interrupt = async () => {
      calls += 1;
      if (calls > deadAfter) throw new Error('died');
    };
    await put(after);
    interrupt = undefined;
    const lists = [before, after].map((list) => list.toSorted());
    expect(lists).toContainEqual(membersOf((await client.get(group)).body.members));
    await client.patch(group, [add('members', valuesOf(['late']))]);
    const seen = membersOf((await client.get(group)).body.members);
    expect(lists.map((list) => [...list, 'late'].sort())).toContainEqual(seen);
    world.time.nowMs += 61_000;
    const finished = membersOf((await client.get(group)).body.members);
    expect(lists.map((list) => [...list, 'late'].sort())).toContainEqual(finished);
    expect((await world.desired(group.slice('/Groups/'.length)))?.members).toEqual(finished);
    expect([...world.table.items.keys()].filter((key) => key.startsWith('SL#'))).toEqual([]);
    await put(before);
  }
});
