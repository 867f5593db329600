import { randomBytes } from 'node:crypto';
import { runReconcile } from '../../shared/runtime/run-reconcile.ts';
import type { Table } from '../../shared/store/table.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { refreshPeople } from '../../shared/sync/people.ts';
import { queueUrl } from '../../simulate/queues.ts';
import type { Page } from '../../simulate/table.ts';
import { benchPorts } from './ports.ts';
import { CONNECTION, TOKEN } from './rig.ts';
import type { ChildRequest, ChildResult, ChildTask } from './run-in-child.ts';

/** DynamoDB's limit of keys per request. */
const KEYS_AT_ONCE = 100;

const waiting = new Map<number, (answer: never) => void>();
let lastId = 0;
const ask = <Answer>(what: string, ...args: readonly unknown[]): Promise<Answer> =>
  new Promise((resolve) => {
    lastId += 1;
    waiting.set(lastId, resolve);
    process.send?.([lastId, what, args] as unknown as ChildRequest);
  });

const table: Table = {
  get: (key) => ask('get', key),
  async getMany(keys) {
    const found = [];
    for (let at = 0; at < keys.length; at += KEYS_AT_ONCE)
      found.push(
        ...(await ask<Awaited<ReturnType<Table['getMany']>>>('getMany', keys.slice(at, at + KEYS_AT_ONCE))),
      );
    return found;
  },
  async *query(request) {
    let after: string | undefined;
    do {
      const page: Page = await ask('page', { ...request, after });
      yield page.items;
      after = page.last;
    } while (after !== undefined);
  },
  scan() {
    throw new Error('no function scans');
  },
  put: (...how) => ask('put', ...how),
  update: (...how) => ask('update', ...how),
  delete: (...how) => ask('delete', ...how),
};

/** The peak that the operating system reports would include memory of the parent at the fork. */
let peakBytes = 0;
const measure = () => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
};

async function run({ task, nowMs, events = [], refs = [] }: ChildTask): Promise<ChildResult> {
  const request = async ({ method, path, body, headers }: Record<string, unknown>) => {
    const answer = await ask<{ readonly body: Buffer }>('request', { method, path, body, headers });
    return { ...answer, body: [answer.body] };
  };
  const ports = benchPorts({
    table,
    sqs: {
      send: (command: { readonly input: object }) => ask('send', command.constructor.name, command.input),
    } as never,
    queueUrl,
    dispatcher: { request } as never,
    token: TOKEN,
    coalesceMs: 5_000,
    clock: () => nowMs,
    newId: () => `${nowMs.toString(16).padStart(12, '0')}${randomBytes(10).toString('hex')}`,
    onSecretRead() {},
  });
  const startedMs = performance.now();
  const connection = await ports.connections.find(CONNECTION);
  if (connection === undefined) throw new Error('expected a connection');
  const metrics = { emit() {} };
  if (task === 'ingest') {
    const messages = events.map((event) => ({
      messageId: event.id,
      body: JSON.stringify(event),
      sentAtMs: nowMs,
    }));
    const { failedMessages, causes } = await ingest(messages, ports);
    if (failedMessages.size > 0) throw causes[0];
  } else if (task === 'apply') {
    for (const { outcome } of await Promise.all(refs.map((ref) => applyGroup(ref, ports))))
      if (outcome !== 'written') throw new Error(`apply ended as ${outcome}`);
  } else if (task === 'people') await refreshPeople(connection, ports);
  else await runReconcile(connection, { task }, { ports, metrics, deadlineMs: Number.MAX_SAFE_INTEGER });
  measure();
  return { ms: performance.now() - startedMs, peakMb: peakBytes / 2 ** 20 };
}

process.on('message', (message: ChildTask | readonly [id: number, answer: never]) => {
  if ('task' in message) {
    void run(message).then((done) => process.send?.([0, 'done', [done]], () => process.exit()));
    return;
  }
  const [id, answer] = message;
  measure();
  waiting.get(id)?.(answer);
  waiting.delete(id);
});
