import type { SQSMessageAttributes } from 'aws-lambda';
import { beforeEach, expect, it, vi } from 'vitest';
import { handler } from '../../functions/ingest.ts';
import { connectionName, type GroupRef, groupId } from '../../shared/domain/ids.ts';
import { createDeadLetterQueue } from '../../shared/queues/dead-letter-queue.ts';
import { createDeliveryStore } from '../../shared/store/delivery-store.ts';
import { createDesiredStore } from '../../shared/store/desired-store.ts';
import { groupKey } from '../../shared/store/keys.ts';
import { createPeopleStore } from '../../shared/store/people-store.ts';
import { createSourceStore } from '../../shared/store/source-store.ts';
import { createUserStore } from '../../shared/store/user-store.ts';
import type { RejectedMessage } from '../../shared/sync/ports/queues.ts';
import { ThrottledError, UnstorableError } from '../../shared/sync/ports/store-errors.ts';
import { MemoryTable } from '../../simulate/table.ts';
import { fakeSqs } from '../queues/fake-sqs.ts';
import { CONTEXT, fakeBase, recordOf } from './fake-base.ts';

const NOW_MS = Date.UTC(2026, 10, 20);
const WAKE_MS = 20_000;
const world = vi.hoisted(() => ({ wired: undefined as unknown }));
vi.mock('../../shared/runtime/wire.ts', async (original) => ({
  ...(await original<object>()),
  wireIngest: () => ({ ...(world.wired as object) }),
}));
vi.mock('../../functions/frame/once.ts', () => ({ once: (wire: () => unknown) => wire }));

let base: ReturnType<typeof fakeBase>;
let table: MemoryTable;
let deadLettered: RejectedMessage[];
let woken: GroupRef[];
let refusesWakes: boolean;
/** The errors of the table, by a part of the key. */
let thrown: Map<string, Error>;
let shownAgain: unknown[];
let requestMs: number;
let nowMs: number;

const find = async (name: string) =>
  name === 'missing' ? undefined : { name, settings: { match: [], people: { exclude: [] } } };

beforeEach(() => {
  base = fakeBase();
  nowMs = NOW_MS;
  deadLettered = [];
  woken = [];
  refusesWakes = false;
  thrown = new Map();
  shownAgain = [];
  requestMs = 0;
  table = new MemoryTable(async (_, key) => {
    nowMs += requestMs;
    for (const [part, error] of thrown) if (key.includes(part)) throw error;
  });
  world.wired = {
    ...base,
    showAgain: async (...shown: unknown[]) => void shownAgain.push(shown),
    ports: {
      random: () => 0.2,
      clock: () => nowMs,
      newId: () => 'id',
      sleep: async () => new Promise(() => {}),
      deliveries: createDeliveryStore(table),
      coalesceMs: 0,
      desired: createDesiredStore(table),
      sources: createSourceStore(table),
      users: createUserStore(table),
      people: createPeopleStore(table),
      connections: { find, current: find, list: async () => [] },
      applyQueue: {
        wake: async (refs: readonly GroupRef[]) => {
          nowMs += WAKE_MS;
          if (refusesWakes) return refs;
          woken.push(...refs);
          return [];
        },
      },
      deadLetters: {
        send: async (deadLetters: readonly RejectedMessage[]) => {
          deadLettered.push(...deadLetters);
          return [];
        },
      },
    },
  };
});

const eventOf = (group: string, over: object = {}) =>
  JSON.stringify({
    specversion: '1.0',
    id: `event of ${group}`,
    source: 'test',
    type: 'directory.group.upserted',
    time: '2026-11-19T00:00:00Z',
    data: { group: { id: group, name: group } },
    ...over,
  });

/** A message of a queue of the stack, with these message attributes. */
function messageOf(
  body: string,
  queue: string,
  attributes: Readonly<Record<string, string | undefined>> = {},
) {
  const named = Object.entries(attributes).filter(([, stringValue]) => stringValue !== undefined);
  const messageAttributes = Object.fromEntries(
    named.map(([name, stringValue]) => [name, { stringValue, dataType: 'String' }]),
  ) as SQSMessageAttributes;
  return recordOf(body, { eventSourceARN: `arn:aws:sqs:eu-west-1:111122223333:${queue}`, messageAttributes });
}

