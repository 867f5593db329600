import { gunzipSync } from 'node:zlib';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { hashOf } from '../../console/sign-in/attempt.ts';
import { handler } from '../../functions/console.ts';
import { httpEvent } from '../../local/console-login/http-event.ts';
import { ConsoleSignIn } from '../../shared/contract/console.ts';
import { holdWith } from '../../shared/domain/hold.ts';
import { groupId } from '../../shared/domain/ids.ts';
import { randomHex } from '../../shared/runtime/clock.ts';
import { createConsoleSessionStore } from '../../shared/store/console-session-store.ts';
import { CLIENT, startBadProvider } from '../console/support/bad-provider.ts';
import { portsAs, removed, sixInSync } from '../support/operate/world.ts';
import { fakeBase } from './fake-base.ts';

/*
 * The tests send requests in the form of API Gateway, and requests that a caller with the permission
 * `lambda:InvokeFunction` can forge. `ann` has a session and is an approver of the connection `default`.
 */

const wiring = vi.hoisted(() => ({ wired: undefined as unknown }));
vi.mock('../../console/sign-in/wire.ts', () => ({
  ANSWER_MS: 20_000,
  wireConsole: async () => wiring.wired,
}));
vi.mock('../../functions/frame/once.ts', () => ({ once: (wire: () => unknown) => wire }));

const ORIGIN = 'https://console.test';
const COOKIE = '__Host-groupsync-session';
const ID = 'a'.repeat(64);
const SECRET = 'Group g';
const OF_PAGE = { 'x-groupsync-token': '', 'sec-fetch-site': 'same-origin' };
const HOME = '/api/home?connection=default';
const APPROVE = '/api/approve?connection=default';

let provider: Awaited<ReturnType<typeof startBadProvider>>;
let world: Awaited<ReturnType<typeof sixInSync>>;
let digest: string;

beforeAll(async () => {
  provider = await startBadProvider();
  Object.assign(globalThis, { CONSOLE_PAGE: { '/app.js': { type: 'text/javascript', body: '1' } } });
});
afterAll(() => provider.stop());

beforeEach(async () => {
  world = await sixInSync();
  await world.deliver('g', removed('g', 'ann', 'bob', 'cid', 'dee'));
  digest = (await holdOf())?.digest ?? '';
  expect(digest).not.toBe('');
  const sessions = createConsoleSessionStore(world.table);
  const session = { person: 'ann@acme.test', roles: { default: 'approver' as const } };
  const times = { sinceMs: world.clock.ms, expiresMs: world.clock.ms + 3_600_000 };
  await sessions.add(hashOf(ID), { ...session, ...times });
  const settings = ConsoleSignIn.parse({
    issuer: provider.issuer,
    clientId: CLIENT,
    roles: [{ claim: 'email', value: 'ann@acme.test', role: 'approver' }],
  });
  wiring.wired = {
    ...fakeBase(),
    tool: { ports: world.ports, actingAs: (person: string) => portsAs(`console:${person}`, world.ports) },
    settings,
    origin: ORIGIN,
    sessions,
    clientSecret: async () => 'secret',
    clock: () => world.clock.ms,
    randomHex,
  };
});

const stateOf = () => world.ports.groups.read({ connection: world.connection.name, group: groupId('g') });
const holdOf = async () => holdWith('waiting', (await stateOf()) ?? {});

type Event = Partial<APIGatewayProxyEventV2>;
const asEvent = (event: unknown) => event as APIGatewayProxyEventV2;

/** The event of a request that the page sends with the session of ann. */
function fromPage(target: string, over: Event = {}, method = 'GET'): Event {
  const headers = { host: 'console.test', ...OF_PAGE, ...(method === 'POST' && { origin: ORIGIN }) };
  const event = httpEvent({ method, target, headers });
  return { ...event, cookies: [`${COOKIE}=${ID}`], ...over };
}

