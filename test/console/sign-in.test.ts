import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { SignedInPerson } from '../../console/server/roles.ts';
import { ownPath } from '../../console/sign-in/attempt.ts';
import { createProvider } from '../../console/sign-in/provider.ts';
import { CALLBACK_PATH, createConsoleServer } from '../../console/sign-in/server.ts';
import { ConsoleSignIn } from '../../shared/contract/console.ts';
import { randomHex } from '../../shared/runtime/clock.ts';
import { createConsoleSessionStore } from '../../shared/store/console-session-store.ts';
import { MemoryTable } from '../../simulate/table.ts';
import { CLIENT, type Fault, startBadProvider } from './support/bad-provider.ts';

/* The server and the library of the sign-in, with a provider that also sends wrong tokens. */

const ORIGIN = 'https://console.test';
const SESSION = '__Host-groupsync-session';
let provider: Awaited<ReturnType<typeof startBadProvider>>;
let nowMs = Date.now();
let asked: [string, SignedInPerson][] = [];
let logged: string[] = [];
let table: MemoryTable;

beforeAll(async () => {
  provider = await startBadProvider();
});
afterAll(() => provider.stop());
beforeEach(() => {
  nowMs = Date.now();
  asked = [];
  logged = [];
  table = new MemoryTable();
  provider.setFault({});
  provider.requests.length = 0;
});

function consoleOf(settings: object = {}) {
  const parsed = ConsoleSignIn.parse({
    issuer: provider.issuer,
    clientId: CLIENT,
    roles: [{ claim: 'email', value: 'ann@acme.test', role: 'approver', connections: ['acme'] }],
    ...settings,
  });
  const clock = () => nowMs;
  const redirectUri = `${ORIGIN}${CALLBACK_PATH}`;
  return createConsoleServer({
    origin: ORIGIN,
    settings: parsed,
    provider: createProvider({
      settings: parsed,
      redirectUri,
      clientSecret: async () => 'secret',
      clock,
      timeoutSeconds: 1,
    }),
    sessions: createConsoleSessionStore(table),
    page: { '/app.js': { type: 'text/javascript', body: 'page' } },
    handle: async ({ url }, person) => {
      asked.push([new URL(url).pathname, person]);
      return Response.json({ names: 'secret' });
    },
    clock,
    randomHex,
    log: (event, fields) => logged.push(`${event} ${JSON.stringify(fields ?? {})}`),
  });
}

/** A browser that keeps cookies and follows no redirect. */
function browserOf(server: ReturnType<typeof consoleOf>) {
  const cookies = new Map<string, string>();
  return {
    cookies,
    async open(path: string, init: { method?: string; headers?: Record<string, string> } = {}) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const headers = { ...(cookie && { cookie }), ...init.headers };
      const response = await server(new Request(`${ORIGIN}${path}`, { ...init, headers }));
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        expect(line).toContain('; Path=/; ');
        expect(line).toContain('; HttpOnly; Secure; SameSite=Lax');
        if (line.includes('Max-Age=0;')) cookies.delete(name);
        else cookies.set(name, value);
      }
      return response;
    },
  };
}
type Browser = ReturnType<typeof browserOf>;

/** Opens a page and returns the answer of the provider: the path with code and state. */
async function authorized(browser: Browser, path = '/c/acme/holds/g1'): Promise<string> {
  const sent = await browser.open(path);
  expect(sent.status).toBe(302);
  const { searchParams } = new URL(sent.headers.get('location') ?? '');
  expect(Object.fromEntries(searchParams)).toMatchObject({
    client_id: CLIENT,
    response_type: 'code',
    redirect_uri: `${ORIGIN}/auth/callback`,
    scope: 'openid email profile',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  });
  return `/auth/callback?code=${searchParams.get('nonce')}&state=${searchParams.get('state')}`;
}

async function signedIn(server = consoleOf()) {
  const browser = browserOf(server);
  const answer = await browser.open(await authorized(browser));
  expect([answer.status, answer.headers.get('location')]).toEqual([302, '/c/acme/holds/g1']);
  return browser;
}

const OF_PAGE = { 'x-groupsync-token': '', 'sec-fetch-site': 'same-origin' };
const POST = { method: 'POST', headers: { ...OF_PAGE, origin: ORIGIN } };