it('ingest stores the events, wakes the groups and acknowledges every message', async () => {
  const Records = [recordOf(eventOf('g1')), recordOf(`[${eventOf('g2')},${eventOf('g3')}]`)];
  expect(await handler({ Records }, CONTEXT)).toEqual({ batchItemFailures: [] });
  expect(woken.map(({ group }) => group)).toEqual(['g1', 'g2', 'g3']);
  expect(base.logged('ingested')).toMatchObject([{ requestId: 'request-1', accepted: 3, rejected: 0 }]);
});

it('ingest acknowledges an invalid message after it is dead-lettered, and processes the valid message of the batch', async () => {
  const Records = [recordOf('{'), recordOf(eventOf('g1'))];
  expect(await handler({ Records }, CONTEXT)).toEqual({ batchItemFailures: [] });
  expect(deadLettered).toMatchObject([{ code: 'invalid_json', body: '{', messageId: 'message of {' }]);
  expect(woken).toMatchObject([{ group: 'g1' }]);
});

it('ingest dead-letters a large invalid message completely, or returns it to SQS if the dead-letter queue refuses it', async () => {
  const sqs = fakeSqs();
  const { ports, ...others } = world.wired as { readonly ports: object };
  const options = { queueUrl: 'url', source: 'ingest', clock: () => nowMs } as const;
  world.wired = { ...others, ports: { ...ports, deadLetters: createDeadLetterQueue(sqs.client, options) } };
  const fits = recordOf(`{${'x'.repeat(1_048_000)}`, { messageId: 'fits' });
  const tooLarge = recordOf(`{${'x'.repeat(1_048_500)}`, { messageId: 'too large' });
  const answer = await handler({ Records: [fits, tooLarge] }, CONTEXT);
  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'too large' }] });
  expect(sqs.sent().map(({ MessageBody }) => MessageBody === fits.body)).toEqual([true]);
});

it('ingest returns only the message whose group could not be stored', async () => {
  thrown.set('#g2', new Error('the table is away'));
  const bad = recordOf(eventOf('g2'));
  const answer = await handler({ Records: [recordOf(eventOf('g1')), bad] }, CONTEXT);
  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: bad.messageId }] });
  expect(woken).toMatchObject([{ group: 'g1' }]);
  const deliveries = [...table.items.values()].filter(({ pk }) => pk.startsWith('D#'));
  expect(deliveries.map(({ outcome }) => outcome).sort()).toEqual(['accepted', 'retried']);
  expect(base.logged('not stored').length).toBeGreaterThan(0);
});

it('a message that only failed because DynamoDB throttled it is received again within seconds, five times', async () => {
  thrown.set('g1', new ThrottledError('throttled'));
  thrown.set('g2', new Error('the table is away'));
  const received = (groups: readonly string[], ApproximateReceiveCount: string) => {
    const body = `[${groups.map((name) => eventOf(name)).join()}]`;
    const record = { ...messageOf(body, 'groupsync-events-okta'), messageId: groups.join() };
    const attributes = { ...record.attributes, ApproximateReceiveCount };
    return { ...record, attributes, receiptHandle: `receipt of ${groups} ${ApproximateReceiveCount}` };
  };
  const Records = [['g1'], ['g1', 'g3'], ['g1', 'g2'], ['g2'], ['g4']].map((one) => received(one, '5'));
  const { batchItemFailures } = await handler({ Records }, CONTEXT);
  expect(batchItemFailures).toHaveLength(4);
  const receipts = [{ receipt: 'receipt of g1 5' }, { receipt: 'receipt of g1,g3 5' }];
  expect(shownAgain).toEqual([['groupsync-events-okta', receipts, 7]]);
  const last = await handler({ Records: [received(['g1'], '6')] }, CONTEXT);
  expect([last.batchItemFailures.length, shownAgain.length]).toEqual([1, 1]);
  Object.assign(world.wired as object, { showAgain: () => Promise.reject(new Error('not shown')) });
  expect((await handler({ Records }, CONTEXT)).batchItemFailures).toHaveLength(4);
});

