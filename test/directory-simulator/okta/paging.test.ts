import { describe, expect, it } from 'vitest';
import type { WorldInput } from '../../../directory-simulator/engine/world.ts';
import { nextOf, ORG, readAll, startOkta } from './fixture.ts';

const PEOPLE = 60;
const everybody = Array.from({ length: PEOPLE }, (_, index) => `00u${String(index).padStart(3, '0')}`);
const world: WorldInput = {
  users: everybody.map((id) => ({ id, primaryEmail: `${id}@example.com` })),
  groups: [
    { id: '00g', email: 'g@group.example', name: 'G', members: everybody.map((member) => ({ member })) },
  ],
};
const MEMBERS = 'groups/00g/users?limit=25';
const HARD = { pageSizes: 'random', pageOrder: 'random', repeatedItems: 0.3, emptyPages: 0.2 } as const;

describe('pages of the simulated Okta org', () => {
  it('each page has a link to itself, and each page except the last has a link to the next page', async () => {
    const client = startOkta({ world });
    const first = await client.get(MEMBERS);
    const [self, next] = [first.headers['link'] ?? []].flat();
    expect(self).toBe(`<${ORG}/api/v1/${MEMBERS}>; rel="self"`);
    expect(next).toMatch(
      /^<http:\/\/127\.0\.0\.1:8080\/api\/v1\/groups\/00g\/users\?limit=25&after=[\w-]+>; rel="next"$/,
    );
    const { pages, items } = await readAll(client, MEMBERS);
    expect(pages).toEqual([25, 25, 10]);
    expect(items.map(({ id }) => id)).toEqual(everybody);
  });

  it('links contain the configured address of the org', async () => {
    const { send, control } = startOkta({ world, orgUrl: 'https://acme.okta.com' });
    const { apiToken } = (await control('client')).json;
    const answer = await send(`GET /api/v1/${MEMBERS}`, { headers: { authorization: `SSWS ${apiToken}` } });
    expect(nextOf(answer)).toMatch(/^https:\/\/acme\.okta\.com\/api\/v1\/groups\/00g\/users\?/);
  });

  it.each(['1', '2', '3'])(
    'every member is shown with any sizes and repetitions of pages (seed %s)',
    async (seed) => {
      const { items, pages } = await readAll(startOkta({ world, seed, settings: HARD }), MEMBERS);
      expect([...new Set(items.map(({ id }) => id))].toSorted()).toEqual(everybody);
      expect(Math.max(...pages)).toBeLessThanOrEqual(25);
      expect(pages.length).toBeGreaterThan(3);
    },
  );

  it.each([
    ['groups/00g/users', 60],
    ['users', 60],
    ['users?limit=5000', 60],
    ['groups/00g/users?limit=7', 7],
  ])('the first full page of %s has %d items', async (path, size) => {
    expect((await startOkta({ world }).get(path)).json).toHaveLength(size);
  });

  it('a list refuses a cursor of another list, an expired cursor and an invalid limit with E0000001', async () => {
    const client = startOkta({ world });
    const next = nextOf(await client.get(MEMBERS)) ?? '';
    const cursor = new URL(next).searchParams.get('after');
    await client.control('page-tokens/expire');
    for (const path of [
      `users?after=${cursor}`,
      next,
      'users?limit=many',
      'users?limit=0',
      'users?after=x',
    ]) {
      const { status, json } = await client.get(path);
      expect([path, status, json.errorCode]).toEqual([path, 400, 'E0000001']);
    }
  });
});
