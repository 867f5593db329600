import { beforeEach, expect, it } from 'vitest';
import { add, remove, replace } from '../../support/scim-operations.ts';
import { type Client, createWorld, fullUser } from './support/server.ts';

/* RFC 7644 section 3.5.2.1 says that if a value already exists, "the modify timestamp shall not change". */

let world: ReturnType<typeof createWorld>;
let client: Client;
let user: string;
let group: string;

/** A function that runs before each write, if a test sets the function. */
let interrupt: (operation: string, key: string) => Promise<void>;

beforeEach(async () => {
  interrupt = async () => {};
  world = createWorld({
    storeProfile: true,
    before: async (operation, key) => {
      if (['put', 'update', 'delete'].includes(operation)) await interrupt(operation, key);
    },
  });
  client = await world.client();
  const { id } = (await client.post('/Users', { ...fullUser('ann'), title: 'x' })).body;
  user = `/Users/${id}`;
  const members = [{ value: id }, { value: 'm1' }];
  group = `/Groups/${(await client.post('/Groups', { displayName: 'A', externalId: 'x1', members })).body.id}`;
  world.time.nowMs += 1_000;
});

const idOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);
const versionOf = async (path: string): Promise<string> => (await client.get(path)).body.meta.version;
const rename = (displayName: string) => replace('displayName', displayName);
const title = (value: string) => replace('title', value);

it.each<[string, unknown]>([
  ['replaces the name with its current value', rename('A')],
  ['repeats id and name', { op: 'replace', value: { id: 'any', displayName: 'A' } }],
  ['adds no members', add('members', [])],
  ['adds an existing member', add('members', [{ value: 'm1' }])],
  ['removes a user who is not a member', remove('members[value eq "m9"]')],
  ['replaces the members with the same ones', replace('members', [{ value: 'm1' }, { value: 'id000001' }])],
  ['removes members by a filter that selects no member', remove('members[value sw "zz"]')],
  ['changes a member attribute that is not stored', replace('members[value eq "m1"].display', 'M')],
])('a group keeps the version and the modification time if a request %s', async (_title, operation) => {
  const before = await client.get(group);
  const answer = await client.patch(group, [operation]);
  expect(answer.status).toBe(204);
  expect(answer.headers['etag']).toBe(before.headers['etag']);
  expect(await client.get(group)).toEqual(before);
  await client.patch(group, [add('members', [{ value: 'm8' }])]);
  expect(await versionOf(group)).not.toBe(before.body.meta.version);
});

it('a later change wins over earlier requests even if clocks stop or go back', async () => {
  world.time.nowMs -= 500;
  for (let n = 0; n < 12; n += 1) await client.patch(user, [title('x')]);
  await client.patch(user, [replace('active', false)]);
  for (let n = 0; n < 12; n += 1) await client.patch(group, [rename('A')]);
  await client.patch(group, [rename('B')]);
  expect(await world.desired(idOf(group))).toEqual({ name: 'B', members: ['m1'] });
});

it('a request that changes nothing wakes its group, because an earlier crash may have lost the wake-up', async () => {
  world.woken.length = 0;
  // The wake-up that an earlier request stored is valid for two minutes. After this time, the request itself must
  // wake the group.
  world.time.nowMs += 2 * 60_000;
  await client.patch(group, [rename('A')]);
  expect(world.woken).toEqual([{ connection: 'default', group: idOf(group) }]);
});

/** Completes another request before the first write of the next request. */
const supersededBy = (request: () => Promise<unknown>) => {
  interrupt = async () => {
    interrupt = async () => {};
    await request();
  };
};

it('a request that sends the current value counts as a change if another client changes the value in the meantime', async () => {
  const versions = [await versionOf(user)];
  supersededBy(async () => versions.push((await client.patch(user, [title('y')])).body.meta.version));
  const { body } = await client.patch(user, [title('x')]);
  expect(body.title).toBe('x');
  expect(new Set([...versions, body.meta.version]).size).toBe(3);
  expect((await client.get(user)).body).toEqual(body);
});

it('a request with the current name does not undo a simultaneous rename by another client', async () => {
  const before = await versionOf(group);
  supersededBy(() => client.patch(group, [rename('B')]));
  const answer = await client.patch(group, [rename('A')]);
  const { displayName, meta } = (await client.get(group)).body;
  expect(displayName).toBe('B');
  expect(meta.version).not.toBe(before);
  expect(answer.headers['etag']).toBe(meta.version);
});