it('an event that the table can never store is dead-lettered, and all other events of its batch are stored', async () => {
  thrown.set('U#default#bob USER', new UnstorableError('too large'));
  const joins = (id: string, ...members: object[]) =>
    eventOf('g1', {
      id,
      type: 'directory.group.member.added',
      data: { group: { id: 'g1' }, members },
    });
  const [ann, bob, cid] = ['ann', 'bob', 'cid'].map((id) => ({ id, email: `${id}@acme.test` }));
  const list = recordOf(`[${joins('of ann', ann as object)},${joins('of bob', bob as object)}]`);
  const Records = [recordOf(eventOf('g1')), list, recordOf(joins('of cid', cid as object))];
  expect(await handler({ Records }, CONTEXT)).toEqual({ batchItemFailures: [] });
  expect(deadLettered).toEqual([
    expect.objectContaining({
      code: 'unstorable',
      message: 'expected an event that can be stored: too large',
      body: joins('of bob', bob as object),
      messageId: list.messageId,
    }),
  ]);
  const users = [...table.items.keys()].filter((key) => key.endsWith(' USER'));
  expect(users.sort()).toEqual(['U#default#ann USER', 'U#default#cid USER']);
});

it('ingest returns a message with one unstorable event and one event that must be retried', async () => {
  thrown.set('g1', new UnstorableError('too large'));
  thrown.set('g2', new Error('the table is away'));
  const both = recordOf(`[${eventOf('g1')},${eventOf('g2')}]`);
  const answer = await handler({ Records: [both] }, CONTEXT);
  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: both.messageId }] });
  expect(deadLettered).toEqual([]);
  thrown.delete('g2');
  expect(await handler({ Records: [both] }, CONTEXT)).toEqual({ batchItemFailures: [] });
  expect(deadLettered).toMatchObject([{ code: 'unstorable', body: eventOf('g1') }]);
});

it('if ingest cannot wake a group of a user, it returns the message and keeps the user fan-out open', async () => {
  const record = (type: string, data: object) => recordOf(eventOf(type, { type: `directory.${type}`, data }));
  const user = { id: 'ann' };
  const isWalking = () => [...table.items].some(([key, item]) => key.endsWith(' USER') && 'fanOut' in item);
  await handler(
    { Records: [record('group.member.added', { group: { id: 'g1' }, members: [user] })] },
    CONTEXT,
  );
  // The first event about a user starts no fan-out.
  await handler(
    { Records: [record('user.upserted', { user: { ...user, email: 'ann@acme.test' } })] },
    CONTEXT,
  );
  nowMs += 120_000;
  refusesWakes = true;
  const gone = record('user.deleted', { user });
  const answer = await handler({ Records: [gone] }, CONTEXT);
  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: gone.messageId }] });
  expect(isWalking()).toBe(true);
  refusesWakes = false;
  nowMs += 120_000;
  expect(await handler({ Records: [gone] }, CONTEXT)).toEqual({ batchItemFailures: [] });
  expect(isWalking()).toBe(false);
  expect(woken.map(({ group }) => group)).toEqual(['g1', 'g1']);
});

it('the register of a present member never expires, even if the member was absent before', async () => {
  const memberRecord = (type: string, id: string) =>
    recordOf(
      eventOf('g1', {
        id,
        type: `directory.group.member.${type}`,
        data: { group: { id: 'g1' }, members: [{ id: 'ann' }] },
      }),
    );
  const expiry = () => [...table.items].find(([key]) => key.endsWith(' M#ann'))?.[1]['expiresAt'];
  await handler({ Records: [memberRecord('removed', '1')] }, CONTEXT);
  expect(expiry()).toBeGreaterThan(NOW_MS / 1_000);
  await handler({ Records: [memberRecord('added', '2')] }, CONTEXT);
  expect(expiry()).toBeUndefined();
});

it('ingest reads the connection and the sender from the message attributes', async () => {
  const record = messageOf(eventOf('g1'), 'groupsync-events', { connection: 'acme', sentBy: 'ann' });
  await handler({ Records: [record] }, CONTEXT);
  expect(woken).toMatchObject([{ connection: 'acme', group: 'g1' }]);
  expect(JSON.stringify([...table.items.values()])).toContain('"by":"ann"');
  const unknown = messageOf(eventOf('g1'), 'groupsync-events', { connection: 'missing' });
  await handler({ Records: [unknown] }, CONTEXT);
  expect(deadLettered).toMatchObject([{ code: 'unknown_connection', connection: 'missing' }]);
});

