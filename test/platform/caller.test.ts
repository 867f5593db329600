import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { MockAgent } from 'undici';
import { expect, it } from 'vitest';
import type { AttemptFacts } from '../../shared/platform/call.ts';
import * as errors from '../../shared/platform/errors.ts';
import { rejection, rig, TOKEN } from './support/platform-client.ts';
import type { Answer } from './support/scripted-platform.ts';

const GROUP = { id: 'g1', name: 'Ops', spokeId: 'd1', users: ['u1'], version: 'v1' };
const NEW_GROUP = { name: 'Ops', spokeId: 'd1', users: ['u1'] };
const USER = { id: 'r1', workEmail: 'ann@acme.test', company: 'c1' };

/** Returns a script that gives these answers one after the other, and then repeats the last one. */
const inTurn = (...answers: readonly Answer[]) => {
  return (_: unknown, index: number) => answers[Math.min(index, answers.length - 1)] ?? {};
};

it('a request without a body has the credential, the user agent and no content type', async () => {
  const { client, platform } = await rig(() => ({ body: USER }), { version: '1.2.3' });
  await client.me();
  const { headers } = platform.seen[0] ?? {};
  const authorization = `Bearer ${TOKEN}`;
  const agent = { accept: 'application/json', 'user-agent': 'groupsync/1.2.3' };
  expect(headers).toMatchObject({ authorization, ...agent });
  expect(headers).not.toHaveProperty('content-type');
});

it('the path of the base URL is the prefix of every path', async () => {
  const { client, platform } = await rig(() => ({ body: USER }));
  const prefixed = await rig(() => ({}), { baseUrl: `${platform.url}/hr/` });
  await prefixed.client.me();
  expect(platform.seen[0]?.path).toBe('/hr/platform/api/me');
  await client.close();
});

it('a call that the specification does not allow is not sent, and its error names the field', async () => {
  const { client, platform } = await rig(() => ({ body: GROUP }));
  const error = await rejection(client.groups.create({ ...NEW_GROUP, users: ['u1', ''] }));
  expect(error).toBeInstanceOf(errors.InvalidRequestError);
  expect(error).toMatchObject({ sent: 'no', message: expect.stringContaining('users.1') });
  await expect(client.groups.get('..')).rejects.toBeInstanceOf(errors.InvalidRequestError);
  await expect(client.groups.delete('')).rejects.toBeInstanceOf(errors.InvalidRequestError);
  expect(platform.seen).toEqual([]);
});

it.each<[number, new (...args: never[]) => errors.PlatformError, boolean]>([
  [400, errors.BadRequestError, false],
  [302, errors.UnexpectedStatusError, false],
  [401, errors.UnauthorizedError, false],
  [403, errors.ForbiddenError, false],
  [404, errors.NotFoundError, false],
  [405, errors.UnexpectedStatusError, false],
  [408, errors.TimeoutError, true],
  [409, errors.ConflictError, false],
  [410, errors.UnexpectedStatusError, false],
  [412, errors.ConflictError, false],
  [422, errors.BadRequestError, false],
  [429, errors.RateLimitedError, false],
  [500, errors.ServerError, true],
  [502, errors.ServerError, true],
  [503, errors.ServerError, true],
  [504, errors.ServerError, true],
])('the status %i causes a typed error with all its facts', async (status, type, mayBeDone) => {
  const headers = { 'x-request-id': 'req-7' };
  const { client } = await rig(() => ({ status, headers, body: { detail: 'no such thing' } }), {
    maxAttempts: 1,
  });
  const error = await rejection(client.groups.get('secret-group'));
  expect(error).toBeInstanceOf(type);
  expect((error as object).constructor).toBe(type);
  // Whether a write with this answer may have taken effect.
  expect(errors.mayHaveTakenEffect(error as errors.PlatformError)).toBe(mayBeDone);
  expect(error).toMatchObject({
    name: type.name,
    method: 'GET',
    pathTemplate: '/platform/api/groups/{groupId}',
    status,
    requestId: 'req-7',
    sent: 'answered',
    excerpt: '{"detail":"no such thing"}',
  });
  expect((error as Error).message).toContain(`GET /platform/api/groups/{groupId} answered ${status}`);
});

