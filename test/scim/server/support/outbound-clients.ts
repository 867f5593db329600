import { expect } from 'vitest';
import { add, remove } from '../../../support/scim-operations.ts';
import { type Answer, type Client, ENTERPRISE, GROUP, USER } from './server.ts';

/*
 * The request sequences of two identity providers. Each function expects the status that the provider needs to
 * continue. It returns the ids that the server assigned.
 */

export interface Company {
  readonly users: readonly string[];
  /** The members of each group. A member is an index in the list of users. */
  readonly groups: ReadonlyMap<string, readonly number[]>;
}

export interface Provisioned {
  /** The ids of the users, in the order of the company's users. */
  readonly users: readonly string[];
  readonly groups: ReadonlyMap<string, string>;
}

const ENTRA_GROUP = 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group';
const IN_FLIGHT = 8;
const OKTA_MEMBERS_PER_PATCH = 256;
const ENTRA_MEMBERS_PER_PATCH = 1_000;

function withStatus(answer: Answer, status: number): Answer {
  expect(answer).toMatchObject({ status });
  return answer;
}

const query = (parameters: Record<string, string>) => `?${new URLSearchParams(parameters)}`;

async function inChunks<Item, Result>(items: readonly Item[], run: (item: Item) => Promise<Result>) {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += IN_FLIGHT)
    results.push(...(await Promise.all(items.slice(from, from + IN_FLIGHT).map(run))));
  return results;
}

const chunksOf = <Item>(items: readonly Item[], size: number) =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));

async function matchOrCreate(client: Client, path: string, filter: string, body: object): Promise<string> {
  const found = withStatus(await client.get(path + filter), 200).body;
  expect(found.totalResults).toBeLessThanOrEqual(1);
  return found.totalResults === 1
    ? found.Resources[0].id
    : withStatus(await client.post(path, body), 201).body.id;
}

/** The requests of Okta: the connector test, the import of groups, the assignment of users and the push of groups. */
export async function provisionAsOkta(client: Client, company: Company): Promise<Provisioned> {
  withStatus(await client.get('/Users?startIndex=1&count=2'), 200);
  let startIndex = 1;
  for (let total = 1; startIndex <= total; ) {
    const { body } = withStatus(await client.get(`/Groups?startIndex=${startIndex}&count=100`), 200);
    total = body.totalResults;
    startIndex += 100;
  }
  const users = await inChunks(company.users, (userName) => {
    const filter = query({ filter: `userName eq "${userName}"`, startIndex: '1', count: '100' });
    return matchOrCreate(client, '/Users', filter, {
      schemas: [USER],
      userName,
      name: { givenName: 'G', familyName: 'F' },
      emails: [{ primary: true, value: userName, type: 'work' }],
      displayName: 'G F',
      locale: 'en-US',
      externalId: `00u-${userName}`,
      groups: [],
      password: 'x',
      active: true,
    });
  });
  const groups = await inChunks([...company.groups], async ([displayName, members]) => {
    const filter = query({ filter: `displayName eq "${displayName}"`, startIndex: '1', count: '100' });
    const id = await matchOrCreate(client, '/Groups', filter, { schemas: [GROUP], displayName, members: [] });
    withStatus(await client.get(`/Groups/${id}`), 200);
    const named = { op: 'replace', value: { id, displayName } };
    const values = members.map((n) => ({ value: users[n], display: company.users[n] }));
    for (const some of chunksOf(values, OKTA_MEMBERS_PER_PATCH))
      withStatus(await client.patch(`/Groups/${id}`, [named, add('members', some)]), 204);
    return [displayName, id] as const;
  });
  return { users, groups: new Map(groups) };
}

/** The requests of Entra ID: the connection test and one cycle of users, groups and memberships. */
export async function provisionAsEntra(client: Client, company: Company): Promise<Provisioned> {
  const none = query({ filter: 'userName eq "8ef8f8a4-0b1c-4c6c-9d0e-5f6a7b8c9d0e"' });
  expect(withStatus(await client.get(`/Users${none}`), 200).body.Resources).toEqual([]);
  const users = await inChunks(company.users, (userName) =>
    matchOrCreate(client, '/Users', query({ filter: `userName eq "${userName}"` }), {
      schemas: [USER, ENTERPRISE],
      externalId: `oid-${userName}`,
      userName,
      active: true,
      emails: [{ primary: true, type: 'work', value: userName }],
      meta: { resourceType: 'User' },
      [ENTERPRISE]: { employeeNumber: userName },
    }),
  );
  const groups = await inChunks([...company.groups.keys()], async (displayName) => {
    const externalId = `oid-${displayName}`;
    const filter = query({ excludedAttributes: 'members', filter: `externalId eq "${externalId}"` });
    const meta = { resourceType: 'Group' };
    const body = { schemas: [GROUP, ENTRA_GROUP], externalId, displayName, meta };
    return [displayName, await matchOrCreate(client, '/Groups', filter, body)] as const;
  });
  const ids = new Map(groups);
  await inChunks([...company.groups], async ([name, members]) => {
    const path = `/Groups/${ids.get(name)}`;
    const read = withStatus(await client.get(`${path}?excludedAttributes=members`), 200);
    expect(read.body).not.toHaveProperty('members');
    const refs = members.map((n) => ({ $ref: null, value: users[n] }));
    for (const value of chunksOf(refs, ENTRA_MEMBERS_PER_PATCH))
      withStatus(await client.patch(path, [{ op: 'Add', path: 'members', value }]), 204);
  });
  return { users, groups: ids };
}

/** A later change of a group: one member joins and another member leaves. */
interface Change {
  readonly joins: string | undefined;
  readonly leaves: string | undefined;
}

export const changeAsOkta = (client: Client, group: string, { joins, leaves }: Change) =>
  client.patch(`/Groups/${group}`, [
    remove(`members[value eq "${leaves}"]`),
    add('members', [{ value: joins, display: 'x' }]),
  ]);

export async function changeAsEntra(client: Client, group: string, { joins, leaves }: Change) {
  withStatus(
    await client.patch(`/Groups/${group}`, [
      { op: 'Add', path: 'members', value: [{ $ref: null, value: joins }] },
    ]),
    204,
  );
  return client.patch(`/Groups/${group}`, [
    { op: 'Remove', path: 'members', value: [{ $ref: null, value: leaves }] },
  ]);
}
