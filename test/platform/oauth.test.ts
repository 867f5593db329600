import { inspect } from 'node:util';
import { Agent } from 'undici';
import { afterAll, expect, it } from 'vitest';
import {
  InvalidGrantError,
  NetworkError,
  ServerError,
  UnauthorizedError,
} from '../../shared/platform/errors.ts';
import { type OAuthOptions, type OAuthTokens, oauthCredential } from '../../shared/platform/oauth.ts';
import { fakeTime, rejection, rig } from './support/platform-client.ts';
import type { Answer, Seen } from './support/scripted-platform.ts';

const USER = { id: 'r1', company: 'c1' };
const agent = new Agent();
afterAll(() => agent.close());

interface Setup {
  readonly tokens?: OAuthTokens;
  /** Returns the answer of the token endpoint to the request with this index (the first is 0). */
  readonly token?: (index: number, request: Seen) => Answer | Promise<Answer>;
  /** Returns whether the platform accepts an access token. By default it accepts every token. */
  readonly accepts?: (token: string) => boolean;
  readonly options?: Partial<OAuthOptions>;
}

const given = (index: number): Answer => ({
  body: {
    access_token: `access-${index}`,
    token_type: 'bearer',
    expires_in: 3600,
    refresh_token: `refresh-${index}`,
  },
});

/** Creates a platform, a token endpoint at /oauth/token, and a client whose credential gets its tokens there. */
async function setup({ tokens, token = given, accepts = () => true, options }: Setup = {}) {
  const time = fakeTime();
  const stored: OAuthTokens[] = [];
  const requests: Seen[] = [];
  const { platform } = await rig(async (request) => {
    if (request.path === '/oauth/token') return token(requests.push(request) - 1, request);
    const bearer = request.headers.authorization?.replace('Bearer ', '') ?? '';
    return accepts(bearer) ? { body: USER } : { status: 401, body: { error: bearer } };
  });
  const credential = oauthCredential({
    tokenUrl: `${platform.url}/oauth/token`,
    clientId: 'client one',
    clientSecret: 'p@ss:word',
    tokens: tokens ?? { refreshToken: 'refresh-start' },
    clock: time.clock,
    dispatcher: () => agent,
    onTokens: async (fresh) => {
      stored.push(fresh);
    },
    ...options,
  });
  const { client } = await rig(() => ({}), { ...time, baseUrl: platform.url, credential });
  const bearers = () =>
    platform.seen.filter(({ path }) => path !== '/oauth/token').map(({ headers }) => headers.authorization);
  return { client, credential, time, stored, requests, bearers };
}

it('the credential requests a token with a form and Basic client authentication', async () => {
  const { client, requests, bearers } = await setup();
  await client.me();
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({
    method: 'POST',
    text: 'grant_type=refresh_token&refresh_token=refresh-start',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      // Base64 of client+one:p%40ss%3Aword.
      authorization: 'Basic Y2xpZW50K29uZTpwJTQwc3MlM0F3b3Jk',
    },
  });
  expect(bearers()).toEqual(['Bearer access-0']);
});

it('an access token is refreshed one minute before its expiry, with the latest refresh token', async () => {
  const { client, time, requests, stored } = await setup();
  await client.me();
  time.nowMs += 3_539_999;
  await client.me();
  expect(requests).toHaveLength(1);
  time.nowMs += 1;
  await client.me();
  expect(requests[1]?.text).toContain('refresh_token=refresh-0');
  expect(stored).toEqual([
    { accessToken: 'access-0', refreshToken: 'refresh-0', refreshAtMs: fakeTime().nowMs + 3_540_000 },
    { accessToken: 'access-1', refreshToken: 'refresh-1', refreshAtMs: time.nowMs + 3_540_000 },
  ]);
});

it('an access token is used although storing it failed, if the answer has no new refresh token', async () => {
  const meant: OAuthTokens[] = [];
  const onTokens = (fresh: OAuthTokens) => Promise.reject(new Error(`version ${meant.push(fresh)}`));
  const token = () => ({ body: { access_token: 'a' } });
  const { client, bearers } = await setup({ token, options: { onTokens } });
  await client.me();
  expect(meant).toEqual([{ accessToken: 'a', refreshToken: 'refresh-start', refreshAtMs: undefined }]);
  expect(bearers()).toEqual(['Bearer a']);
});

it('a token with a lifetime of 30 seconds is refreshed after nine tenths of its lifetime', async () => {
  const { client, time, requests } = await setup({
    token: (index) => ({ body: { access_token: `a${index}`, expires_in: '30' } }),
  });
  await client.me();
  time.nowMs += 26_999;
  await client.me();
  expect(requests).toHaveLength(1);
  time.nowMs += 1;
  await client.me();
  expect(requests).toHaveLength(2);
});

