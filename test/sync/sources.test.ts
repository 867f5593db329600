import { expect, it } from 'vitest';
import { readerBinding } from '../../shared/contract/decode.ts';
import { createSourceStore } from '../../shared/store/source-store.ts';
import type { IncomingMessage } from '../../shared/sync/ingest/accept.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { findProblems } from '../../shared/sync/reconcile/levels.ts';
import { readSources } from '../../shared/sync/sources.ts';
import { MemoryTable } from '../../simulate/table.ts';
import { createWorld as createScimWorld } from '../scim/server/support/server.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION, MINUTE_MS } from '../support/engine/world.ts';
import { nativeEvent } from '../support/events.ts';
import { savedWorld } from '../support/operate/world.ts';

/** Returns a message of the given source that creates a group. */
const upsertedBy = (source: string, sentAtMs: number): IncomingMessage => ({
  messageId: source,
  sentAtMs,
  body: nativeEvent(
    'group.upserted',
    { group: { id: 'rowing', name: 'Rowing' } },
    { source, time: new Date(sentAtMs).toISOString() },
  ),
});

it('a worker writes the receipt time of a source once a minute, for any number of received events', async () => {
  const sent: string[] = [];
  const table = new MemoryTable(async (operation, key) => {
    if (operation === 'update') sent.push(key);
  });
  const store = createSourceStore(table);
  for (let second = 0; second < 180; second += 1) {
    await store.noteReceipt(CONNECTION, { source: 'events', nowMs: second * 1_000 });
  }
  expect(sent).toHaveLength(3);
  expect(await store.read(CONNECTION)).toEqual([{ source: 'events', receivedMs: 120_000 }]);
});

it('the stored receipt time never decreases, and changes once a minute for any number of workers', async () => {
  const table = new MemoryTable();
  const noteAt = (nowMs: number) =>
    createSourceStore(table).noteReceipt(CONNECTION, { source: 'scim', nowMs });
  const received = async () => (await createSourceStore(table).read(CONNECTION))[0]?.receivedMs;
  await noteAt(100_000);
  await noteAt(130_000);
  expect(await received()).toBe(100_000);
  await noteAt(160_000);
  await noteAt(90_000);
  expect(await received()).toBe(160_000);
});

it("groupsync's own events and replayed messages do not count as receipts of a source", async () => {
  const { ports, connection, clock } = await savedWorld();
  const message = (source: string) => upsertedBy(source, clock.ms);
  const replayed = { ...message('producer'), failedBefore: '1 2026-11-20T10:00:00.000Z' };
  const ofReader = { connection: 'default', bound: readerBinding('groupsync-events-directory', 'default') };
  const own = [message('groupsync/import'), { ...message('groupsync/directory'), ...ofReader }];
  const report = await ingest([...own, replayed], ports);
  expect(report.acceptedFrom).toHaveLength(3);
  expect((await readSources(connection, ports)).freshness).toEqual([]);
  await ingest([message('producer')], ports);
  expect((await readSources(connection, ports)).freshness).toHaveLength(1);
});

it('an event source is reported as late if no event arrives in the expected time', async () => {
  const { deliver, world } = await createTestEngine({
    settings: { sources: { expectEvery: { events: 60 } } },
  });
  const reported = async () =>
    (await findProblems(await world.connection(), world.portsFor())).find(
      ({ subject }) => subject === 'source',
    );
  expect(await reported()).toMatchObject({ count: 0 });
  world.advance(75 * MINUTE_MS);
  expect(await reported()).toMatchObject({ count: 1 });
  await deliver({ snapshot: 'rowing', of: ['ada'] });
  world.advance(60 * MINUTE_MS);
  expect(await reported()).toMatchObject({ count: 0 });
  world.advance(15 * MINUTE_MS);
  expect(await reported()).toMatchObject({ count: 1 });
  await deliver({ snapshot: 'rowing', of: ['ada', 'bob'] });
  expect(await reported()).toMatchObject({ count: 0 });
});

it('ingest processes a message even if it cannot record the receipt', async () => {
  const { ports, clock } = await savedWorld();
  const noteReceipt = async () => {
    throw new Error('throttled');
  };
  const failing = { ...ports, sources: { ...ports.sources, noteReceipt } };
  const report = await ingest([upsertedBy('producer', clock.ms)], failing);
  expect([report.acceptedFrom.length, report.failedMessages.size]).toEqual([1, 0]);
});

it('each SCIM request with a valid token counts as a receipt', async () => {
  const { anonymous, client, ports } = createScimWorld();
  const states = () => ports.sources.read(CONNECTION);
  await anonymous('Bearer unknown').get('/Users');
  expect(await states()).toEqual([]);
  await (await client()).get('/Users');
  expect(await states()).toMatchObject([{ source: 'scim' }]);
});
