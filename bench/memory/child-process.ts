import { randomBytes } from 'node:crypto';
import { runReconcile } from '../../shared/runtime/run-reconcile.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { refreshPeople } from '../../shared/sync/people.ts';
import { queueUrl } from '../../simulate/queues.ts';
import { connectToParent, dispatcherThrough, type ParentAnswer, sqsThrough, tableThrough } from './parent.ts';
import { benchPorts } from './ports.ts';
import { CONNECTION, TOKEN } from './rig.ts';
import type { ChildResult, ChildTask } from './run-in-child.ts';

const { ask, receive, done, peakMb } = connectToParent();

async function run({ task, nowMs, events = [], refs = [] }: ChildTask): Promise<ChildResult> {
  const ports = benchPorts({
    table: tableThrough(ask),
    sqs: sqsThrough(ask) as never,
    queueUrl,
    dispatcher: dispatcherThrough(ask) as never,
    token: TOKEN,
    coalesceMs: 5_000,
    clock: () => nowMs,
    newId: () => `${nowMs.toString(16).padStart(12, '0')}${randomBytes(10).toString('hex')}`,
    onSecretRead() {},
  });
  const startedMs = performance.now();
  const before = process.cpuUsage();
  const connection = await ports.connections.find(CONNECTION);
  if (connection === undefined) throw new Error('expected a connection');
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
  else
    await runReconcile(
      connection,
      { task },
      { ports, found: new Map(), deadlineMs: Number.MAX_SAFE_INTEGER },
    );
  const { user, system } = process.cpuUsage(before);
  return {
    ms: performance.now() - startedMs,
    peakMb: peakMb(),
    processorSeconds: (user + system) / 1e6,
  };
}

process.on('message', (message: ChildTask | ParentAnswer) => {
  if ('task' in message) void run(message).then(done);
  else receive(message);
});