it('a redirect causes an error and is not followed', async () => {
  const { client, platform } = await rig(() => ({ status: 302, headers: { location: '/elsewhere' } }));
  await expect(client.me()).rejects.toBeInstanceOf(errors.UnexpectedStatusError);
  expect(platform.seen).toHaveLength(1);
});

it.each<[string, Answer]>([
  ['HTML', { status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>Not\u0000here</h1>' }],
  ['a JSON array of strings', { status: 404, body: ['a', 'b'] }],
  ['no body', { status: 404, body: '' }],
  ['a body that breaks off', { status: 404, failure: 'cut' }],
  ['a body with a wrong encoding', { status: 404, headers: { 'content-encoding': 'gzip' }, body: 'plain' }],
  ['a body that never ends', { status: 404, failure: 'stall' }],
])('an error status causes a typed error whatever the body is: %s', async (_, answer) => {
  const { client } = await rig(() => answer, { timeoutMs: 50 });
  await expect(client.groups.get('g1')).rejects.toBeInstanceOf(errors.NotFoundError);
});

it('an error contains no token and no e-mail address, also in its causes', async () => {
  const { client } = await rig(() => ({ status: 400, body: `token ${TOKEN} of ann@acme.test` }));
  const error = await rejection(client.me());
  const shown = inspect(error, { depth: 10, showHidden: true });
  expect(shown).toContain('BadRequestError');
  expect(shown).not.toContain(TOKEN);
  expect(shown).not.toContain('ann@acme.test');
});

it.each([
  ['without an answer at the time limit', 'hang', 50, errors.TimeoutError],
  ['whose connection breaks', 'drop', 60_000, errors.NetworkError],
] as const)(
  'a write %s is not repeated, and its error shows a possible effect',
  async (_, failure, timeoutMs, type) => {
    const { client, platform } = await rig(() => ({ failure }), { timeoutMs });
    const error = await rejection(client.groups.create(NEW_GROUP));
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ sent: 'maybe', status: undefined });
    expect(errors.mayHaveTakenEffect(error as errors.PlatformError)).toBe(true);
    expect(platform.seen).toHaveLength(1);
  },
);

it('after a 2xx answer that breaks off, a read is repeated and a write is not', async () => {
  const { client, platform } = await rig(inTurn({ failure: 'cut' }, { body: GROUP }));
  await expect(client.groups.get('g1')).resolves.toEqual(GROUP);
  expect(platform.seen).toHaveLength(2);
  const cut = await rig(() => ({ failure: 'cut' }));
  const error = await rejection(cut.client.groups.create(NEW_GROUP));
  expect(error).toMatchObject({ name: 'NetworkError', sent: 'answered', status: 200 });
  expect(errors.mayHaveTakenEffect(error as errors.PlatformError)).toBe(true);
  expect(cut.platform.seen).toHaveLength(1);
});

it('even a POST is repeated if the connection was refused, because the request was not sent', async () => {
  const { client, platform, time } = await rig(() => ({}));
  await platform.close();
  const error = await rejection(client.groups.create(NEW_GROUP));
  expect(error).toBeInstanceOf(errors.NetworkError);
  expect(error).toMatchObject({ sent: 'no', message: expect.stringContaining('ECONNREFUSED') });
  expect(errors.mayHaveTakenEffect(error as errors.PlatformError)).toBe(false);
  expect(time.waits).toHaveLength(3);
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(TOKEN);
});

const failed = (syscall: string, code = 'ETIMEDOUT') => Object.assign(new Error(code), { code, syscall });