it.each([
  ['that names no connection', eventOf('g1'), undefined, 'g1'],
  ['that names the same connection', eventOf('g1', { connection: 'acme' }), 'acme', 'g1'],
  [
    'with an event of another connection',
    `[${eventOf('g1')},${eventOf('g2', { connection: 'beta' })}]`,
    undefined,
    'beta',
  ],
  ['with an attribute of another connection', eventOf('g1', { connection: 'acme' }), 'beta', 'beta'],
  ['that cannot be read', '{', undefined, 'invalid_json'],
])('the queue of a connection accepts only events of this connection: a message %s', async (...row) => {
  const [, body, connection, outcome] = row;
  const record = messageOf(body, 'groupsync-events-okta', { connection });
  expect(await handler({ Records: [record] }, CONTEXT)).toEqual({ batchItemFailures: [] });
  const deadLetter = { body, queue: 'groupsync-events-okta', connection: connection ?? 'acme' };
  if (outcome === 'g1')
    expect([woken, deadLettered]).toMatchObject([[{ connection: 'acme', group: 'g1' }], []]);
  else {
    expect(woken).toEqual([]);
    const code = outcome === 'beta' ? 'wrong_connection' : outcome;
    expect(deadLettered).toEqual([expect.objectContaining({ ...deadLetter, code })]);
  }
});

it.each([
  ['stores the message for this connection', eventOf('g1'), 'acme', undefined],
  ['refuses it if an event differs', eventOf('g1', { connection: 'beta' }), 'acme', 'wrong_connection'],
  ['refuses the message if the attribute is missing', eventOf('g1'), undefined, 'wrong_connection'],
])(
  'a message of the directory reader belongs to the connection that its attribute names: ingest %s',
  async (...row) => {
    const [, body, connection, code] = row;
    const record = messageOf(body, 'groupsync-events-directory', { connection });
    await handler({ Records: [record] }, CONTEXT);
    const rejected = code === undefined ? [] : [{ code, queue: 'groupsync-events-directory' }];
    expect(deadLettered).toMatchObject(rejected);
    expect(woken).toMatchObject(code === undefined ? [{ connection: 'acme', group: 'g1' }] : []);
  },
);

it.each([
  ['groupsync-events', 'refuses', ['invalid_event']],
  ['groupsync-events-okta', 'refuses', ['invalid_event']],
  ['groupsync-events-directory', 'stores', []],
])('from the queue %s, ingest %s an event with the reader as its source', async (queue, _, codes) => {
  const body = eventOf('g1', { source: 'groupsync/directory' });
  const record = messageOf(body, queue, { connection: 'acme' });
  await handler({ Records: [record] }, CONTEXT);
  expect(deadLettered.map(({ code }) => code)).toEqual(codes);
  expect(woken).toHaveLength(1 - codes.length);
});

it('an event in the common queue is not an event of the directory reader, even if its attributes claim it', async () => {
  const claims = {
    connection: 'acme',
    sentBy: 'arn:aws:sts::111122223333:assumed-role/groupsync-directory/groupsync-directory',
    source: 'groupsync/directory',
    queue: 'groupsync-events-directory',
  };
  const body = eventOf('g1', { source: 'groupsync/directory' });
  await handler({ Records: [messageOf(body, 'groupsync-events', claims)] }, CONTEXT);
  expect(deadLettered).toMatchObject([{ code: 'invalid_event' }]);
  // A replay must send the message to its own queue, not to the queue in its attribute.
  expect(deadLettered[0]).not.toHaveProperty('queue', claims.queue);
  expect(woken).toEqual([]);
});

