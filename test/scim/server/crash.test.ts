import { expect, it } from 'vitest';
import { NO_GROUP } from '../../../shared/domain/group.ts';
import { connectionName, groupId, memberId } from '../../../shared/domain/ids.ts';
import { add, remove, replace } from '../../support/scim-operations.ts';
import { type Answer, type Client, createWorld } from './support/server.ts';

/*
 * In each test, the server crashes before one of its writes. The client then repeats the request, as identity providers
 * do.
 */

class Died extends Error {}

/** The answer to a request that is not repeated. */
const NO_ANSWER = {} as Answer;

type Request = (client: Client, ids: { group: string; user: string }) => Promise<Answer>;

/** `rest`: no further write succeeds. `one`: only one write fails, for example because it was throttled. */
type Lost = 'one' | 'rest';

/**
 * Sends the request, which crashes before write number `at`, and then the retry.
 * @returns undefined if the request makes fewer writes
 */
async function crashedAt(at: number, request: Request, retry: Request, lost: Lost) {
  let left = Number.POSITIVE_INFINITY;
  const world = createWorld({
    before: async (operation) => {
      if (!['put', 'update', 'delete'].includes(operation)) return;
      left -= 1;
      if (lost === 'one' ? left === -1 : left < 0) throw new Died();
    },
  });
  const client = await world.client();
  const user = (await client.post('/Users', { userName: 'ann', externalId: 'e1' })).body.id;
  const others = [{ value: user }, { value: 'm1' }, { value: 'm2' }];
  const group = (await client.post('/Groups', { displayName: 'Before', externalId: 'x1', members: others }))
    .body.id;
  left = at;
  const crashed = await request(client, { group, user });
  const hasDied = left < 0;
  left = Number.POSITIVE_INFINITY;
  world.woken.length = 0;
  const retried = hasDied ? await retry(client, { group, user }) : crashed;
  return { world, client, group, user, crashed, retried, hasDied };
}

async function everyCrash(
  request: Request,
  check: (after: Awaited<ReturnType<typeof crashedAt>>) => Promise<void>,
  retry = request,
  lost: Lost = 'rest',
) {
  let crashes = 0;
  for (;;) {
    const after = await crashedAt(crashes, request, retry, lost);
    if (after.hasDied) expect(after.crashed.status).toBe(500);
    await check(after);
    if (!after.hasDied) break;
    crashes += 1;
  }
  expect(crashes).toBeGreaterThan(3);
}

it('a change of name and members takes effect when it is repeated after a crash before any write', () =>
  everyCrash(
    (client, { group }) =>
      client.patch(`/Groups/${group}`, [
        { op: 'replace', value: { displayName: 'After', externalId: 'x2' } },
        remove('members[value eq "m1"]'),
        add('members', [{ value: 'm3' }]),
      ]),
    async ({ world, client, group, user, retried }) => {
      expect(retried.status).toBe(204);
      expect(await world.desired(group)).toEqual({ name: 'After', members: [user, 'm2', 'm3'].sort() });
      expect(
        (await client.get('/Groups?filter=displayName eq "After" and externalId eq "x2"')).body.totalResults,
      ).toBe(1);
      expect((await client.post('/Groups', { displayName: 'Before' })).status).toBe(201);
      expect((await client.post('/Groups', { displayName: 'after' })).status).toBe(409);
    },
  ));

it.each(['one', 'rest'] as const)(
  'a change of members wakes the group when it is repeated after a loss of writes: %s',
  (lost) => {
    const request: Request = (client, { group }) =>
      client.patch(`/Groups/${group}`, [add('members', [{ value: 'm3' }])]);
    return everyCrash(
      request,
      async ({ world, client, group, user, retried, hasDied }) => {
        expect(retried.status).toBe(204);
        const members = ['m1', 'm2', 'm3', user].sort();
        expect(await world.desired(group)).toEqual({ name: 'Before', members });
        if (hasDied) expect(world.woken).toContainEqual({ connection: 'default', group });
        expect((await client.get(`/Groups/${group}`)).body.members).toHaveLength(4);
      },
      request,
      lost,
    );
  },
);

it('a PUT of all members wakes the group when it is repeated after a crash before any write', () =>
  everyCrash(
    (client, { group }) =>
      client.put(`/Groups/${group}`, { displayName: 'Put', members: [{ value: 'm2' }, { value: 'm9' }] }),
    async ({ world, group, retried, hasDied }) => {
      expect(retried.status).toBe(200);
      expect(await world.desired(group)).toEqual({ name: 'Put', members: ['m2', 'm9'] });
      if (hasDied) expect(world.woken).toContainEqual({ connection: 'default', group });
    },
  ));

