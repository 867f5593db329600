import { expect, it } from 'vitest';
import { connectionName, type GroupRef } from '../../shared/domain/ids.ts';
import type { IncomingMessage } from '../../shared/sync/ingest/accept.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { allStoresOver } from '../../simulate/engine.ts';
import { MemoryTable } from '../../simulate/table.ts';

const START_MS = Date.UTC(2026, 10, 20);
/** The number of requests that the SDK sends at once. One request writes 25 items or reads 100 items. */
const SOCKETS = 50;
const weightOf = (operation: string, key: string) => {
  if (operation === 'get') return 1 / 100;
  return operation === 'put' && /IN#|PART#/.test(key) ? 1 / 25 : 1;
};
/** Half of the time limit of the ingest function. Ingest stops its work after this time. */
const HALF_MS = 30_000;
const STOP_MS = 51_000;
const MAX_BYTES = 1_048_576;

const SETTINGS = { match: ['email=workEmail'], includeStates: [], people: { exclude: [] } };
const CONNECTION = { name: connectionName('default'), settings: SETTINGS } as never;

/** Returns a table that answers each request after `requestMs`, and at most `SOCKETS` requests at a time. */
function slowly(requestMs: number) {
  let nowMs = START_MS;
  let writes = 0;
  const waiting: { readonly weight: number; readonly answer: () => void }[] = [];
  const table = new MemoryTable(
    (operation, key) =>
      new Promise((answer) => {
        if (operation !== 'get') writes += 1;
        waiting.push({ weight: weightOf(operation, key), answer });
      }),
  );
  const ports = {
    clock: () => nowMs,
    coalesceMs: 0,
    ...allStoresOver(table),
    connections: { find: async () => CONNECTION, current: async () => CONNECTION, list: async () => [] },
    deadLetters: { send: async () => [] },
    applyQueue: {
      wake: async (refs: readonly GroupRef[]) => {
        nowMs += requestMs * Math.ceil(refs.length / 80);
        return [];
      },
    },
  };
  async function ended<Result>(work: Promise<Result>): Promise<{ result: Result; tookMs: number }> {
    let isOver = false;
    const over = work.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await new Promise(setImmediate);
      let room = SOCKETS;
      let taken = 0;
      while (room > 0 && taken < waiting.length) room -= waiting[taken++]?.weight ?? 0;
      if (taken > 0) nowMs += requestMs;
      for (const { answer } of waiting.splice(0, taken)) answer();
    }
    return { result: await over, tookMs: nowMs - START_MS };
  }
  return { ports, ended, writes: () => writes };
}

/** Returns a list of items with the maximum size for one SQS message. */
function widest(itemOf: (index: number) => object): string {
  const items: string[] = [];
  for (let bytes = 2, at = 0; at < 10_000; at += 1) {
    const text = JSON.stringify(itemOf(at));
    bytes += text.length + 1;
    if (bytes > MAX_BYTES) break;
    items.push(text);
  }
  return `[${items.join(',')}]`;
}

const time = '2026-11-19T00:00:00Z';
const EVENT = { specversion: '1.0', source: 's', type: 'directory.group.snapshot', time };
const snapshot = (id: string, data: object) => ({ ...EVENT, id, data });
const group = (at: number, members: readonly object[]) =>
  snapshot(`${at}`, { group: { id: `g${at}`, name: 'n' }, members });
const part = (snapshotId: string, index: number) =>
  snapshot(`${index}`, { group: { id: 'g' }, members: [], part: { snapshotId, index, count: 10_000 } });
const added = (id: string, member: string) => ({
  ...snapshot(id, { group: { id }, members: [{ id: member }] }),
  type: 'directory.group.member.added',
});

async function storedBySeveral(message: IncomingMessage, { ports, ended }: ReturnType<typeof slowly>) {
  for (let receives = 1, failed = 1; failed > 0; receives += 1) {
    expect(receives).toBeLessThanOrEqual(5);
    const run = ingest([{ ...message, receives }], ports, { stopAtMs: ports.clock() + STOP_MS });
    failed = (await ended(run)).result.failedMessages.size;
  }
}

it.each([
  ['snapshots of different groups', 5_000, (at: number) => group(at, [])],
  ['members of different groups', 6_000, (at: number) => added(`g${at}`, `u${at}`)],
  ['parts of one snapshot', 4_000, (at: number) => part('s', at)],
  ['parts of different snapshots', 4_000, (at: number) => part(`s${at}`, at)],
])(
  'a message of %s is stored within half of the time limit, or in several runs on a slow table',
  async (_, least, itemOf) => {
    const message = { messageId: 'm', body: widest(itemOf), sentAtMs: START_MS };
    const { ports, ended, writes } = slowly(6);
    const { result, tookMs } = await ended(ingest([message], ports, { startUntilMs: START_MS + HALF_MS }));
    expect(result.failedMessages.size).toBe(0);
    expect(JSON.parse(message.body).length).toBeGreaterThanOrEqual(least);
    expect(tookMs).toBeLessThan(HALF_MS);

    const slow = slowly(200);
    await storedBySeveral(message, slow);
    // A later run repeats only the slice in which the earlier run stopped.
    expect(slow.writes()).toBeLessThan(1.2 * writes());
  },
  60_000,
);

it('a message with many users and groups is stored in several runs, and each run continues the previous one', async () => {
  const slow = slowly(300);
  const members = Array.from({ length: 1_500 }, (_, at) => ({ id: `u${at}`, email: 'old' }));
  const groups = Array.from({ length: 6 }, (_, at) =>
    snapshot(`${at}`, { group: { id: `g${at}` }, members }),
  );
  const message = { messageId: 'm', body: JSON.stringify(groups), sentAtMs: START_MS };
  await slow.ended(ingest([message], slow.ports));
  const type = 'directory.user.upserted';
  const changes = members.map(({ id }) => ({ ...snapshot(id, { user: { id, email: 'new' } }), type }));
  await storedBySeveral({ ...message, body: JSON.stringify(changes) }, slow);
});
