import { beforeEach, expect, it } from 'vitest';
import { add, remove, replace } from '../../support/scim-operations.ts';
import { type Answer, type Client, createWorld } from './support/server.ts';

let world: ReturnType<typeof createWorld>;
let client: Client;
let group: string;
/** A function that runs before each call of the table, if a test sets the function. */
let interrupt: (operation: string, key: string) => Promise<void>;

const people = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `m${from + n}`);
const valuesOf = (ids: readonly string[]) => ids.map((value) => ({ value }));
const put = (ids: readonly string[], headers = {}) =>
  client.put(group, { displayName: 'Large', members: valuesOf(ids) }, headers);
const etagOf = ({ headers }: Answer): string => headers['etag'] ?? '';

beforeEach(async () => {
  interrupt = async () => {};
  world = createWorld({ before: (operation, key) => interrupt(operation, key) });
  client = await world.client();
  const made = await client.post('/Groups', { displayName: 'Large', members: valuesOf(people(150)) });
  group = `/Groups/${made.body.id}`;
});

const groupItem = () => [...world.table.items.values()].find(({ pk }) => pk === 'S#default#Group');

/** Runs the given function once, after the request has written this number of member registers. */
function afterRegisters(count: number, run: () => Promise<unknown>): void {
  let left = count;
  interrupt = async (operation, key) => {
    if (operation !== 'update' || !key.includes(' M#')) return;
    left -= 1;
    if (left >= 0) return;
    interrupt = async () => {};
    await run();
  };
}

it('a read during a write never returns 304, with or without members', async () => {
  const paths = [group, `${group}?excludedAttributes=members`];
  const tags: string[] = [];
  afterRegisters(5, async () => {
    for (const path of paths) {
      tags.push(etagOf(await client.get(path)));
      for (const tag of [...tags, 'W/"2"'])
        expect((await client.get(path, { 'if-none-match': tag })).status).toBe(200);
    }
    const change = [replace('displayName', 'Other')];
    expect((await client.patch(group, change, { 'if-match': 'W/"2"' })).status).toBe(412);
  });
  const patched = await client.patch(group, [add('members', valuesOf(people(10, 1_000)))]);
  expect(tags).toHaveLength(2);
  expect(tags).not.toContain(etagOf(patched));
  for (const path of paths) {
    for (const tag of tags) expect((await client.get(path, { 'if-none-match': tag })).status).toBe(200);
    expect((await client.get(path, { 'if-none-match': etagOf(patched) })).status).toBe(304);
  }
});

const crash = async () => {
  afterRegisters(5, () => Promise.reject(new Error('died')));
  expect((await client.patch(group, [add('members', valuesOf(people(10, 1_000)))])).status).toBe(500);
  interrupt = async () => {};
};

it('the item of the group contains no trace of a crashed request after a later change of the members', async () => {
  await crash();
  world.time.nowMs += 60_000;
  await client.patch(group, [remove('members[value eq "m1"]')]);
  const item = groupItem();
  expect(Object.keys(item ?? {}).filter((name) => name.startsWith('write'))).toEqual([]);
});

it.each<[string, () => Promise<Answer>]>([
  ['a PATCH of members', () => client.patch(group, [add('members', valuesOf(['a']))])],
  ['a PUT of all members', () => put(people(151))],
  ['a PUT of the same members', () => put(people(150))],
  [
    'a PUT of another name and members',
    () => client.put(group, { displayName: 'Other', members: valuesOf(people(151)) }),
  ],
])(
  'after a thousand requests crashed while they wrote members, %s succeeds immediately, and also a minute later',
  async (_, send) => {
    const item = groupItem();
    if (item === undefined) throw new Error('expected the group in the table');
    const begun = people(1_000).map((id) => [`write_${id}`, world.time.nowMs]);
    await world.table.put({ ...item, ...Object.fromEntries(begun) });
    expect((await send()).status).toBeLessThan(300);
    world.time.nowMs += 60_000;
    expect((await send()).status).toBeLessThan(300);
  },
);
it.each([
  ['before the stamp', (operation: string, key: string) => operation === 'get' && key.startsWith('ST#')],
  ['before the registers', (operation: string, key: string) => operation === 'update' && key.includes(' M#')],
])('a user who is deleted during a request that adds the user, %s, is not added', async (_when, isThen) => {
  const { id } = (await client.post('/Users', { userName: 'ann' })).body;
  let isDone = false;
  interrupt = async (operation, key) => {
    if (isDone || !isThen(operation, key)) return;
    isDone = true;
    // At this point, the request has read the user.
    for (let tick = 0; tick < 20; tick += 1) await new Promise((resolve) => setImmediate(resolve));
    world.time.nowMs += 10;
    expect((await client.delete(`/Users/${id}`)).status).toBe(204);
    world.time.nowMs += 10;
  };
  expect((await client.patch(group, [add('members', valuesOf([id, 'm900']))])).status).toBe(204);
  expect(isDone).toBe(true);
  const wanted = (await world.desired(group.slice('/Groups/'.length)))?.members;
  expect(wanted).toContain('m900');
  expect(wanted).not.toContain(id);
});

it.each([
  ['/Groups', 'displayName'],
  ['/Users', 'userName'],
])('in %s, a refused %s does not stay if another request follows', async (path, name) => {
  const { id } = (await client.post(path, { [name]: 'first' })).body;
  const own = `${path}/${id}`;
  const rename = () => client.patch(own, [replace(name, 'second')]);
  const others = [() => client.post(path, { [name]: 'second' }), rename];
  const isDone: boolean[] = [];
  interrupt = async (operation, key) => {
    const isSave = operation === 'update' && key.startsWith('S#');
    const send = isSave && key.endsWith(id) ? others.shift() : undefined;
    if (send !== undefined) isDone.push((await send()).status < 300);
  };
  expect((await rename()).status).toBe(409);
  expect(isDone).toEqual([true, true]);
  expect((await world.desired(id))?.name).not.toBe('second');
  expect((await client.get(own)).body).toMatchObject({ [name]: 'first' });
  expect((await client.get(`${path}?filter=${name} eq "second"`)).body.totalResults).toBe(1);
});