it('a person who opens a link signs in and sees its page, and the table has only the hash of the session', async () => {
  const browser = await signedIn();
  expect([...browser.cookies.keys()]).toEqual([SESSION]);
  const page = await browser.open('/c/acme/holds/g1');
  expect(await page.text()).toContain('<body data-person="ann@acme.test">');
  const data = await browser.open('/api/hold?connection=acme', { headers: OF_PAGE });
  expect(data.status).toBe(200);
  expect(asked).toEqual([['/api/hold', { id: 'ann@acme.test', roles: { acme: 'approver' } }]]);
  expect(provider.requests[0]?.get('code_verifier')).toMatch(/^[0-9a-f]{64}$/);
  expect(logged).toEqual(['signed in {"person":"ann@acme.test"}']);
  const id = browser.cookies.get(SESSION) ?? '';
  expect(id).toMatch(/^[0-9a-f]{64}$/);
  const items = [];
  for await (const page of table.scan()) items.push(...page);
  expect(items).toMatchObject([{ person: 'ann@acme.test', expiresAt: expect.any(Number) }]);
  expect(JSON.stringify(items)).not.toContain(id);
});

it('a session ends after sessionMinutes, and a link then leads to the provider', async () => {
  const browser = await signedIn();
  nowMs += 60 * 60_000;
  expect((await browser.open('/api/hold?connection=acme', { headers: OF_PAGE })).status).toBe(401);
  expect((await browser.open('/c/acme')).headers.get('location')).toContain(`${provider.issuer}/authorize`);
  expect(asked).toEqual([]);
});

it('after signing out, a copy of the cookie is refused, and a page shows a link that signs in', async () => {
  const browser = await signedIn();
  const copy = browser.cookies.get(SESSION) ?? '';
  expect((await browser.open('/auth/sign-out', POST)).status).toBe(204);
  expect([...browser.cookies.keys()]).toEqual(['__Host-groupsync-signed-out']);
  browser.cookies.set(SESSION, copy);
  expect((await browser.open('/api/hold?connection=acme', { headers: OF_PAGE })).status).toBe(401);
  browser.cookies.delete(SESSION);
  expect(await (await browser.open('/auth/signed-out')).text()).toContain('You have signed out');
  const back = await browser.open('/c/acme/holds/g1');
  expect(back.status).toBe(200);
  expect(await back.text()).toContain('href="/auth/sign-in?to=%2Fc%2Facme%2Fholds%2Fg1"');
  expect((await browser.open(await authorizedAgain(browser))).status).toBe(302);
  expect([...browser.cookies.keys()]).toEqual([SESSION]);
});

it('a second sign-in ends the first session, and reads the roles again', async () => {
  const server = consoleOf({ roles: [{ claim: 'groups', value: 'ops', role: 'operator' }] });
  provider.setFault({ claims: { groups: ['ops'] } });
  const browser = await signedIn(server);
  const first = browser.cookies.get(SESSION) ?? '';
  provider.setFault({ claims: { groups: ['other'] } });
  const refused = await browser.open(await authorizedAgain(browser));
  expect(refused.status).toBe(403);
  provider.setFault({ claims: { groups: 'ops' } });
  expect((await browser.open(await authorizedAgain(browser))).status).toBe(302);
  expect(browser.cookies.get(SESSION)).not.toBe(first);
  browser.cookies.set(SESSION, first);
  expect((await browser.open('/api/home?connection=acme', { headers: OF_PAGE })).status).toBe(401);
});
const authorizedAgain = (browser: Browser) => authorized(browser, '/auth/sign-in?to=/c/acme/holds/g1');

const BY_SUB = { roles: [{ claim: 'sub', value: 's-1', role: 'viewer' }] };
const faults: [string, Fault, object?][] = [
  ['a token for another client', { claims: { aud: 'another' } }],
  ['a token for two clients, issued to another', { claims: { aud: [CLIENT, 'another'], azp: 'another' } }],
  ['a token of another provider', { claims: { iss: 'https://evil.test' } }],
  ['a token with the nonce of another attempt', { claims: { nonce: 'other' } }],
  ['a token without a nonce', { claims: { nonce: undefined } }],
  ['a forged token', { isForged: true }],
  ['an expired token', { ageSeconds: 3_600 }],
  ['an e-mail address that is not verified', { claims: { email_verified: false } }],
  ['a token without the person', { claims: { email: undefined } }, BY_SUB],
  ['a person with a line break', { claims: { email: 'ann@acme.test\nx' } }, BY_SUB],
  ['a person of more than 254 characters', { claims: { email: 'a'.repeat(255) } }, BY_SUB],
  ['a person without a role', { claims: { email: 'eve@acme.test' } }],
  ['a person of another domain', { claims: { hd: 'evil.test' } }, { require: { hd: 'acme.test' } }],
  ['a person without a domain', {}, { require: { hd: 'acme.test' } }],
];
it.each(faults)('%s is refused, and no session starts', async (_, fault, settings = {}) => {
  const browser = browserOf(consoleOf(settings));
  const answer = await authorized(browser);
  provider.setFault(fault);
  const refused = await browser.open(answer);
  expect(refused.status).toBe(403);
  expect(await refused.text()).toContain('You cannot sign in');
  expect(browser.cookies.has(SESSION)).toBe(false);
  expect(logged.join()).toContain('sign-in refused');
  expect(logged.join()).not.toMatch(/@|evil/);
});