it.each([
  ['a connection that timed out', failed('connect'), 'no'],
  [
    'an error for every address of the host',
    new AggregateError([failed('connect'), failed('connect', 'EHOSTUNREACH')]),
    'no',
  ],
  ['a socket that timed out', failed('read'), 'maybe'],
  ['a failed read after one connection', new AggregateError([failed('connect'), failed('read')]), 'maybe'],
  ['an untrusted certificate', failed('', 'DEPTH_ZERO_SELF_SIGNED_CERT'), 'no'],
  ['a reset', failed('read', 'ECONNRESET'), 'maybe'],
])('a request that failed with %s has this value of `sent`: $2', async (_, thrown, sent) => {
  const agent = new MockAgent();
  agent.disableNetConnect();
  agent.get('https://api.acme.test').intercept({ path: '/platform/api/me' }).replyWithError(thrown);
  const options = { baseUrl: 'https://api.acme.test', dispatcher: agent, maxAttempts: 1 };
  const { client } = await rig(() => ({}), options);
  await expect(client.me()).rejects.toMatchObject({ name: 'NetworkError', sent });
  await agent.close();
});

it('a cancelled call causes an AbortedError even if an error status has already arrived', async () => {
  const controller = new AbortController();
  const { client } = await rig(() => {
    setTimeout(() => controller.abort(), 20);
    return { status: 500, failure: 'stall' };
  });
  const change = { name: 'x', version: 'v1' };
  await expect(client.groups.patch('g1', change, { signal: controller.signal })).rejects.toMatchObject({
    name: 'AbortedError',
    sent: 'answered',
    status: 500,
  });
});

it('the wait between two attempts ends when the caller cancels the call', async () => {
  const controller = new AbortController();
  const { client } = await rig(() => {
    controller.abort();
    return { status: 429, body: {} };
  });
  await expect(client.me({ signal: controller.signal })).rejects.toBeInstanceOf(errors.AbortedError);
});

it('a call with the answer 429 is repeated after a wait, even a POST', async () => {
  const busy = { status: 429, headers: { 'retry-after': '3' } };
  const { client, platform, time } = await rig(inTurn(busy, { body: GROUP }));
  await expect(client.groups.create(NEW_GROUP)).resolves.toEqual(GROUP);
  expect(time.waits).toEqual([3125]);
  expect(platform.seen.map(({ method }) => method)).toEqual(['POST', 'POST']);
});

it('a Retry-After longer than the remaining time ends the call with an error that contains it', async () => {
  const { client, time } = await rig(() => ({ status: 429, headers: { 'retry-after': '600' } }));
  const error = await rejection(client.me({ deadlineMs: time.nowMs + 5000 }));
  expect(error).toBeInstanceOf(errors.RateLimitedError);
  expect(error).toMatchObject({ retryAfterMs: 600_000 });
  expect(time.waits).toEqual([]);
});

it('a call sends nothing after its deadline', async () => {
  const { client, platform, time } = await rig(() => ({ body: USER }));
  await expect(client.me({ deadlineMs: time.nowMs })).rejects.toMatchObject({
    name: 'TimeoutError',
    sent: 'no',
  });
  expect(platform.seen).toEqual([]);
});

it('the facts about an attempt contain no id and no token', async () => {
  const facts: AttemptFacts[] = [];
  const { client } = await rig(inTurn({ status: 503 }, { body: { ...GROUP } }), {
    onAttempt: (fact) => facts.push(fact),
  });
  await client.groups.get('g1');
  const told = { method: 'GET', pathTemplate: '/platform/api/groups/{groupId}', durationMs: 0 };
  expect(facts).toEqual([
    { ...told, attempt: 1, status: 503, error: 'ServerError', waitMs: 100 },
    { ...told, attempt: 2, status: 200, ignoredFields: [] },
  ]);
});

const { version: _version, ...withoutVersion } = GROUP;
const { users: _users, ...withoutUsers } = GROUP;

it.each<[string, unknown, string]>([
  ['without users', withoutUsers, 'users'],
  ['with users null', { ...GROUP, users: null }, 'users'],
  ['with users as text', { ...GROUP, users: 'u1' }, 'users'],
  ['with a user that is not a string', { ...GROUP, users: ['u1', 7] }, 'users[1]'],
  ['without version', withoutVersion, 'version'],
  ['with a version that is neither text nor number', { ...GROUP, version: true }, 'version'],
  ['with a spokeId that is a number', { ...GROUP, spokeId: 7 }, 'spokeId'],
  ['without an id', { ...GROUP, id: '' }, 'id'],
  ['null', null, ''],
  ['with an error object in a 200 answer', { ok: false, error: 'x' }, 'id'],
])('a group %s causes an error that names endpoint and field', async (_, body, field) => {
  const { client, platform } = await rig(() => ({ body }));
  const error = await rejection(client.groups.get('g1'));
  expect(error).toBeInstanceOf(errors.UnexpectedBodyError);
  expect(error).toMatchObject({ field, pathTemplate: '/platform/api/groups/{groupId}', status: 200 });
  expect((error as Error).message).toContain(field);
  expect(platform.seen).toHaveLength(1);
});

