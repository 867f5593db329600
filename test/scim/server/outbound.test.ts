import { expect, it } from 'vitest';
import {
  type Company,
  changeAsEntra,
  changeAsOkta,
  type Provisioned,
  provisionAsEntra,
  provisionAsOkta,
} from './support/outbound-clients.ts';
import { createWorld } from './support/server.ts';

/*
 * These tests simulate complete runs of identity providers. Each request must return the status that the provider needs
 * to continue.
 */

const USERS = 300;
const GROUPS = 30;
const TIMEOUT_MS = 300_000;
/** The time between two requests. With this time, no token exceeds its rate limit. */
const PAUSE_MS = 10;

const range = (length: number) => Array.from({ length }, (_, n) => n);

/** The first group contains all users. Each other group has a different number of members, from 1 to 29. */
const company: Company = {
  users: range(USERS).map((n) => `user-${n}@acme.test`),
  groups: new Map(
    range(GROUPS).map((n) => [
      `Group ${n}`,
      n === 0 ? range(USERS) : range(n).map((m) => (n * 37 + m) % USERS),
    ]),
  ),
};

async function startWorld() {
  const world = createWorld({
    before: async (operation) => {
      if (operation === 'put' || operation === 'update') world.time.nowMs += 1;
    },
  });
  const client = await world.client();
  const { get } = client;
  const paced: typeof client = {
    ...client,
    get: (path, headers) => {
      world.time.nowMs += PAUSE_MS;
      return get(path, headers);
    },
  };
  const membersOf = async ({ groups }: Provisioned) =>
    new Map(
      await Promise.all(
        [...groups].map(async ([name, id]) => [name, (await world.desired(id))?.members] as const),
      ),
    );
  const versionsOf = async ({ groups }: Provisioned) => {
    const paths = [...groups.values()].map((id) => `/Groups/${id}?excludedAttributes=members`);
    return (await Promise.all(paths.map((path) => paced.get(path)))).map(({ body }) => body.meta.version);
  };
  return { client: paced, membersOf, versionsOf };
}

const wanted = ({ users }: Provisioned) =>
  new Map([...company.groups].map(([name, members]) => [name, members.map((n) => users[n]).sort()]));

it.each([
  ['Okta', provisionAsOkta, changeAsOkta],
  ['Entra ID', provisionAsEntra, changeAsEntra],
])(
  '%s provisions 300 users and 30 groups without an error, and a second identical run changes nothing',
  async (_provider, provision, change) => {
    const { client, membersOf, versionsOf } = await startWorld();
    const first = await provision(client, company);
    expect(await membersOf(first)).toEqual(wanted(first));
    const versions = await versionsOf(first);
    expect(await provision(client, company)).toEqual(first);
    expect(await versionsOf(first)).toEqual(versions);
    const { users, groups } = first;
    const group = groups.get('Group 2') ?? '';
    const [stays, leaves] = users.slice(74, 76);
    expect((await change(client, group, { joins: users[0], leaves })).status).toBe(204);
    expect((await membersOf(first)).get('Group 2')).toEqual([users[0], stays].sort());
  },
  TIMEOUT_MS,
);
