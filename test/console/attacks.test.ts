import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { serveConsole } from '../../console/local/serve.ts';

/* An attacker uses the same browser or machine, or sees the terminal, and tries to get the console's rights. */

const TOKEN = 'the-token-of-this-console';
const CODE = 'the-code-of-the-address';
let nowMs = Date.now();
const asked: string[] = [];
let on: Awaited<ReturnType<typeof serveConsole>>;
let port: number;

beforeAll(async () => {
  const page = { '/': { type: 'text/html', body: '<p>the page' } };
  const handle = async ({ method, url }: Request) => {
    asked.push(`${method} ${url}`);
    return Response.json({ secret: 'names' });
  };
  on = await serveConsole({ port: 0, token: TOKEN, code: CODE, page, handle, clock: () => nowMs });
  port = Number(new URL(on.urlOf('default')).port);
});
afterAll(() => on.close());

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}
/** Sends a request over `node:http`, because fetch does not allow false Host and Origin headers. */
function ask(headers: Record<string, string>, path = '/api/home', method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const host = `127.0.0.1:${port}`;
    const to = { host: '127.0.0.1', port, path, method, headers: { host, ...headers } };
    const sent = request(to, (answer) => {
      let body = '';
      answer.on('data', (chunk) => {
        body += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body, headers: answer.headers }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

const withToken = { 'x-groupsync-token': TOKEN };
const self = () => `http://127.0.0.1:${port}`;

/** Each request that is refused with 403 contains the token, so the token alone is not enough. */
const attacks: [who: string, headers: Record<string, string>, status: number][] = [
  ['another user of the machine without the token', {}, 401],
  ['a guessed token of the same length', { 'x-groupsync-token': 'x'.repeat(TOKEN.length) }, 401],
  ['a token with the right beginning', { 'x-groupsync-token': TOKEN.slice(0, -1) }, 401],
  ['a page of another origin, even with the token', { origin: 'https://evil.test' }, 403],
  ['a sandboxed page', { origin: 'null' }, 403],
  ['a page of another port', { origin: 'http://127.0.0.1:1' }, 403],
  ['a host name that was rebound to this address', { host: 'evil.test:PORT' }, 403],
  ['a rebound host name with its own origin', { host: 'evil.test', origin: 'http://evil.test' }, 403],
  ['an image of another page', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, 403],
  ['a frame of another page', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, 403],
  ['a same-site request of another port', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' }, 403],
];
it('a request with the token is answered, and its headers prevent caching and sharing', async () => {
  const answer = await ask({ ...withToken, origin: self(), 'sec-fetch-site': 'same-origin' });
  expect(answer).toMatchObject({ status: 200, body: '{"secret":"names"}' });
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  const policy = String((await ask({}, '/c/default/groups')).headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
  expect(policy).not.toMatch(/unsafe|\*/);
});

it.each(attacks)(
  '%s is refused before any use case runs',
  async (_, { host = '127.0.0.1:PORT', ...headers }, status) => {
    const sent = { ...(status === 403 && withToken), ...headers, host: host.replace('PORT', `${port}`) };
    asked.length = 0;
    for (const method of ['GET', 'POST']) {
      const answer = await ask(sent, '/api/approve', method);
      expect(answer.status).toBe(status);
      expect(answer.body).not.toContain('names');
    }
    expect(asked).toEqual([]);
  },
);

it('a request with the token in its address is refused, because logs and histories keep addresses', async () => {
  asked.length = 0;
  expect((await ask({}, `/api/home?token=${TOKEN}&x-groupsync-token=${TOKEN}`)).status).toBe(401);
  expect((await ask({ cookie: `x-groupsync-token=${TOKEN}` })).status).toBe(401);
  expect((await ask({ authorization: `Bearer ${TOKEN}` })).status).toBe(401);
  expect(asked).toEqual([]);
});

it('the printed address has the code in its fragment, and the server receives no address with the code or token', async () => {
  asked.length = 0;
  const address = new URL(on.urlOf('default'));
  expect(address.hash).toBe(`#${CODE}`);
  await ask(withToken, address.pathname + address.search);
  await ask(withToken, '/api/home?connection=default');
  expect(asked).toEqual([`GET ${self()}/api/home?connection=default`]);
});

it('the code of the printed address is valid until 15 minutes after its first use, and then gives no token', async () => {
  nowMs += 24 * 3_600_000;
  const withCode = { 'x-groupsync-token': CODE };
  expect((await ask(withCode, '/api/token')).body).toBe(JSON.stringify({ token: TOKEN }));
  nowMs += 14 * 60_000;
  expect((await ask(withCode)).status).toBe(200);
  nowMs += 60_000;
  for (const path of ['/api/token', '/api/home']) {
    const late = await ask(withCode, path);
    expect(late.status).toBe(401);
    expect(late.body).not.toContain(TOKEN);
  }
  expect((await ask(withToken)).status).toBe(200);
});

it.each([{}, { 'x-groupsync-token': 'x' }, { ...withToken, origin: 'https://evil.test' }])(
  'a request for the token with the headers %j is refused',
  async (headers) => {
    const answer = await ask(headers as Record<string, string>, '/api/token');
    expect(answer.status).toBeGreaterThan(400);
    expect(answer.body).not.toContain(TOKEN);
  },
);

it('the page cannot be framed, a POST to its address is refused, and a link of another page opens it', async () => {
  const answer = await ask({}, '/');
  expect(answer.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  expect((await ask({}, '/', 'POST')).status).toBe(405);
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  expect((await ask(link, '/')).status).toBe(200);
});

it('the console listens only on the loopback interface', async () => {
  const others = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const outside = others.filter(({ internal, family }) => !internal && family === 'IPv4');
  for (const { address } of outside) {
    await expect(
      fetch(`http://${address}:${port}/`, { signal: AbortSignal.timeout(2_000) }),
    ).rejects.toThrow();
  }
});
