import { parseSettings } from '../../shared/contract/change-setting.ts';
import { readerBinding } from '../../shared/contract/decode.ts';
import { readApplyMessage } from '../../shared/contract/invocation.ts';
import { EVENT_SOURCES } from '../../shared/contract/topology.ts';
import { type ConnectionName, connectionName } from '../../shared/domain/ids.ts';
import { createDynamoTable } from '../../shared/store/dynamo-table.ts';
import type { Table } from '../../shared/store/table.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import type { IncomingMessage } from '../../shared/sync/ingest/accept.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { refreshPeople } from '../../shared/sync/people.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import { type QueuedMessage, queueUrl } from '../../simulate/queues.ts';
import { MemoryTable } from '../../simulate/table.ts';
import { createCountedQueue } from './apply-queue.ts';
import { capacityMeter } from './capacity.ts';
import { type BenchEvent, createDirectory } from './directory.ts';
import { createDynamoDbClient } from './dynamodb.ts';
import { COMPANY, createCountedPlatform } from './platform.ts';
import { type BenchPorts, benchPorts } from './ports.ts';
import { createTotals } from './totals.ts';

interface RigOptions {
  readonly coalesceSeconds: number;
  readonly people: number;
  /** If true, the guard has its default limits. Otherwise the guard is off, because most figures need no holds. */
  readonly guarded?: boolean;
  /** Settings of the connection, which override the settings of `connectionOf`. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

export const CONNECTION: ConnectionName = connectionName('default');
export const TOKEN = 'bench';
export const START_MS = Date.UTC(2026, 0, 5, 8);
const BETWEEN_BATCHES_MS = 10;

export function connectionOf(guarded = false, given: RigOptions['settings'] = {}): Connection {
  const settings = parseSettings({
    baseUrl: 'https://platform.test',
    ...(guarded ? {} : { guard: null }),
    ...given,
  });
  return { name: CONNECTION, company: COMPANY, settings, observing: false };
}

export const requestsOf = (table: MemoryTable) => ({
  get: table.look.bind(table),
  getMany: table.getMany.bind(table),
  page: table.page.bind(table),
  put: table.store.bind(table),
  update: table.update.bind(table),
  delete: table.remove.bind(table),
});

/**
 * Creates groupsync in memory. Use cases, stores, queue adapters and platform client are the code of the product.
 * DynamoDB, SQS and the platform are simulated in the same process. The clock moves only in these three cases:
 *
 *   call                    | the clock moves
 *   ------------------------|-------------------------------------------------
 *   `advance`               | by the given time
 *   `ingest`, `ingestQueued`| by 10 ms after each batch
 *   `drain`                 | to the time at which the next message is due
 */
export async function createRig(options: RigOptions) {
  const totals = createTotals();
  const time = { nowMs: START_MS };
  const clock = () => time.nowMs;
  let ids = 0;
  const newId = () => {
    ids += 1;
    return `${clock().toString(16).padStart(12, '0')}${String(ids).padStart(20, '0')}`;
  };
  const { sqs, queue, events } = createCountedQueue({ totals, clock });
  const platform = createCountedPlatform({ totals, clock, people: options.people, token: TOKEN });
  const direct = new MemoryTable({ meter: capacityMeter(totals) });
  const counted = createDynamoTable(createDynamoDbClient(direct, totals), {
    tableName: 'bench',
    sleep: async () => {},
  });
  let active: Table = direct;
  const table: Table = {
    identity: () => active.identity(),
    get: (key) => active.get(key),
    getMany: (keys) => active.getMany(keys),
    query: (request) => active.query(request),
    scan: (part) => active.scan(part),
    put: (item, when) => active.put(item, when),
    update: (...how) => active.update(...how),
    delete: (key, when) => active.delete(key, when),
  };
  const ports = benchPorts({
    table,
    sqs,
    queueUrl,
    dispatcher: platform.dispatcher,
    token: TOKEN,
    coalesceMs: options.coalesceSeconds * 1_000,
    clock,
    newId,
    onSecretRead: () => totals.add('secretsmanager GetSecretValue'),
  });
  const connection = connectionOf(options.guarded, options.settings);
  await ports.connections.save(connection);
  await refreshPeople(connection, ports);
  totals.take();

  return {
    ports,
    totals,
    clock,
    connection,
    platform,
    directory: createDirectory(clock),
    sqs,
    events,
    /**
     * The operations of the table in memory, for calls from another process. Each operation is one DynamoDB request.
     */
    requests: requestsOf(direct),
    /**
     * Resets the counts, and sends all further requests to the table through the AWS SDK, which counts them. Until this
     * call, the stores use the table in memory directly, which is faster.
     */
    countRequests: () => {
      active = counted;
      totals.take();
    },
    advance: (ms: number) => {
      time.nowMs += ms;
    },
    async ingestQueued(): Promise<void> {
      const { batchSize } = EVENT_SOURCES.ingest;
      for (let some = events.receive(batchSize); some.length > 0; some = events.receive(batchSize)) {
        await ingestMessages(some.map(messageOf), ports);
        events.delete(...some.map(({ receipt = '' }) => receipt));
        time.nowMs += BETWEEN_BATCHES_MS;
      }
    },
    async ingest(events: readonly BenchEvent[]): Promise<void> {
      const { batchSize } = EVENT_SOURCES.ingest;
      for (let at = 0; at < events.length; at += batchSize) {
        await ingestBatch(events.slice(at, at + batchSize), ports);
        time.nowMs += BETWEEN_BATCHES_MS;
      }
    },
    async drain(): Promise<void> {
      for (let due = queue.nextDueMs(); due !== undefined; due = queue.nextDueMs()) {
        time.nowMs = Math.max(time.nowMs, due);
        const batch = queue.receive(EVENT_SOURCES.apply.batchSize);
        await Promise.all(batch.map(({ body }) => applyOne(body, ports)));
        queue.delete(...batch.map(({ receipt = '' }) => receipt));
      }
    },
  };
}

export type Rig = Awaited<ReturnType<typeof createRig>>;

const messageOf = ({ id, body, attributes, sentAtMs }: QueuedMessage): IncomingMessage => ({
  messageId: id,
  body,
  sentAtMs,
  connection: attributes['connection'],
  bound: readerBinding('groupsync-events', attributes['connection']),
});

function ingestBatch(events: readonly BenchEvent[], ports: BenchPorts): Promise<void> {
  const sentAtMs = ports.clock();
  return ingestMessages(
    events.map((event) => ({ messageId: event.id, body: JSON.stringify(event), sentAtMs })),
    ports,
  );
}

async function ingestMessages(messages: readonly IncomingMessage[], ports: BenchPorts): Promise<void> {
  const report = await ingest(messages, ports);
  if (report.failedMessages.size > 0) throw new Error('ingest failed', { cause: report.causes[0] });
}

async function applyOne(body: string, ports: BenchPorts): Promise<void> {
  const ref = readApplyMessage(body);
  if (ref === undefined) throw new Error(`not an apply message: ${body}`);
  const { outcome, cause } = await applyGroup(ref, ports);
  const isFine = ['written', 'in_sync', 'nothing_to_do'].includes(outcome);
  if (!isFine) throw new Error(`apply ended as ${outcome}`, { cause });
}