async function call(event: unknown) {
  const reply = await handler(asEvent(event), { awsRequestId: 'r' });
  const body = reply.isBase64Encoded ? gunzipSync(Buffer.from(reply.body ?? '', 'base64')) : reply.body;
  return {
    status: reply.statusCode,
    headers: reply.headers ?? {},
    body: String(body),
    cookies: reply.cookies,
  };
}

/** Expects that a request gets this status, no data, and changes nothing. */
async function expectRefused(event: unknown, statuses: number | readonly number[]) {
  const { status, body, headers } = await call(event);
  expect([statuses].flat()).toContain(status);
  expect(body).not.toContain(SECRET);
  expect(headers['access-control-allow-origin']).toBeUndefined();
  expect((await holdOf())?.decision.kind).toBe('waiting');
  return { status, body, headers };
}

const decision = () => JSON.stringify({ group: 'g', digest, reason: 'has left' });
const without = (event: Event, ...names: (keyof APIGatewayProxyEventV2)[]): Event =>
  Object.fromEntries(Object.entries(event).filter(([name]) => !names.includes(name as never)));

it('the console answers a request with a session', async () => {
  expect(await call(fromPage(HOME))).toMatchObject({
    status: 200,
    body: expect.stringContaining(SECRET),
  });
});

it.each([false, true])('the console accepts a decision (in base64: %s)', async (isBase64Encoded) => {
  const body = isBase64Encoded ? Buffer.from(decision()).toString('base64') : decision();
  expect((await call(fromPage(APPROVE, { body, isBase64Encoded }, 'POST'))).status).toBe(200);
  expect(holdWith('approved', (await stateOf()) ?? {})?.decision).toMatchObject({
    by: 'console:ann@acme.test',
  });
});

it('the answer to a request that fails unexpectedly has no text of the error', async () => {
  const all = () => {
    throw new TypeError(SECRET);
  };
  const ports = { ...world.ports, index: { ...world.ports.index, all } };
  Object.assign(wiring.wired as object, { tool: { ports, actingAs: () => ports } });
  const { status, body } = await call(fromPage(HOME));
  expect([status, body]).toEqual([500, expect.stringContaining('the log of the function has the reason')]);
  expect(body).not.toContain(SECRET);
});

it('headers that the console does not read do not affect a request, whatever their encoding', async () => {
  const headers = { ...fromPage(HOME).headers, 'x-note': '日本', 'bad name': 'x', 'x-line': 'a\nb' };
  expect((await call(fromPage(HOME, { headers }))).status).toBe(200);
});

it.each([
  ['/c/default/holds/g%2F1?tab=x&y=%2F', '/c/default/holds/g%2F1?tab=x&y=%2F'],
  ['/c/default/groups/a%2Fb%2Fc%3Fd%23e', '/c/default/groups/a%2Fb%2Fc'],
  ['/c/default/groups/50%25', '/c/default/groups/50%25'],
  ['/c/default/groups/a%23b%20c', '/c/default/groups/a%23b%20c'],
  ['/c/default/groups/%C3%BC', '/c/default/groups/%C3%BC'],
  ['/c/default/groups/a%5Cb', '/c/default/groups/a%5Cb'],
])('a person who opens %s returns to %s after the sign-in', async (target, path) => {
  const sent = await call(without(fromPage(target), 'cookies'));
  const { searchParams } = new URL(String(sent.headers['location']));
  const state = searchParams.get('state');
  const answer = `/auth/callback?code=${searchParams.get('nonce')}&state=${state}`;
  const cookies = (sent.cookies ?? []).map((line) => line.replace(/;.*/, ''));
  expect(await call(fromPage(answer, { cookies }))).toMatchObject({
    status: 302,
    headers: { location: path },
  });
});

