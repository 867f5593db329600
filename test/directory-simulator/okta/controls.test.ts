import { describe, expect, it } from 'vitest';
import { generateDirectory } from '../../../directory-simulator/generate.ts';
import { oktaWorld } from '../../../directory-simulator/okta/world.ts';
import { seededRandom } from '../../../local/platform/seeded-random.ts';
import { NOW_MS, startOkta } from './fixture.ts';

describe('rate limits of the simulated Okta org', () => {
  const limits = ({ headers }: { headers: Record<string, unknown> }) =>
    ['limit', 'remaining', 'reset'].map((name) => Number(headers[`x-rate-limit-${name}`]));

  it('each answer shows the limit of its endpoint, the remaining requests, and the time of the reset in seconds', async () => {
    const client = startOkta();
    const reset = NOW_MS / 1_000 + 60;
    expect(limits(await client.get('groups'))).toEqual([250, 249, reset]);
    expect(limits(await client.get('groups'))).toEqual([250, 248, reset]);
    expect(limits(await client.get('groups/absent'))).toEqual([500, 499, reset]);
    expect(limits(await client.get('logs'))).toEqual([60, 59, reset]);
  });

  it('requests above the limit of an endpoint get 429 E0000047 until the next minute', async () => {
    const client = startOkta({ settings: { queriesPerMinute: 2 } });
    await client.get('groups');
    await client.get('groups');
    const refused = await client.get('groups');
    expect([refused.status, refused.json.errorCode]).toEqual([429, 'E0000047']);
    expect(limits(refused)).toEqual([2, 0, NOW_MS / 1_000 + 60]);
    expect((await client.get('users')).status).toBe(200);
    client.clock.ms += 60_000;
    expect((await client.get('groups')).status).toBe(200);
  });
});

describe('a generated Okta org', () => {
  it('a generated Okta org has ids in the form of Okta, every status, groups of an app, and Everyone', () => {
    const generated = generateDirectory({ people: 80, groups: 20, seed: '7', nowMs: NOW_MS });
    const { users = [], groups = [] } = oktaWorld(generated, seededRandom('7'));
    expect(users.every(({ id }) => /^00u\w{17}$/.test(id))).toBe(true);
    expect(new Set(users.map(({ vendorFields }) => vendorFields?.['status'])).size).toBe(6);
    expect(users.map(({ primaryEmail }) => primaryEmail)).toEqual(
      generated.users?.map((user) => user.primaryEmail),
    );
    const types = groups.map(({ vendorFields }) => vendorFields?.['type']);
    expect(new Set(types)).toEqual(new Set(['BUILT_IN', 'APP_GROUP', 'OKTA_GROUP']));
    const kinds = new Set(groups.flatMap(({ members = [] }) => members.map(({ kind }) => kind)));
    expect(kinds).toEqual(new Set(['everyone', 'user']));
  });
});
