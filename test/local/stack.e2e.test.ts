import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEFAULT_CONNECTION } from '../../shared/contract/names.ts';
import { readDirectory } from '../support/reading.ts';
import { BAD_BODIES } from './support/bad-bodies.ts';
import { expectedGroups, reportedGroups } from './support/expected.ts';
import { companyOf, emailOf, memberOf, shuffledWithDuplicates } from './support/numbered-company.ts';
import { startTestStack } from './support/stack.ts';

const PEOPLE = 80;
/** The limit is far above the usual duration, because the machine can be busy. */
const TIMEOUT_MS = 300_000;

let stack: Awaited<ReturnType<typeof startTestStack>>;
beforeAll(async () => {
  stack = await startTestStack({ world: companyOf(PEOPLE), coalesceSeconds: 1 });
});
afterAll(() => stack.stop());

it(
  'the local stack dead-letters 200 invalid bodies after one receive and applies the valid ones',
  async () => {
    const good = Array.from({ length: 40 }, (_, n) => ({
      specversion: '1.0',
      id: `good-${n}`,
      source: 'good',
      time: new Date().toISOString(),
      type: 'directory.group.snapshot',
      data: { group: { id: `good-${n}`, name: `Good ${n}` }, members: [memberOf(n)] },
    }));
    const bad = Array.from({ length: 200 }, (_, n) => {
      const kind = BAD_BODIES[n % BAD_BODIES.length] as (typeof BAD_BODIES)[number];
      return { body: kind.body(n), code: kind.code };
    });
    const all = [...good.map((event) => JSON.stringify(event)), ...bad.map(({ body }) => body)];
    const mixed = [...new Set(shuffledWithDuplicates(all, 'mixed'))];
    const ids = await stack.send(mixed);
    await stack.converge();

    expect(reportedGroups(await stack.readGroups())).toEqual(
      expectedGroups(readDirectory(good), companyOf(PEOPLE)),
    );
    const dead = await stack.deadLetters();
    const codes = new Map(bad.map(({ body, code }) => [body, code]));
    expect(dead.map(({ Body = '' }) => Body).sort()).toEqual([...codes.keys()].sort());
    for (const { Body = '', MessageAttributes = {} } of dead) {
      const attributes = Object.fromEntries(
        Object.entries(MessageAttributes).map(([name, { StringValue }]) => [name, StringValue]),
      );
      expect(attributes).toMatchObject({
        errorCode: codes.get(Body),
        errorMessage: expect.stringMatching(/^.{5,500}$/),
        failedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        originalMessageId: ids[mixed.indexOf(Body)],
        source: 'ingest',
      });
    }
    expect(stack.errors).toEqual([]);
    expect(stack.logged('ingested').reduce((sum, { retried }) => sum + Number(retried), 0)).toBe(0);
  },
  TIMEOUT_MS,
);

it(
  'the platform gets a group that a client pushes to the SCIM endpoint of the local stack',
  async () => {
    const { scim, scimToken } = stack.stack.address;
    const post = async (path: string, body: object) => {
      const headers = { authorization: `Bearer ${scimToken}`, 'content-type': 'application/scim+json' };
      const made = await fetch(`${scim}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      return ((await made.json()) as { id: string }).id;
    };
    const value = await post('/Users', { userName: 'okta-3', emails: [{ value: emailOf(3), type: 'work' }] });
    await post('/Groups', { displayName: 'Pushed', members: [{ value }] });
    await stack.converge();
    expect((await stack.platformState()).find(({ name }) => name === 'Pushed')?.users).toEqual(['u3']);
  },
  TIMEOUT_MS,
);

it('a read of the feed succeeds after the end of the previous work of the connection', async () => {
  const readFeed = () => stack.invoke('reconcile', { task: 'feed' });
  await readFeed();
  await readFeed();
  await stack.parts.endPreviousWork(DEFAULT_CONNECTION);
  await readFeed();
  expect(stack.logged('ran').at(-1)?.['report']).toMatchObject({ eventsRead: expect.any(Number) });
});

it('the logs contain no address, name or token', () => {
  expect(stack.logged('applied').length).toBeGreaterThan(40);
  expect(stack.logs.join('')).not.toMatch(/@acme\.test|Nomen|token-of-acme/i);
});