it('a deletion of a group takes effect when it is repeated after a crash before any write', () =>
  everyCrash(
    (client, { group }) => client.delete(`/Groups/${group}`),
    async ({ world, client, group, retried }) => {
      expect([204, 404]).toContain(retried.status);
      expect(await world.desired(group)).toBeUndefined();
      expect((await client.get(`/Groups/${group}`)).status).toBe(404);
      expect((await client.post('/Groups', { displayName: 'Before' })).status).toBe(201);
    },
  ));

it('a deletion of a user takes effect when it is repeated after a crash before any write', () =>
  everyCrash(
    (client, { user }) => client.delete(`/Users/${user}`),
    async ({ world, client, group, user, retried }) => {
      expect([204, 404]).toContain(retried.status);
      expect((await world.desired(group))?.members).toEqual(['m1', 'm2']);
      expect((await client.get(`/Groups/${group}`)).body.members).toHaveLength(2);
      expect((await client.get(`/Users/${user}`)).status).toBe(404);
      expect((await client.post('/Users', { userName: 'ann' })).status).toBe(201);
    },
  ));

it('a deactivation of a user takes effect when it is repeated after a crash before any write', () =>
  everyCrash(
    (client, { user }) => client.patch(`/Users/${user}`, [replace('active', false)]),
    async ({ world, group, retried }) => {
      expect(retried.status).toBe(200);
      expect((await world.desired(group))?.members).toEqual(['m1', 'm2']);
    },
  ));

it('a repeated creation results in one user, who can be matched, and in no data of the failed attempt', () =>
  everyCrash(
    (client) =>
      client.post('/Users', { userName: 'bob', externalId: 'e2', emails: [{ value: 'bob@a.test' }] }),
    async ({ world, client, retried }) => {
      expect(retried.status).toBe(201);
      for (const filter of ['userName eq "bob"', 'externalId eq "e2"', 'emails eq "bob@a.test"'])
        expect((await client.get(`/Users?filter=${filter}`)).body.totalResults).toBe(1);
      expect((await client.get('/Users')).body.totalResults).toBe(2);
      const described = [...world.table.items.values()].filter(
        ({ pk, attributes }) => pk.startsWith('U#') && JSON.stringify(attributes ?? {}).includes('bob'),
      );
      expect(described.map(({ member }) => member)).toEqual([retried.body.id]);
      const blocked = [...world.table.items.values()].filter((item) => item['state'] === 'deleting');
      for (const { createdMs, expiresAt } of blocked)
        expect(Number(expiresAt) * 1_000 - Number(createdMs)).toBeLessThan(2 * 3_600_000);
    },
  ));

it('a repeated creation results in one group with all members, whether the retry creates or finds the group', () =>
  everyCrash(
    (client) => client.post('/Groups', { displayName: 'New', members: [{ value: 'm1' }, { value: 'm2' }] }),
    async ({ world, client, retried }) => {
      expect([201, 409]).toContain(retried.status);
      const { body } = await client.get('/Groups?filter=displayName eq "new"');
      expect(body.totalResults).toBe(1);
      expect(await world.desired(body.Resources[0].id)).toEqual({ name: 'New', members: ['m1', 'm2'] });
    },
  ));

it.each<[string, Request]>([
  ['the deletion of a group', (client, { group }) => client.delete(`/Groups/${group}`)],
  [
    'a new list of members',
    (client, { group }) =>
      client.put(`/Groups/${group}`, { displayName: 'Before', members: [{ value: 'm2' }, { value: 'm9' }] }),
  ],
  ['the deletion of a user', (client, { user }) => client.delete(`/Users/${user}`)],
  ['a new name', (client, { group }) => client.patch(`/Groups/${group}`, [replace('displayName', 'After')])],
])('the token that began %s is its author, also if another token finishes it', async (_, request) => {
  const senders: string[] = [];
  for (let at = 0, hasDied = true; hasDied; at += 1) {
    const after = await crashedAt(at, request, async () => NO_ANSWER, 'rest');
    hasDied = after.hasDied;
    const { world, group, user } = after;
    const other = await world.client();
    world.time.nowMs += 10 * 60_000;
    await other.get(`/Users/${user}`);
    await other.get(`/Groups/${group}`);
    const ref = { connection: connectionName('default'), group: groupId(group) };
    const { registers = NO_GROUP } = (await world.ports.groups.read(ref)) ?? {};
    const [register] = await world.ports.groups.registers(ref, [memberId(user)]);
    const known = (await world.ports.users.read(ref.connection, [memberId(user)])).get(memberId(user));
    senders.push(...[registers.author, register, known?.author].flatMap((one) => one?.actor?.id ?? []));
  }
  expect(senders.length).toBeGreaterThan(9);
  expect(new Set(senders)).toEqual(new Set(['00000001']));
});