it('a malformed group in a list has only its id and spokeId, and a group without an id is dropped', async () => {
  const odd = { ...GROUP, id: 'odd' };
  const told: unknown[] = [];
  const { client } = await rig(
    () => ({
      body: [
        { ...odd, name: null },
        GROUP,
        { ...odd, users: null, spokeId: 7 },
        { ...odd, version: [3] },
        { name: 'no id' },
        null,
      ],
    }),
    { onAttempt: ({ ignoredFields }) => told.push(ignoredFields) },
  );
  await expect(client.groups.list()).resolves.toEqual([
    { id: 'odd', spokeId: GROUP.spokeId },
    GROUP,
    { id: 'odd', spokeId: null },
    { id: 'odd', spokeId: GROUP.spokeId },
  ]);
  expect(told).toEqual([['[0]', '[2]', '[3]', '[4]', '[5]']]);
});

it.each<[string, Answer]>([
  ['an empty body', { body: '' }],
  ['HTML', { headers: { 'content-type': 'text/html' }, body: '<html>ann@acme.test</html>' }],
  ['half of JSON', { body: '{"id":' }],
  ['bytes that are not UTF-8', { body: Buffer.from([0x22, 0xff, 0x22]) }],
  ['a wrong encoding', { headers: { 'content-encoding': 'gzip' }, body: 'plain' }],
  ['an unknown encoding', { headers: { 'content-encoding': 'zstd' }, body: 'x' }],
])('%s as the body causes an error that does not quote the body', async (_, answer) => {
  const { client } = await rig(() => answer);
  const error = await rejection(client.me());
  expect(error).toBeInstanceOf(errors.UnexpectedBodyError);
  expect(inspect(error)).not.toContain('ann@acme.test');
});

it('a body above the size limit causes an error, even if its compressed form is below the limit', async () => {
  const large = JSON.stringify({ ...USER, note: 'x'.repeat(5000) });
  const plain = await rig(() => ({ body: large }), { maxBodyBytes: 1000 });
  await expect(plain.client.me()).rejects.toThrow('expected at most 1000 bytes');
  const answer = { headers: { 'content-encoding': 'gzip' }, body: gzipSync(large) };
  const bomb = await rig(() => answer, { maxBodyBytes: 1000 });
  await expect(bomb.client.me()).rejects.toThrow('expected at most 1000 bytes');
});

it('an optional field of a wrong type is dropped and reported, and the other fields are read', async () => {
  const facts: AttemptFacts[] = [];
  const body = { id: 'r1', name: 'Ann', photo: { url: 'x' }, workSchedule: { MONDAY: { hours: '8' } } };
  const { client } = await rig(() => ({ body }), { onAttempt: (fact) => facts.push(fact) });
  await expect(client.employees.get('r1')).resolves.toEqual({
    id: 'r1',
    name: 'Ann',
    workSchedule: { MONDAY: {} },
  });
  expect(facts[0]?.ignoredFields).toEqual(['workSchedule.MONDAY.hours', 'photo']);
});

it('the client uses the injected dispatcher, and its method close does not close this dispatcher', async () => {
  const agent = new MockAgent();
  agent.disableNetConnect();
  agent.get('https://api.acme.test').intercept({ path: '/platform/api/me' }).reply(200, USER).times(2);
  const { client } = await rig(() => ({}), { baseUrl: 'https://api.acme.test', dispatcher: agent });
  await expect(client.me()).resolves.toEqual(USER);
  await client.close();
  await expect(client.me()).resolves.toEqual(USER);
  await agent.close();
});
