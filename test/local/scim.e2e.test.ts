import { afterAll, beforeAll, expect, it } from 'vitest';
import { add, remove, replace } from '../support/scim-operations.ts';
import { startTestStack } from './support/stack.ts';
import { companyOf, emailOf } from './support/numbered-company.ts';

/**
 * These tests send the complete request sequences of Okta and Entra ID over HTTP, and check the groups on the platform.
 */

const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const TIMEOUT_MS = 300_000;

let stack: Awaited<ReturnType<typeof startTestStack>>;
beforeAll(async () => {
  stack = await startTestStack({ world: companyOf(6), coalesceSeconds: 0 });
});
afterAll(() => stack.stop());

// biome-ignore lint/suspicious/noExplicitAny: answers are read as the sequence expects them
async function ask(method: string, path: string, body?: unknown): Promise<any> {
  const { scim, scimToken } = stack.stack.address;
  const answer = await fetch(`${scim}${path}`, {
    method,
    headers: { authorization: `Bearer ${scimToken}`, 'content-type': 'application/scim+json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { ...(text === '' ? {} : JSON.parse(text)), status: answer.status };
}
const patch = (path: string, ...Operations: readonly unknown[]) => ask('PATCH', path, { Operations });
const where = (filter: string) => `filter=${encodeURIComponent(filter)}`;

async function matchedOrMade(userName: string, body: object): Promise<string> {
  const found = await ask('GET', `/Users?${where(`userName eq "${userName}"`)}`);
  expect(found).toMatchObject({ status: 200, totalResults: 0 });
  const made = await ask('POST', '/Users', { schemas: [USER], userName, active: true, ...body });
  expect(made.status).toBe(201);
  return made.id;
}

/** Returns the sorted platform users of the group with this name; undefined if there is no such group. */
async function users(name: string): Promise<readonly string[] | undefined> {
  await stack.converge();
  return (await stack.platformState()).find((group) => group.name === name)?.users.toSorted();
}

it(
  'the platform follows Okta, which pushes people and a group, renames it, deactivates a user and deletes the group',
  async () => {
    expect((await ask('GET', '/Users?startIndex=1&count=2')).status).toBe(200);
    const ids: string[] = [];
    for (const n of [0, 1, 2]) {
      const emails = [{ value: emailOf(n), type: 'work', primary: true }];
      ids.push(await matchedOrMade(`okta-${n}`, { emails, password: 'x', groups: [] }));
    }
    const [ann = '', bob = '', cas = ''] = ids;
    expect((await ask('GET', `/Groups?${where('displayName eq "Sales"')}`)).totalResults).toBe(0);
    const { id } = await ask('POST', '/Groups', { schemas: [GROUP], displayName: 'Sales', members: [] });
    const path = `/Groups/${id}`;
    const named = { op: 'replace', value: { id, displayName: 'Sales' } };
    const members = ids.map((value) => ({ value, display: value }));
    expect((await patch(path, named, add('members', members))).status).toBe(204);
    expect(await users('Sales')).toEqual(['u0', 'u1', 'u2']);

    await patch(
      path,
      { op: 'replace', value: { id, displayName: 'Sales EU' } },
      remove(`members[value eq "${bob}"]`),
    );
    expect((await ask('GET', path)).members.map(({ value }: { value: string }) => value).sort()).toEqual(
      [ann, cas].sort(),
    );
    await patch(`/Users/${cas}`, { op: 'replace', value: { active: false } });
    expect(await users('Sales EU')).toEqual(['u0']);
    await patch(path, replace('members', members));
    expect(await users('Sales EU')).toEqual(['u0', 'u1']);
    expect((await ask('DELETE', path)).status).toBe(204);
    expect(await users('Sales EU')).toBeUndefined();
  },
  TIMEOUT_MS,
);
