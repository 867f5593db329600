import { gzipSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { expect, it } from 'vitest';
import * as errors from '../../shared/platform/errors.ts';
import { LIST_LIMITS } from '../../shared/platform/list-stream.ts';
import { rejection, rig } from './support/platform-client.ts';

const group = (id: string, users = ['u1', 'u2']) => ({
  id,
  name: `Ops "${id}" \\ é`,
  spokeId: null,
  users,
  version: 'v1',
});
const BODY = Buffer.from(JSON.stringify([group('g1'), group('g2', []), group('g3')]));

/** Returns a dispatcher whose answers have this body. The body ends with an error when the call ends. */
function answering(pieces: (signal: AbortSignal) => AsyncIterable<Buffer> | readonly Buffer[]) {
  const request = async ({ signal }: { readonly signal: AbortSignal }) => ({
    statusCode: 200,
    headers: { 'content-type': 'application/json' },
    body: pieces(signal),
  });
  return { request } as unknown as Dispatcher;
}

async function listOf(dispatcher: Dispatcher, list = LIST_LIMITS) {
  const seen: string[] = [];
  const { client } = await rig(() => ({}), { dispatcher, list });
  const ended = client.groups
    .each(({ id }) => seen.push(id))
    .then(
      (count) => count,
      (error: unknown) => error,
    );
  return { seen, ended };
}

it.each(['in one piece', 'byte by byte'])('each cut of a list that arrives %s is an error', async (how) => {
  for (let at = 0; at < BODY.length; at += 1) {
    const cut = BODY.subarray(0, at);
    const pieces = how === 'in one piece' ? [cut] : [...cut].map((byte) => Buffer.from([byte]));
    const { ended } = await listOf(answering(() => pieces));
    expect(await ended, `cut at byte ${at}`).toBeInstanceOf(errors.UnexpectedBodyError);
  }
  const pieces = how === 'in one piece' ? [BODY] : [...BODY].map((byte) => Buffer.from([byte]));
  const { seen, ended } = await listOf(answering(() => pieces));
  expect(await ended).toBe(3);
  expect(seen).toEqual(['g1', 'g2', 'g3']);
});

it('a list whose connection breaks is an error, and is not read again', async () => {
  const { client, platform } = await rig(() => ({ body: BODY, failure: 'cut' }));
  const error = await rejection(client.groups.list());
  expect(error).toBeInstanceOf(errors.NetworkError);
  expect(platform.seen).toHaveLength(1);
});

it('a compressed list that ends early is an error', async () => {
  const compressed = gzipSync(BODY).subarray(0, -9);
  const { client } = await rig(() => ({ headers: { 'content-encoding': 'gzip' }, body: compressed }));
  await expect(client.groups.list()).rejects.toBeInstanceOf(errors.UnexpectedBodyError);
});

it.each([
  ['an object', '{"results":[]}', 'expected a list, got an object, in the first 14 bytes, after 0 elements'],
  ['null', 'null', 'expected a list, got a value'],
  ['HTML', '<html>', 'expected JSON, in the first 6 bytes, after 0 elements'],
  ['two lists', '[][]', 'expected JSON'],
  ['a wrong element', `[${JSON.stringify(group('g1'))},{"id":x}]`, 'expected JSON'],
  ['a comma before the end', '[{"id":"g1"},]', 'expected JSON'],
  ['bytes that are not UTF-8', Buffer.from('["\xff\xfe\xfd\xfc\xfb"]', 'latin1'), 'expected JSON'],
  ['no group', '[1,"a",null]', 'expected groups with ids, got a list of something else'],
])('%s is refused with the place', async (_, body, message) => {
  const { client } = await rig(() => ({ body }));
  await expect(client.groups.list()).rejects.toThrow(message);
});

it('a malformed group in the middle is one malformed group, also with a number that JavaScript would round', async () => {
  const whole = JSON.stringify(group('g1'));
  const body = `[${whole},{"id":"odd","spokeId":"d2","users":[9007199254740993]},${JSON.stringify(group('g3'))}]`;
  const { client } = await rig(() => ({ body }));
  expect(await client.groups.list()).toEqual([group('g1'), { id: 'odd', spokeId: 'd2' }, group('g3')]);
});

it.each([
  ['bytes', { maxBytes: 1_000 }, 'expected at most 1000 bytes'],
  ['bytes of one group', { maxElementBytes: 1_000 }, 'expected at most 1000 bytes in one element'],
  ['groups', { maxElements: 2 }, 'expected at most 2 elements'],
])(
  'a list above the limit of %s is an error, even if its compressed form is small',
  async (what, limit, message) => {
    // With the limit of one group, the last group never ends.
    const [many, end] = what === 'groups' ? [[], ']'] : [Array(100_000).fill('u1'), ''];
    const body = gzipSync(
      `[${['g1', 'g2', 'g3'].map((id) => JSON.stringify(group(id, many)))}`.slice(0, end ? undefined : -2) +
        end,
    );
    const list = { ...LIST_LIMITS, ...limit };
    const { client } = await rig(() => ({ headers: { 'content-encoding': 'gzip' }, body }), { list });
    await expect(client.groups.list()).rejects.toThrow(message);
  },
);

it('a list that pauses longer than the limit is an error, before and after its first byte', async () => {
  const list = { ...LIST_LIMITS, idleMs: 200 };
  const message = 'no byte of the answer within 200 ms';
  const stalled = await rig(() => ({ body: BODY.subarray(0, 100), failure: 'stall' }), { list });
  const error = await rejection(stalled.client.groups.list());
  expect(error).toMatchObject({ name: 'TimeoutError', message: expect.stringContaining(message) });
  expect(stalled.platform.seen).toHaveLength(1);
  const silent = await rig(() => ({ failure: 'hang' }), { list, maxAttempts: 1 });
  await expect(silent.client.groups.list()).rejects.toThrow(message);
});

it('the pause in a list is limited to 15 s, although other answers have the time limit of the client', async () => {
  const sent: unknown[] = [];
  const request = async (options: object) => {
    sent.push(options);
    return { statusCode: 200, headers: {}, body: [BODY] };
  };
  const { client } = await rig(() => ({}), {
    dispatcher: { request } as unknown as Dispatcher,
    timeoutMs: 1_000,
  });
  await client.groups.list();
  expect(sent).toMatchObject([{ headersTimeout: 15_000, bodyTimeout: 15_000 }]);
});

it('a list that is not complete within its time limit is an error, although its bytes arrive', async () => {
  const dispatcher = answering(async function* (signal) {
    yield Buffer.from('[');
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      yield Buffer.from(' ');
    }
  });
  const { ended } = await listOf(dispatcher, { ...LIST_LIMITS, totalMs: 100 });
  expect(await ended).toMatchObject({
    name: 'TimeoutError',
    message: expect.stringContaining('no complete answer within 100 ms'),
  });
  expect(LIST_LIMITS.totalMs).toBe(300_000);
});
