import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
} from '@aws-sdk/client-sqs';
import pMap from 'p-map';
import { readApplyMessage } from '../../shared/contract/invocation.ts';
import { EVENT_SOURCES } from '../../shared/contract/topology.ts';
import { createLogger } from '../../shared/runtime/logger.ts';
import { createMetrics } from '../../shared/runtime/metrics.ts';
import { reportApply, reportIngest } from '../../shared/runtime/report.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import type { BenchEvent } from '../memory/directory.ts';
import type { Services } from './services.ts';

const BATCH = 10;

export async function publish({ sqs, queueUrls }: Services, events: readonly BenchEvent[]): Promise<void> {
  for (let at = 0; at < events.length; at += BATCH) {
    const Entries = events
      .slice(at, at + BATCH)
      .map((event, n) => ({ Id: String(n), MessageBody: JSON.stringify(event) }));
    await sqs.send(new SendMessageBatchCommand({ QueueUrl: queueUrls.events, Entries }));
  }
}

/** Formats logs and metrics as the functions do, and discards them. */
const SILENT_REPORTER = {
  logger: createLogger({ level: 'info', clock: Date.now, write: () => {} }),
  metrics: createMetrics({ prefix: 'bench', clock: Date.now, write: () => {} }),
};

/** Runs ingest until the events queue is empty, then apply until its queue is empty, with Lambda's batch sizes. */
export async function work(services: Services): Promise<void> {
  const { queueUrls, ports } = services;
  const source = { url: queueUrls.events, ...EVENT_SOURCES.ingest };
  await drain(services, source, async (batch) => {
    const report = await ingest(
      batch.map(({ MessageId = '', Body = '' }) => ({
        messageId: MessageId,
        body: Body,
        sentAtMs: Date.now(),
      })),
      ports,
    );
    reportIngest(report, SILENT_REPORTER);
    if (report.failedMessages.size > 0) throw new Error('ingest failed', { cause: report.causes[0] });
  });
  await drain(services, { url: queueUrls.apply, ...EVENT_SOURCES.apply }, async (batch) => {
    await Promise.all(
      batch.map(async ({ Body = '' }) => {
        const ref = readApplyMessage(Body);
        if (ref === undefined) throw new Error(`not an apply message: ${Body}`);
        const report = await applyGroup(ref, ports);
        reportApply(report, SILENT_REPORTER);
        if (report.outcome !== 'written')
          throw new Error(`apply: ${report.outcome}`, { cause: report.cause });
      }),
    );
  });
}

interface Source {
  readonly url: string;
  readonly batchSize: number;
  readonly maximumConcurrency: number;
}

async function drain(
  { sqs }: Services,
  { url, batchSize, maximumConcurrency }: Source,
  handle: (batch: readonly Message[]) => Promise<void>,
): Promise<void> {
  const worker = async () => {
    for (;;) {
      const batch: Message[] = [];
      let isEmpty = false;
      while (batch.length < batchSize && !isEmpty) {
        const received = await sqs.send(
          new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: BATCH, WaitTimeSeconds: 0 }),
        );
        batch.push(...(received.Messages ?? []));
        isEmpty = (received.Messages ?? []).length === 0;
      }
      if (batch.length === 0) return;
      await handle(batch);
      for (let at = 0; at < batch.length; at += BATCH) {
        const Entries = batch
          .slice(at, at + BATCH)
          .map(({ ReceiptHandle }, n) => ({ Id: String(n), ReceiptHandle }));
        await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
      }
    }
  };
  await pMap(Array.from({ length: maximumConcurrency }), worker);
}