const base = () => fromPage(HOME);
const context = (over: object) => ({ ...base().requestContext, ...over }) as never;
it.each<[string, () => unknown, (number | readonly number[])?]>([
  ['an event that is undefined', () => undefined],
  ['an event that is null', () => null],
  ['an empty object', () => ({})],
  ['an event of a schedule', () => ({ task: 'decide', connection: 'default', person: 'ann@acme.test' })],
  ['an event of a queue', () => ({ Records: [{ body: decision() }] })],
  ['payload format 1.0', () => ({ version: '1.0', httpMethod: 'GET', path: HOME, headers: OF_PAGE })],
  ['an event without headers', () => without(base(), 'headers'), 403],
  ['headers that are null', () => ({ ...base(), headers: null })],
  ['headers with a list', () => ({ ...base(), headers: { origin: [ORIGIN] } })],
  ['an event without a request context', () => without(base(), 'requestContext')],
  ['a context without a method', () => ({ ...base(), requestContext: context({ http: {} }) })],
  ['a method that is a number', () => ({ ...base(), requestContext: context({ http: { method: 1 } }) })],
  ['an event without a path', () => without(base(), 'rawPath')],
  ['a path that is a list', () => ({ ...base(), rawPath: ['/api/home'] })],
  ['a path without a slash', () => ({ ...base(), rawPath: 'api/home' })],
  ['a path that names a user and a host', () => ({ ...base(), rawPath: '@evil.test/api/home' })],
  ['an event without a query', () => without(base(), 'rawQueryString')],
  ['cookies as a text', () => ({ ...base(), cookies: `${COOKIE}=${ID}` })],
  ['cookies that are null', () => ({ ...base(), cookies: null })],
  ['a body that is a number', () => ({ ...fromPage(APPROVE, {}, 'POST'), body: 1 })],
  ['a body that is null', () => ({ ...fromPage(APPROVE, {}, 'POST'), body: null })],
])('the console refuses %s and returns no data', async (_, event, status = 400) => {
  await expectRefused(event(), status);
});

const claims = { email: 'ann@acme.test', sub: 's-1', groups: 'administrator' };
it.each<[string, object]>([
  ['claims of an authorizer', { authorizer: { jwt: { claims, scopes: ['openid'] } } }],
  ['claims of a Lambda authorizer', { authorizer: { lambda: { person: 'ann@acme.test', roles: ['*'] } } }],
  ['an IAM identity', { authorizer: { iam: { userArn: 'arn:aws:iam::1:role/groupsync-console' } } }],
  ['a person', { person: { id: 'ann@acme.test', roles: { '*': 'administrator' } } }],
  ['a client certificate', { authentication: { clientCert: { subjectDN: 'CN=ann@acme.test' } } }],
  ['a local address', { http: { method: 'GET', sourceIp: '127.0.0.1' } }],
])('a caller without a session who forges %s gets no data', async (_, forged) => {
  const { requestContext, ...event } = without(fromPage(HOME), 'cookies');
  const context = { ...requestContext, ...forged };
  await expectRefused({ ...event, requestContext: context, person: 'ann@acme.test' }, 401);
  const approve = without(fromPage(APPROVE, { body: decision() }, 'POST'), 'cookies');
  const post = { ...context, http: { method: 'POST' } };
  await expectRefused({ ...approve, requestContext: post }, 401);
});

it.each(['evil.test', 'evil.test/c/default?', 'ann:pw@evil.test', '', '[::1', 'console.test\n'])(
  'the host %j does not change the redirect to the sign-in',
  async (domainName) => {
    const event = without(fromPage('/c/default/holds/g'), 'cookies');
    const headers = { ...event.headers, host: domainName, 'x-forwarded-host': domainName };
    const requestContext = { ...event.requestContext, domainName };
    const { status, headers: sent } = await call({ ...event, headers, requestContext });
    expect(status).toBe(302);
    const location = new URL(String(sent['location']));
    expect(location.origin).toBe(provider.issuer);
    expect(location.searchParams.get('redirect_uri')).toBe(`${ORIGIN}/auth/callback`);
  },
);