it('a code that was already used is refused, even with a copy of the cookies', async () => {
  const browser = browserOf(consoleOf());
  const answer = await authorized(browser);
  const copy = new Map(browser.cookies);
  expect((await browser.open(answer)).status).toBe(302);
  expect((await browser.open(answer)).status).toBe(403);
  for (const [name, value] of copy) browser.cookies.set(name, value);
  expect((await browser.open(answer)).status).toBe(403);
  expect(logged.at(-1)).toContain('invalid_grant');
});

it('a code that another browser received is refused', async () => {
  const server = consoleOf();
  const answer = await authorized(browserOf(server));
  const victim = browserOf(server);
  await authorized(victim);
  expect((await victim.open(answer)).status).toBe(403);
  expect(provider.requests).toEqual([]);
});

it('an error of the provider is shown without its text', async () => {
  const browser = browserOf(consoleOf());
  const answer = (await authorized(browser)).replace(
    /code=\w+/,
    'error=access_denied&error_description=<b>x',
  );
  const refused = await browser.open(answer);
  expect(refused.status).toBe(403);
  expect(await refused.text()).not.toContain('<b>');
  expect(logged.at(-1)).toContain('access_denied');
  await browser.open((await authorized(browser)).replace(/code=\w+/, 'error=a%0Ab'));
  expect(logged.at(-1)).toContain('refused: other');
});

it('the cookies of sign-ins that a person does not finish stay below the limit of a header', async () => {
  const browser = browserOf(consoleOf());
  for (let attempt = 0; attempt < 60; attempt += 1) await authorized(browser);
  expect(JSON.stringify([...browser.cookies]).length).toBeLessThan(5_000);
});

it('a provider that does not answer is reported with status 502', async () => {
  const browser = browserOf(consoleOf({ issuer: 'http://127.0.0.1:9' }));
  const failed = await browser.open('/c/acme');
  expect([failed.status, await failed.text()]).toEqual([502, expect.stringContaining('does not respond')]);
});

it.each([
  ['answers with status 503', 'status'],
  ['closes the connection', 'closed'],
  ['sends no answer in time', 'silent'],
] as const)('a token endpoint that %s is reported with status 502, not as a refusal', async (_, outage) => {
  const browser = browserOf(consoleOf());
  const answer = await authorized(browser);
  provider.setFault({ outage });
  const failed = await browser.open(answer);
  expect([failed.status, await failed.text()]).toEqual([502, expect.stringContaining('does not respond')]);
});

it('a request of a form or link is refused, because it cannot set the header of the page', async () => {
  const browser = await signedIn();
  const form = { method: 'POST', headers: { origin: ORIGIN } };
  expect((await browser.open('/api/approve?connection=acme', form)).status).toBe(403);
  expect((await browser.open('/api/home?connection=acme')).status).toBe(403);
  const noOrigin = { method: 'POST', headers: { 'x-groupsync-token': '' } };
  expect((await browser.open('/api/approve?connection=acme', noOrigin)).status).toBe(403);
  expect(asked).toEqual([]);
});

it('every response has the policy of the page, and data is never cached or shared', async () => {
  const browser = await signedIn();
  for (const path of [
    '/',
    '/c/acme',
    '/app.js',
    '/auth/sign-in',
    '/auth/callback',
    '/auth/signed-out',
    '/api/home',
  ]) {
    const { headers } = await browser.open(path);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
    expect(headers.get('content-security-policy')).not.toMatch(/unsafe|\*/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('strict-transport-security')).toContain('max-age=');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  }
});

it.each([
  ['//evil.test/c/', '/'],
  ['/\\evil.test', '/'],
  ['https://evil.test/c/acme', '/'],
  ['/c/..//evil.test', '/'],
  ['/c/a\u0000b', '/c/a%00b'],
  ['javascript:alert(1)', '/'],
  ['/auth/sign-out', '/'],
  [`/c/${'a'.repeat(2_001)}`, '/'],
  [`/c/${'ä'.repeat(1_000)}`, '/'],
  ['/c/acme/holds/g%2F1?tab=x&y=1#z', '/c/acme/holds/g%2F1?tab=x&y=1'],
])('after the sign-in, %j leads to %j', (to, path) => {
  expect(ownPath(to, ORIGIN)).toBe(path);
});

it('a name in the id token is escaped in the page', async () => {
  provider.setFault({ claims: { sub: `"><script>'&` } });
  const rules = { personClaim: 'sub', roles: [{ claim: 'email', value: 'ann@acme.test', role: 'viewer' }] };
  const browser = await signedIn(consoleOf(rules));
  const text = await (await browser.open('/c/acme')).text();
  expect(text).toContain('data-person="&#34;&#62;&#60;script&#62;&#39;&#38;"');
});