it.each([
  ['without a new revision if everything was stored', {}, 0],
  ['with a new revision if the group is dirty', { dirtySince: 1 }, 1],
  ['with a new revision if the group has failed', { failedAt: 1 }, 1],
  ['with a new revision if another batch came in between', { batchDigest: 'else' }, 1],
])('a repeated event is processed %s', async (_, found, raised) => {
  const data = { group: { id: 'g1' }, members: [{ id: 'm', email: 'm@acme.test' }] };
  const Records = [recordOf(eventOf('g1', { type: 'directory.group.member.added', data }))];
  await handler({ Records }, CONTEXT);
  const key = groupKey({ connection: connectionName('default'), group: groupId('g1') });
  await table.update(key, { remove: ['dirtySince', 'wakeAt'] });
  await table.update(key, { set: { group: 'g1', ...found } });
  const before = (await table.get(key))?.['rev'];
  await handler({ Records }, CONTEXT);
  expect(Number((await table.get(key))?.['rev']) - Number(before)).toBe(raised);
});

/** Creates a message of 65 kB, which is large but not oversized. */
const large = (group: string, receives: string) => {
  const record = recordOf(eventOf(group, { extra: 'x'.repeat(65_000) }), { messageId: group });
  return { ...record, attributes: { ...record.attributes, ApproximateReceiveCount: receives } };
};
const within = (ms: number) => ({ ...CONTEXT, getRemainingTimeInMillis: () => ms });
const back = (...ids: string[]) => ({ batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })) });

it('ingest starts no message in the second half of its time, and returns the remaining messages', async () => {
  const Records = ['g1', 'g2', 'g3', 'g4'].map((group) => large(group, '1'));
  expect(await handler({ Records }, within(60_000))).toEqual(back('g3', 'g4'));
  expect(woken.map(({ group }) => group)).toEqual(['g1', 'g2']);
  expect(base.logged('ingested')).toMatchObject([{ accepted: 2, retried: 2, notStarted: 2 }]);
});

it('ingest processes the messages with the most receives first, so that SQS dead-letters none of them', async () => {
  const Records = [large('g1', '1'), large('g2', '9'), large('g3', '2')];
  expect(await handler({ Records }, within(60_000))).toEqual(back('g1'));
  expect(woken.map(({ group }) => group)).toEqual(['g2', 'g3']);
});

it('ingest processes the change of another connection before a part of an import that was received before', async () => {
  const alone = messageOf(eventOf('g9'), 'groupsync-events', { connection: 'other' });
  const Records = [large('g1', '2'), large('g2', '2'), alone];
  expect(await handler({ Records }, within(60_000))).toEqual(back('g2'));
  expect(woken.map(({ connection, group }) => [connection, group])).toEqual([
    ['other', 'g9'],
    ['default', 'g1'],
  ]);
});

it('ingest processes at least one message, even if no time is left', async () => {
  expect(await handler({ Records: [large('g1', '1'), large('g2', '1')] }, within(0))).toEqual(back('g2'));
});

it('ingest processes an oversized message last, and returns only this message when the time is over', async () => {
  const leaves = Array.from({ length: 1_000 }, (_, at) =>
    eventOf('', {
      type: 'directory.group.member.removed',
      data: { group: { id: `wide ${at}` }, members: [{ id: 'm' }] },
    }),
  );
  const wide = recordOf(`[${leaves.join()}]`, { messageId: 'wide' });
  requestMs = 100;
  const Records = [wide, large('g1', '1'), recordOf(eventOf('g2'))];
  expect(await handler({ Records }, within(120_000))).toEqual(back('wide'));
  expect(woken.slice(0, 2).map(({ group }) => group)).toEqual(['g1', 'g2']);
  expect(nowMs - NOW_MS).toBeLessThan(120_000);
  expect(base.logged('not stored')).toHaveLength(1);
});

it('ingest processes an oversized message first if it was received often', async () => {
  const wide = { ...large('wide', '7'), body: eventOf('wide', { extra: 'x'.repeat(70_000) }) };
  await handler({ Records: [large('g1', '1'), wide] }, within(60_000));
  expect(woken.map(({ group }) => group)).toEqual(['wide', 'g1']);
});

it('ingest does not dead-letter an invalid message that it returns because its time is over', async () => {
  const bad = recordOf('{', { messageId: 'bad' });
  expect(await handler({ Records: [large('g1', '1'), large('g2', '1'), bad] }, within(0))).toEqual(
    back('g2', 'bad'),
  );
  expect(deadLettered).toEqual([]);
});