it.each<[string, string[]]>([
  ['a guessed id', [`${COOKIE}=${'0'.repeat(64)}`]],
  ['a session of another form', [`${COOKIE}=../x`]],
  ['two sessions', [`${COOKIE}=${ID}`, `${COOKIE}=${'b'.repeat(64)}`]],
  ['two sessions in one text', [`${COOKIE}=${'b'.repeat(64)}; ${COOKIE}=${ID}`]],
  ['another case', [`__host-groupsync-session=${ID}`]],
  ['no prefix', [`groupsync-session=${ID}`]],
  ['a no-break space before the name', [`\u00a0${COOKIE}=${ID}`]],
  ['a no-break space after the name', [`${COOKIE}\u00a0=${ID}`]],
  ['quotes', [`${COOKIE}="${ID}"`]],
  ['capitals', [`${COOKIE}=${ID.toUpperCase()}`]],
  ['a longer id', [`${COOKIE}=${ID}a`]],
  ['the stored hash', [`${COOKIE}=${hashOf(ID)}`]],
  ['a session after 20,000 characters', [`x=${'y'.repeat(20_000)}`, `${COOKIE}=${ID}`]],
  ['a line break', [`x=1\r\n${COOKIE}=${ID}`]],
])('cookies with %s give no session', async (_, cookies) => {
  await expectRefused(fromPage(HOME, { cookies }), 401);
});

