import { expect, it } from 'vitest';
import { MINUTE_MS } from '../../support/engine/world.ts';
import { company, READERS, settle, settledOkta } from './fixture.ts';

interface Request {
  readonly path: string;
  readonly query: string;
}

/** For each vendor: the requests for pages of changes and of members. */
const VENDORS = {
  google: {
    api: '/admin/',
    isPage: ({ path }: Request) => path.includes('/reports/') || path.endsWith('/members'),
  },
  entra: {
    api: '/v1.0/',
    isPage: ({ path }: Request) => path.endsWith('/delta') || path.includes('/members/'),
  },
  okta: {
    api: '/api/v1/',
    isPage: ({ path, query }: Request) =>
      /\/(logs|users)$/.test(path) || (path.endsWith('/groups') && query.includes('astMembershipUpdated')),
  },
};
type Vendor = keyof typeof VENDORS;

/** Creates a directory whose groups are in sync. Each group has the members a and b. */
async function settled(vendor: Vendor, count: number) {
  const groups = Object.fromEntries(Array.from({ length: count }, (_, index) => [`g${index}`, ['a', 'b']]));
  return settle(await READERS[vendor]({ world: company(groups) }), 65);
}
type Reader = Awaited<ReturnType<typeof settled>>;

/** Returns the requests to the API of the directory, without the hourly sign-ins. */
async function requestsOf({ simulated }: Reader, vendor: Vendor): Promise<readonly Request[]> {
  const all = (await simulated.requests()) as readonly Request[];
  return all.filter(({ path }) => path.startsWith(VENDORS[vendor].api));
}

/** Runs the reader for 40 minutes. Returns all calls, and the calls for pages of changes and of members. */
async function callsOf(reader: Reader, vendor: Vendor) {
  const before = (await requestsOf(reader, vendor)).length;
  await reader.pass(MINUTE_MS);
  await reader.passMinutes(40);
  const requests = (await requestsOf(reader, vendor)).slice(before);
  const pages = requests.filter(VENDORS[vendor].isPage);
  return { calls: requests.length, pages: pages.length };
}

const added = (group: string) => ({ kind: 'addMember', group, member: 'c' });
const removed = (group: string) => ({ kind: 'removeMember', group, member: 'b' });

it.each(['google', 'entra', 'okta'] as const)(
  'changes in %s cause calls for pages of changes and of members, and at most a fifth more',
  async (vendor) => {
    const reader = await settled(vendor, 8);
    const callsAfter = async (...changes: readonly object[]) => {
      await reader.change(...changes);
      return callsOf(reader, vendor);
    };
    const ofOneAddition = await callsAfter(added('g1'));
    expect(ofOneAddition.calls).toBe(ofOneAddition.pages);
    for (const changes of [
      [removed('g1')],
      ['g2', 'g3', 'g4'].map(added).concat(['g5', 'g6', 'g7'].map(removed)),
      [{ kind: 'changeGroup', group: 'g1', name: 'Crew' }],
    ]) {
      const { calls, pages } = await callsAfter(...changes);
      expect(calls, JSON.stringify(changes)).toBeLessThanOrEqual(1.2 * pages);
    }
    expect(['g1', 'g4', 'g7'].map(reader.shown)).toEqual([
      [['u-a', 'u-c']],
      [['u-a', 'u-b', 'u-c']],
      [['u-a']],
    ]);
    expect([...reader.world.platform.groups.values()].map(({ name }) => name)).toContain('Crew');
  },
);

it('the hourly list of groups shows a new name and a new number of members without a change report', async () => {
  const reader = await settled('google', 8);
  await reader.simulated.control('settings', { lostLogEntries: 1 });
  await reader.change(added('g1'), { kind: 'changeGroup', group: 'g2', name: 'Crew' });
  await reader.passMinutes(70);
  expect(reader.shown('g1')).toEqual([['u-a', 'u-b', 'u-c']]);
  expect([...reader.world.platform.groups.values()].map(({ name }) => name)).toContain('Crew');
});

it('a count that never equals the listed members does not cause a read of the members every hour', async () => {
  const reader = await settled('google', 8);
  await reader.simulated.control('counts', { group: 'g1', count: 1 });
  await reader.passMinutes(120);
  const before = (await requestsOf(reader, 'google')).length;
  await reader.passMinutes(180);
  const paths = (await requestsOf(reader, 'google')).slice(before).map(({ path }) => path);
  expect(paths.filter((path) => path.endsWith('/members'))).toEqual([]);
});

it('a change of many users causes one call per 200 users', async () => {
  const people = Array.from({ length: 150 }, (_, index) => `p${index}`);
  const world = {
    users: people.map((id) => ({ id, primaryEmail: `${id}@acme.test` })),
    groups: [{ id: 'all', email: 'all@x', name: 'All', members: people.map((member) => ({ member })) }],
  };
  const reader = await settledOkta({ world });
  const before = (await reader.okta.requests()).length;
  await reader.change(
    ...people.map((user) => ({ kind: 'changeUser', user, primaryEmail: `new-${user}@acme.test` })),
  );
  await reader.run();
  const calls = (await reader.okta.requests()).slice(before).map(({ path }) => path);
  expect(calls.length).toBeLessThanOrEqual(6);
  const sent = reader.takeSent().flatMap(({ data }) => data.user?.['email'] ?? []);
  expect(sent.sort()).toEqual(people.map((user) => `new-${user}@acme.test`).sort());
});