it.each([
  ['are stored and used by the next call', 'refresh-start', ['refresh-0', 'refresh-0']],
  ['are read from the store if the failed write to the store had taken effect', 'refresh-0', ['refresh-0']],
  ['do not replace newer tokens of another process', 'refresh-9', ['refresh-0']],
])('tokens that could not be stored %s', async (_, refreshToken, writes) => {
  let inStore: OAuthTokens = { refreshToken: 'refresh-start' };
  const written: string[] = [];
  const onTokens = async (tokens: OAuthTokens) => {
    if (written.push(tokens.refreshToken) === 1) throw new Error('store is down');
  };
  const { client, requests, bearers } = await setup({ options: { onTokens, reread: async () => inStore } });
  await expect(client.me()).rejects.toThrow('store is down');
  expect(bearers()).toEqual([]);
  if (refreshToken !== 'refresh-start') inStore = { refreshToken, accessToken: 'there' };
  await client.me();
  expect(requests).toHaveLength(1);
  expect(bearers()).toEqual([writes.length === 2 ? 'Bearer access-0' : 'Bearer there']);
  expect(written).toEqual(writes);
});

it('several calls with the answer 401 share one refresh, and each of them is repeated once', async () => {
  const { client, requests, bearers } = await setup({
    tokens: { refreshToken: 'r', accessToken: 'revoked' },
    accepts: (token) => token === 'access-0',
  });
  await Promise.all([client.me(), client.me(), client.groups.delete('g1')]);
  expect(requests).toHaveLength(1);
  expect(bearers().filter((bearer) => bearer === 'Bearer access-0')).toHaveLength(3);
});

it('a call that began before a refresh causes no second refresh if its answer is 401', async () => {
  let release = () => {};
  const refreshed = new Promise<void>((resolve) => (release = resolve));
  const platform = await rig(async (request) => {
    if (request.headers.authorization === 'Bearer access-0') return { body: USER };
    if (request.path.endsWith('/slow')) await refreshed;
    return { status: 401 };
  });
  const { credential, requests } = await setup({ tokens: { refreshToken: 'r', accessToken: 'revoked' } });
  const { client } = await rig(() => ({}), { baseUrl: platform.platform.url, credential });
  const late = client.employees.get('slow');
  await client.me();
  release();
  await late;
  expect(requests).toHaveLength(1);
});

it('invalid_grant causes an InvalidGrantError without a secret, and no call reaches the platform', async () => {
  const body = { error: 'invalid_grant', error_description: 'refresh-start is revoked' };
  const { client, bearers, requests } = await setup({ token: () => ({ status: 400, body }) });
  const error = await rejection(client.me());
  expect(error).toBeInstanceOf(InvalidGrantError);
  expect(error).toMatchObject({ sent: 'no', status: 400, excerpt: 'invalid_grant' });
  expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/refresh-start|p@ss/);
  expect(bearers()).toEqual([]);
  expect(requests).toHaveLength(1);
});

it.each<[string, Answer, unknown]>([
  ['a refused client', { status: 401, body: { error: 'invalid_client' } }, UnauthorizedError],
  ['a failing token endpoint', { status: 503, body: 'down' }, ServerError],
  ['a token endpoint that answers 404', { status: 404, body: 'not found' }, ServerError],
  ['a broken connection', { failure: 'drop' }, NetworkError],
])('a refresh that fails with %s is not repeated, and no call is sent', async (_, answer, type) => {
  const { client, requests } = await setup({ token: () => answer });
  const error = await rejection(client.groups.create({ name: 'x', spokeId: 's', users: [] }));
  expect(error).toBeInstanceOf(type);
  expect(error).toMatchObject({ sent: 'no', pathTemplate: '(token endpoint)' });
  expect(requests).toHaveLength(1);
});

it('after invalid_grant, the credential uses a token that another process has stored', async () => {
  let reads = 0;
  const { client, requests } = await setup({
    token: (index) => (index === 0 ? { status: 400, body: { error: 'invalid_grant' } } : given(index)),
    options: { reread: async () => ({ refreshToken: reads++ === 0 ? 'refresh-start' : 'rotated' }) },
  });
  await client.me();
  expect(requests.map(({ text }) => text.split('refresh_token=')[1])).toEqual(['refresh-start', 'rotated']);
});

it('the credential stores both new tokens before it ends the lease and uses the tokens', async () => {
  const order: string[] = [];
  const { client } = await setup({
    accepts: () => order.push('use') > 0,
    token: (index) => {
      order.push('refresh');
      return given(index);
    },
    options: {
      exclusively: async (work) => {
        order.push('lease');
        const result = await work();
        order.push('release');
        return result;
      },
      onTokens: async ({ accessToken, refreshToken }) => {
        await new Promise((resolve) => setImmediate(resolve));
        order.push(`store ${accessToken} ${refreshToken}`);
      },
    },
  });
  await client.me();
  expect(order).toEqual(['lease', 'refresh', 'store access-0 refresh-0', 'release', 'use']);
});

it('a cancelled call does not end the refresh for which other calls wait', async () => {
  const controller = new AbortController();
  const { client } = await setup({
    token: async (index) => {
      controller.abort();
      await new Promise((resolve) => setTimeout(resolve, 10));
      return given(index);
    },
  });
  const impatient = client.me({ signal: controller.signal });
  const patient = client.me();
  await expect(impatient).rejects.toMatchObject({ name: 'AbortedError', sent: 'no' });
  await expect(patient).resolves.toEqual(USER);
});

it('the credential refuses a token URL that is not https', () => {
  const options = { tokenUrl: 'http://auth.acme.test/token' } as OAuthOptions;
  expect(() => oauthCredential(options)).toThrow('tokenUrl: expected https');
});