it.each<[string, Record<string, string>]>([
  ['a page of another site', { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' }],
  ['a page of another subdomain', { origin: 'https://www.console.test', 'sec-fetch-site': 'same-site' }],
  ['a page of the same host without TLS', { origin: 'http://console.test' }],
  ['two origins, the right one last', { origin: `https://evil.test, ${ORIGIN}` }],
  ['an origin with a port', { origin: `${ORIGIN}:443` }],
  ['an origin in capitals', { origin: ORIGIN.toUpperCase() }],
  ['an origin with a Cyrillic character', { origin: 'https://cоnsole.test' }],
  ['the origin null', { origin: 'null' }],
  ['two sites, the right one first', { 'sec-fetch-site': 'same-origin,cross-site' }],
  ['two sites, the right one last', { 'sec-fetch-site': 'cross-site, same-origin' }],
  ['the site of a link', { 'sec-fetch-site': 'none' }],
  ['a site with a space', { 'sec-fetch-site': 'same-origin\u2003' }],
])('a request with %s is refused', async (_, over) => {
  for (const target of [APPROVE, '/auth/sign-out']) {
    const event = fromPage(target, { body: decision() }, 'POST');
    await expectRefused({ ...event, headers: { ...event.headers, ...over } }, 403);
  }
});

it.each<[string, Record<string, string>]>([
  ['the method', { 'x-http-method-override': 'POST', 'x-method-override': 'POST', 'x-http-method': 'POST' }],
  ['the path', { 'x-original-url': '/api/home', 'x-rewrite-url': '/api/home', 'x-forwarded-prefix': '/api' }],
])('a header cannot replace %s', async (_, over) => {
  const headers = { ...fromPage(APPROVE).headers, origin: ORIGIN, ...over };
  await expectRefused(fromPage(APPROVE, { headers, body: decision() }), 404);
});

const base64 = (text: string | Uint8Array) => ({
  body: Buffer.from(text as string).toString('base64'),
  isBase64Encoded: true,
});
it.each<[string, () => Event, number?]>([
  ['no body', () => ({})],
  ['an empty body', () => ({ body: '' })],
  ['a form', () => ({ body: new URLSearchParams({ group: 'g', digest, reason: 'r' }).toString() })],
  ['base64 that is marked as text', () => ({ ...base64(decision()), isBase64Encoded: false })],
  ['text that is marked as base64', () => ({ body: decision(), isBase64Encoded: true })],
  ['a list', () => ({ body: `[${decision()}]` })],
  ['a text', () => ({ body: JSON.stringify(decision()) })],
  ['null', () => ({ body: 'null' })],
  ['two documents', () => ({ body: `${decision()}${decision()}` })],
  ['UTF-16', () => base64(Buffer.from(decision(), 'utf16le'))],
  ['gzip', () => base64(Uint8Array.of(31, 139, 8, 0, 0, 0, 0, 0, 0, 3))],
  ['fields of the prototype', () => ({ body: `{"__proto__":${decision()}}` })],
  ['deep nesting', () => ({ body: '['.repeat(500_000) })],
  ['deep nesting in a field', () => ({ body: `{"group":${'['.repeat(100_000)}${']'.repeat(100_000)}}` })],
  ['users that are an object', () => ({ body: decision().replace('}', ',"users":{"length":1}}') })],
  ['no reason', () => ({ body: decision().replace('has left', ' ') })],
  ['a body of 5 MB', () => ({ body: `{"x":"${'y'.repeat(5_000_000)}"}` }), 413],
  ['a body of 5 MB in base64', () => base64('y'.repeat(4_000_000)), 413],
  ['another digest', () => ({ body: decision().replace(digest, 'f'.repeat(digest.length)) }), 409],
  ['a group that does not exist', () => ({ body: decision().replace('"g"', '"g\\u0000"') }), 409],
])('a decision with %s changes nothing', async (_, over, status = 400) => {
  await expectRefused(fromPage(APPROVE, over(), 'POST'), status);
});

it.each<[string, string, (number | readonly number[])?]>([
  ['another connection', '/api/home?connection=other', 403],
  ['two connections', '/api/home?connection=other&connection=default', 403],
  ['a connection of the prototype', '/api/home?connection=__proto__', 400],
  ['a connection that is a constructor', '/api/home?connection=constructor', 403],
  ['a connection with a line break', '/api/home?connection=default%0A', 400],
  ['no connection', '/api/home', 400],
  ['a query of the prototype', '/api/toString?connection=default'],
  ['an action as a query', APPROVE],
  ['a final slash', '/api/home/?connection=default'],
  ['two slashes', '/api//home?connection=default'],
  ['an encoded slash', '/api%2F/home?connection=default'],
  ['an encoded question mark', '/api/home%3Fconnection=default', 400],
  ['an encoded zero byte', '/api/home%00?connection=default'],
  ['a path of the stage', '/prod/api/home?connection=default', 200],
  ['capitals', '/API/home?connection=default', 200],
  ['a file of the machine', '/../../../../etc/passwd', 200],
  ['an encoded file of the machine', '/%2e%2e%2f%2e%2e%2fproc/self/environ', 200],
  ['a long path', `/c/${'a'.repeat(9_000)}`, 414],
])('a request with %s returns no data', async (_, target, status = 404) => {
  await expectRefused(fromPage(target), status);
});

it('an indirect path to data, such as /auth/../api/home, also needs the header of the page', async () => {
  for (const rawPath of [
    '/auth/../api/home',
    '/c\\..\\api/home',
    '/c/%2e%2e/api/home',
    '//x/../../api/home',
  ]) {
    const event = fromPage(HOME, { rawPath, headers: { host: 'console.test' } });
    await expectRefused(event, [200, 403]);
  }
});

it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE', 'CONNECT', 'PROPFIND', 'get', 'GET ', ''])(
  'the method %j is refused',
  async (method) => {
    for (const target of [HOME, APPROVE, '/c/default', '/auth/sign-out']) {
      const event = fromPage(target, { body: decision() });
      const requestContext = { ...event.requestContext, http: { method } } as never;
      await expectRefused({ ...event, requestContext }, 405);
    }
  },
);

it('a large answer is compressed only for a browser that accepts it', async () => {
  const accepting = (encoding: string) => ({
    ...fromPage('/app.js'),
    headers: { 'accept-encoding': encoding },
  });
  Object.assign(globalThis, {
    CONSOLE_PAGE: { '/app.js': { type: 'text/javascript', body: 'x'.repeat(200_000) } },
  });
  const { headers } = await handler(asEvent(accepting('br, gzip')), { awsRequestId: 'r' });
  expect(headers?.['content-encoding']).toBe('gzip');
  for (const encoding of ['', 'br', 'gzip;q=0', 'gzip; q=0.0, br'])
    expect((await handler(asEvent(accepting(encoding)), { awsRequestId: 'r' })).isBase64Encoded).toBe(false);
});
