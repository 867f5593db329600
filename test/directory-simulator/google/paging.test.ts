import { describe, expect, it } from 'vitest';
import type { Settings } from '../../../directory-simulator/engine/settings.ts';
import { type Google, readAll, startGoogle, WORLD } from '../fixture.ts';

const PEOPLE = 60;
const users = Array.from({ length: PEOPLE }, (_, index) => ({
  id: `u${String(index).padStart(3, '0')}`,
  primaryEmail: `u${index}@example.com`,
  isAdmin: index === 0,
}));
const world = {
  ...WORLD,
  users: [...(WORLD.users ?? []), ...users],
  groups: [{ id: 'g', email: 'g@example.com', members: users.map(({ id }) => ({ member: id })) }],
};
const HARD: Partial<Settings> = {
  pageSizes: 'random',
  pageOrder: 'random',
  repeatedItems: 0.5,
  emptyPages: 0.3,
};
const SEEDS = ['1', '2', '3', '4', '5', '6'];
const PATH = 'groups/g/members';
const read = (google: Google, path = PATH) => readAll(google, path, 'members');
const everybody = users.map(({ id }) => id);

describe('paging of the simulated directory', () => {
  it('pages are full and sorted by id with calm settings', async () => {
    const { items, pages } = await read(startGoogle({ world }), `${PATH}?maxResults=25`);
    expect(pages).toEqual([25, 25, 10]);
    expect(items.map(({ id }) => id)).toEqual(everybody);
  });

  it.each(SEEDS)(
    'every member is shown at least once, with any sizes and repetitions of pages (seed %s)',
    async (seed) => {
      const google = startGoogle({ world, seed, settings: HARD });
      const { items, pages } = await read(google, `${PATH}?maxResults=20`);
      expect([...new Set(items.map(({ id }) => id))].toSorted()).toEqual(everybody);
      expect(Math.max(...pages)).toBeLessThanOrEqual(20);
    },
  );

  it('the settings can repeat members, insert empty pages, and change the order with each listing', async () => {
    const google = startGoogle({ world, settings: HARD });
    const listings = await Promise.all([read(google), read(google), read(google), read(google)]);
    expect(new Set(listings.map(({ items }) => items[0]?.id)).size).toBeGreaterThan(1);
    expect(listings.some(({ items }) => items.length > PEOPLE)).toBe(true);
    expect(listings.some(({ pages }) => pages.slice(0, -1).includes(0))).toBe(true);
    expect(new Set(listings.flatMap(({ pages }) => pages)).size).toBeGreaterThan(3);
  });

  it('a listing has the same pages for the same seed, and different pages for another seed', async () => {
    const pagesOf = async (seed: string) => read(startGoogle({ world, seed, settings: HARD }));
    expect(await pagesOf('7')).toEqual(await pagesOf('7'));
    expect(await pagesOf('7')).not.toEqual(await pagesOf('8'));
  });

  it.each(SEEDS)(
    'members who stay are shown even if other members join and leave between pages (seed %s)',
    async (seed) => {
      const google = startGoogle({ world, seed, settings: { ...HARD, emptyPages: 0 } });
      const first = await google.get(`${PATH}?maxResults=20`);
      await google.control('changes', [
        { kind: 'removeMember', group: 'g', member: 'u005' },
        { kind: 'removeMember', group: 'g', member: 'u050' },
        { kind: 'addMember', group: 'g', member: 'ann@example.com' },
      ]);
      const rest = await readAll(google, `${PATH}?maxResults=20`, 'members', first.json.nextPageToken);
      const shown = new Set([...first.json.members, ...rest.items].map(({ id }: { id: string }) => id));
      const stayed = everybody.filter((id) => id !== 'u005' && id !== 'u050');
      expect(stayed.filter((id) => !shown.has(id))).toEqual([]);
    },
  );
});

describe('page tokens', () => {
  const firstToken = async (google: Google) =>
    (await google.get(`${PATH}?maxResults=10`)).json.nextPageToken as string;

  it('a page token can be used again and gives the same page', async () => {
    const google = startGoogle({ world, settings: HARD });
    const token = await firstToken(google);
    const pages = await Promise.all([1, 2].map(() => google.get(`${PATH}?maxResults=10&pageToken=${token}`)));
    expect(pages[0]?.json.members).toEqual(pages[1]?.json.members);
  });

  it('a page token is refused by another listing', async () => {
    const google = startGoogle({ world });
    const token = await firstToken(google);
    expect((await google.get(`groups?customer=my_customer&pageToken=${token}`)).status).toBe(400);
    expect((await google.get(`${PATH}?roles=OWNER&pageToken=${token}`)).status).toBe(400);
  });

  it('page tokens expire after three days, and when a control expires them', async () => {
    const google = startGoogle({ world });
    const isRefused = async (token: string) => {
      google.forgetToken();
      const { status, json } = await google.get(`${PATH}?pageToken=${token}`);
      return status === 400 && json.error.message === `Invalid Input: ${token}`;
    };
    const first = await firstToken(google);
    await google.control('page-tokens/expire');
    expect(await isRefused(first)).toBe(true);
    google.forgetToken();
    const second = await firstToken(google);
    google.clock.ms += 3 * 86_400_000;
    expect(await isRefused(second)).toBe(false);
    google.clock.ms += 1;
    expect(await isRefused(second)).toBe(true);
  });
});
