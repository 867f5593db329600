import { beforeEach, expect, it } from 'vitest';
import { createScimStore } from '../../../shared/scim/store/scim-store.ts';
import { replace } from '../../support/scim-operations.ts';
import { type Client, clientOf, createWorld, ENTERPRISE } from './support/server.ts';

let world: ReturnType<typeof createWorld>;
let client: Client;
let queries: number;
let batchReads: number;

beforeEach(async () => {
  queries = 0;
  batchReads = 0;
  world = createWorld({
    storeProfile: true,
    before: async (operation) => {
      if (operation === 'query') queries += 1;
      if (operation === 'getMany') batchReads += 1;
    },
  });
  client = await world.client();
});

const createUser = async (userName: string, more: object = {}): Promise<string> =>
  (await client.post('/Users', { userName, ...more })).body.id;
const createGroup = async (displayName: string, ids: readonly string[]): Promise<string> =>
  (await client.post('/Groups', { displayName, members: ids.map((value) => ({ value })) })).body.id;
const found = async (filter: string): Promise<string[]> =>
  (await client.get(`/Users?filter=${encodeURIComponent(filter)}`)).body.Resources.map(
    ({ id }: { id: string }) => id,
  );

it('a user that is sent with groups is stored without them, because only groups have members', async () => {
  const ann = await createUser('ann', { groups: [] });
  const group = await createGroup('First', [ann]);
  const { body } = await client.get(`/Users/${ann}`);
  expect(body).not.toHaveProperty('groups');
  const groups = [{ value: group, display: 'First' }];
  expect(await client.put(`/Users/${ann}`, { ...body, groups })).toMatchObject({ status: 200, body });
  expect((await client.get(`/Groups/${group}`)).body.members).toMatchObject([{ value: ann }]);
});

it('the server that changed a name shows the new name immediately, and other servers show it within a minute', async () => {
  const ids = [await createUser('ann'), await createUser('bob')];
  const group = await createGroup('First', ids);
  const ports = { ...world.ports, scim: createScimStore(world.table) };
  const other = clientOf(ports, { authorization: `Bearer ${await world.newToken()}` });
  const shown = async (server: Client) => {
    const { members } = (await server.get(`/Groups/${group}`)).body;
    return members.map((one: { display?: string; $ref?: string }) => [one.display, one.$ref !== undefined]);
  };
  const before = [
    ['ann', true],
    ['bob', true],
  ];
  expect([await shown(client), await shown(other)]).toEqual([before, before]);
  await client.patch(`/Users/${ids[1]}`, [replace('userName', 'bill')]);
  const after = [
    ['ann', true],
    ['bill', true],
  ];
  expect([await shown(client), await shown(other)]).toEqual([after, before]);
  world.time.nowMs += 60_000;
  expect(await shown(other)).toEqual(after);
});

it('the server does not read the members of a recently shown group again', async () => {
  const ids = [await createUser('ann'), await createUser('bob')];
  const group = await createGroup('First', ids);
  await client.get(`/Groups/${group}`);
  const reads = batchReads;
  await client.get(`/Groups/${group}`);
  expect(batchReads - reads).toBeLessThanOrEqual(1);
});

it.each([
  'emails eq "A7@Acme.test"',
  'emails.value eq "a7@acme.test"',
  'emails[type eq "work"].value eq "a7@acme.test"',
  'emails[type eq "work" and value eq "a7@acme.test"]',
  'externalId eq "x7"',
  'employeeNumber eq "7"',
  `${ENTERPRISE}:employeeNumber eq "7"`,
  'active eq true and employeeNumber eq "7"',
])('the server reads only the matching user for the filter %s', async (filter) => {
  const ids: string[] = [];
  for (let n = 0; n < 10; n += 1) {
    const emails = [{ type: 'work', value: `a${n}@acme.test` }];
    const more = { emails, externalId: `x${n}`, [ENTERPRISE]: { employeeNumber: String(n) } };
    ids.push(await createUser(`u${n}`, more));
  }
  queries = 0;
  expect(await found(filter)).toEqual([ids[7]]);
  expect(queries).toBeLessThanOrEqual(1);
});
