import okta from '@okta/okta-sdk-nodejs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { REALISTIC_SETTINGS } from '../../../directory-simulator/engine/settings.ts';
import { READ_ALL } from '../../../directory-simulator/okta/client.ts';
import { startOkta } from './fixture.ts';

/** Reads a whole collection. */
async function all<T>(collection: AsyncIterable<T | null>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of collection) if (item !== null) items.push(item);
  return items;
}

const ids = (items: readonly { id?: string | undefined }[]) =>
  [...new Set(items.map(({ id }) => id))].toSorted();

/**
 * Starts an org and opens Okta's client for Node. It cannot use DPoP, because its code for the nonce is unreachable.
 */
async function open(mode: 'SSWS' | 'PrivateKey') {
  // Without these empty variables, the client would use a proxy from the environment.
  vi.stubEnv('https_proxy', '').stubEnv('HTTPS_PROXY', '');
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const settings = { ...REALISTIC_SETTINGS, failures: 0, lostLogEntries: 0, dpop: 'off' } as const;
  const org = startOkta({ settings });
  org.clock.ms = Date.now();
  const { url } = await org.simulator.listen();
  const { clientId, key, apiToken } = (await org.control('client')).json;
  const credentials =
    mode === 'SSWS'
      ? { token: apiToken }
      : { authorizationMode: mode, clientId, privateKey: key, scopes: READ_ALL };
  return { org, client: new okta.Client({ orgUrl: url, cacheMiddleware: null, ...credentials } as never) };
}

it.each(['SSWS', 'PrivateKey'] as const)("Okta's client for Node reads everything (%s)", async (mode) => {
  const { org, client } = await open(mode);
  await org.control('changes', { kind: 'addMember', group: '00gnone', member: '00uann' });
  org.clock.ms += 180_000;
  const groups = await all(await client.groupApi.listGroups({ limit: 2 }));
  const members = await all(await client.groupApi.listGroupUsers({ groupId: '00gsales', limit: 3 }));
  const users = await all(await client.userApi.listUsers({ limit: 3 }));
  const group = await client.groupApi.getGroup({ groupId: '00gapp' });
  const until = new Date(org.clock.ms).toISOString();
  const since = new Date(org.clock.ms - 600_000).toISOString();
  const events = await all(await client.systemLogApi.listLogEvents({ since, until }));
  expect(ids(groups)).toEqual(['00gall', '00gapp', '00gnone', '00gsales']);
  expect(ids(members)).toHaveLength(8);
  expect(ids(users)).toHaveLength(8);
  expect([group.type, group.created instanceof Date]).toEqual(['APP_GROUP', true]);
  expect(new Set(events.map(({ eventType }) => eventType))).toEqual(new Set(['group.user_membership.add']));
  expect(events[0]?.target?.map(({ id }) => id)).toEqual(['00uann', '00gnone']);
  expect(org.defects).toEqual([]);
});

it("Okta's client for Node recognises an error", async () => {
  const { client } = await open('SSWS');
  await expect(client.groupApi.getGroup({ groupId: 'absent' })).rejects.toMatchObject({
    status: 404,
    errorCode: 'E0000007',
  });
});
