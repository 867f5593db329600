import { admin } from '@googleapis/admin';
import { JWT } from 'google-auth-library';
import { expect, it } from 'vitest';
import { REALISTIC_SETTINGS, type Settings } from '../../../directory-simulator/engine/settings.ts';
import { READ_ALL } from '../../../directory-simulator/google/scopes.ts';
import { ADMIN, startGoogle } from '../fixture.ts';

/** Opens Google's client. It has built-in addresses, so the test redirects each request to the simulator. */
async function openClient(settings: Partial<Settings> = {}) {
  const google = startGoogle({ settings });
  google.clock.ms = Date.now();
  const { url } = await google.simulator.listen();
  const requestedHosts = new Set<string>();
  const fetchImplementation = ((input: URL | string, init?: RequestInit) => {
    const { host, pathname, search } = new URL(input);
    requestedHosts.add(host);
    return fetch(`${url}${pathname}${search}`, init);
  }) as typeof fetch;
  const key = (await google.control('service-account-key', { url })).json;
  const auth = new JWT({
    email: key.client_email,
    key: key.private_key,
    scopes: READ_ALL,
    subject: ADMIN,
    transporterOptions: { fetchImplementation },
  });
  return { google, url, requestedHosts, auth, fetchImplementation };
}

type Client = Awaited<ReturnType<typeof openClient>>;

const directoryOf = ({ auth }: Client) => admin({ version: 'directory_v1', auth });

interface Page<T> {
  readonly items: readonly T[] | undefined;
  readonly next: string | null | undefined;
}

/** Reads all pages of a list and returns the items. */
async function pages<T>(read: (at: { pageToken?: string }) => Promise<Page<T>>): Promise<readonly T[]> {
  const found: T[] = [];
  let at: { pageToken?: string } | undefined = {};
  while (at !== undefined) {
    const { items, next }: Page<T> = await read(at);
    found.push(...(items ?? []));
    at = next === undefined || next === null ? undefined : { pageToken: next };
  }
  return found;
}

it("Google's client signs in with the key of the service account at the public address of the token endpoint", async () => {
  const client = await openClient();
  const { access_token, expiry_date } = await client.auth.authorize();
  expect(access_token).toMatch(/^ya29\./);
  expect(expiry_date).toBeGreaterThan(Date.now());
  expect([...client.requestedHosts]).toEqual(['oauth2.googleapis.com']);
});

it("Google's client reads users, groups and members page by page from a directory with realistic settings", async () => {
  const client = await openClient({ ...REALISTIC_SETTINGS, failures: 0, absentCounts: 0 });
  const directory = directoryOf(client);
  const customer = 'my_customer';
  const users = await pages(async (at) => {
    const { data } = await directory.users.list({ customer, ...at });
    return { items: data.users, next: data.nextPageToken };
  });
  const groups = await pages(async (at) => {
    const { data } = await directory.groups.list({ customer, ...at });
    return { items: data.groups, next: data.nextPageToken };
  });
  const members = await pages(async (at) => {
    const { data } = await directory.members.list({ groupKey: 'g-sales', maxResults: 2, ...at });
    return { items: data.members, next: data.nextPageToken };
  });
  expect(new Set(users.map(({ id }) => id))).toEqual(new Set(['u-ann', 'u-art', 'u-liz', 'u-sue']));
  expect(new Set(groups.map(({ id }) => id))).toEqual(new Set(['g-all', 'g-emea', 'g-none', 'g-sales']));
  expect(groups.find(({ id }) => id === 'g-sales')?.directMembersCount).toBe('4');
  expect(new Set(members.map(({ type }) => type))).toEqual(new Set(['USER', 'GROUP']));
  expect(new Set(members.map(({ email }) => email)).size).toBe(5);
  expect(client.google.defects).toEqual([]);
});

it("Google's client gets one user, one group, one member, and the answer of hasMember", async () => {
  const directory = directoryOf(await openClient());
  const { data: user } = await directory.users.get({ userKey: 'a@example.com' });
  const { data: group } = await directory.groups.get({ groupKey: 'verkauf@example.com' });
  const { data: member } = await directory.members.get({
    groupKey: 'g-emea',
    memberKey: 'ann@example.com',
  });
  const { data: has } = await directory.members.hasMember({ groupKey: 'g-sales', memberKey: 'u-ann' });
  expect([user.id, group.id, member.id, has.isMember]).toEqual(['u-ann', 'g-sales', 'u-ann', true]);
});

it("Google's client reads the activities of both logs", async () => {
  const client = await openClient();
  await client.google.control('changes', { kind: 'removeMember', group: 'g-emea', member: 'u-ann' });
  const reports = admin({ version: 'reports_v1', auth: client.auth });
  for (const applicationName of ['admin', 'groups_enterprise']) {
    const { data } = await reports.activities.list({
      userKey: 'all',
      applicationName,
      startTime: new Date(client.google.clock.ms - 60_000).toISOString(),
    });
    expect(data.items).toHaveLength(1);
    expect(data.items?.[0]?.events?.[0]?.name?.toLowerCase()).toMatch(/remove_(group_)?member/);
  }
});

it("Google's client recognises the errors of the Directory API", async () => {
  const client = await openClient();
  const directory = directoryOf(client);
  const absent = directory.groups.get({ groupKey: 'absent@example.com' });
  await expect(absent).rejects.toMatchObject({ status: 404, message: 'Resource Not Found: groupKey' });
  await client.google.control('faults', [{ error: 'quotaExceeded' }]);
  await expect(directory.groups.get({ groupKey: 'g-sales' })).rejects.toMatchObject({
    status: 403,
    response: { data: { error: { errors: [{ reason: 'quotaExceeded', domain: 'usageLimits' }] } } },
  });
});
