import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createScimStore } from '../../../shared/scim/store/scim-store.ts';
import { PATIENCE_MS, runs } from '../../support/engine/runs.ts';
import { createInterleaving } from './support/interleaving.ts';
import { type Client, clientOf, createWorld } from './support/server.ts';

/*
 * Several SCIM requests compete for the same two user names. Their table calls are interleaved in a drawn order. One
 * request may crash before any of its calls. A crashed request gets no answer.
 */

const NAMES = ['a', 'b'] as const;

const request = fc.record({
  kind: fc.constantFrom('post', 'post', 'post', 'put'),
  name: fc.constantFrom(...NAMES),
  /** The index of an existing user. */
  user: fc.nat(1),
});
const drawn = fc.record({
  requests: fc.array(request, { minLength: 2, maxLength: 5 }),
  picks: fc.array(fc.nat(1_000), { minLength: 10, maxLength: 120 }),
  died: fc.option(fc.record({ request: fc.nat(4), calls: fc.nat(12) }), { nil: undefined }),
});
type Drawn = typeof drawn extends fc.Arbitrary<infer Value> ? Value : never;

async function play({ requests, picks, died }: Drawn) {
  const { before: beforeCall, run } = createInterleaving();
  const world = createWorld({ before: beforeCall });
  const client = await world.client();
  // This client uses a second server with a separate cache of the list of users.
  const authorization = `Bearer ${await world.newToken()}`;
  const observer = clientOf({ ...world.ports, scim: createScimStore(world.table) }, { authorization });
  const before: string[] = [];
  for (const userName of ['z0', 'z1']) before.push((await client.post('/Users', { userName })).body.id);

  const faults: string[] = [];
  const acknowledged = new Map<string, string>();
  const send = async ({ kind, name, user }: Drawn['requests'][number], at: number) => {
    const body = { userName: name, externalId: `x${at}` };
    const answer =
      kind === 'post' ? await client.post('/Users', body) : await client.put(`/Users/${before[user]}`, body);
    if (answer.status >= 500) faults.push(`status ${answer.status}: ${answer.cause}`);
    if (answer.status < 300) acknowledged.set(answer.body.id, kind === 'post' ? name : 'any');
  };
  const observe = async () => {
    for (let n = 0; n < 3; n += 1) {
      const known = [...acknowledged.keys()];
      const listed = await idsOf(observer);
      faults.push(...known.filter((id) => !listed.includes(id)).map((id) => `${id} is not listed`));
    }
  };

  const sending = requests.map((one, at) => [`r${at}`, () => send(one, at)] as const);
  const crash = died && { by: `r${died.request}`, calls: died.calls };
  faults.push(...(await run({ ...Object.fromEntries(sending), observe }, { picks, died: crash })));
  return { world, client, observer, faults, acknowledged };
}

const idsOf = async (client: Client) =>
  (await client.get('/Users')).body.Resources.map(({ id }: { id: string }) => id) as string[];

it(
  'a user name belongs to at most one user, and the name of a crashed request can be used again',
  async () => {
    await fc.assert(
      fc.asyncProperty(drawn, async (given) => {
        const { world, client, observer, faults, acknowledged } = await play(given);
        expect(faults).toEqual([]);
        const users = (await client.get('/Users')).body.Resources as { id: string; userName: string }[];
        for (const [id, name] of acknowledged) {
          const { userName } = users.find((user) => user.id === id) ?? {};
          expect(name === 'any' ? NAMES : [name]).toContain(userName);
        }
        for (const name of NAMES) {
          const holders = users.filter(({ userName }) => userName === name).map(({ id }) => id);
          expect(holders.length).toBeLessThanOrEqual(1);
          const found = (await client.get(`/Users?filter=userName eq "${name}"`)).body.Resources;
          expect(found.map(({ id }: { id: string }) => id)).toEqual(holders);
          const { status } = await client.post('/Users', { userName: name });
          expect(status).toBe(holders.length === 0 ? 201 : 409);
        }
        world.time.nowMs += 61_000;
        expect(await idsOf(observer)).toEqual(await idsOf(client));
        // The desired state contains no data of requests that crashed or failed.
        const described = [...world.table.items.values()].filter(
          ({ pk, attributes }) =>
            pk.startsWith('U#') && /"value":"[ab]"/.test(JSON.stringify(attributes ?? {})),
        );
        expect(described.length).toBeLessThanOrEqual(NAMES.length);
      }),
      runs(300),
    );
  },
  PATIENCE_MS,
);
