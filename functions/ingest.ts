import '../shared/runtime/cold-start.ts';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { readerBinding } from '../shared/contract/decode.ts';
import { MESSAGE_ATTRIBUTES, readerQueueName } from '../shared/contract/names.ts';
import type { Config } from '../shared/runtime/config.ts';
import { errorFields } from '../shared/runtime/logger.ts';
import { reportDeliveries, reportIngest } from '../shared/runtime/report.ts';
import { wireIngest } from '../shared/runtime/wire.ts';
import type { IncomingMessage } from '../shared/sync/ingest/accept.ts';
import { ingest, postponedSeconds } from '../shared/sync/ingest/ingest.ts';
import { once } from './frame/once.ts';

const wired = once(wireIngest);

/**
 * Fractions of the time that remains at the start of a run. After START_UNTIL, no new chunk starts. After STOP_AT, the
 * run only returns its result.
 */
const START_UNTIL = 0.5;
const STOP_AT = 0.85;

/** Stores the events of messages and wakes groups. A message that was not completed in time is received again. */
export async function handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  const { ports, logger, config, showAgain } = wired();
  const at = (part: number) => ports.clock() + part * context.getRemainingTimeInMillis();
  const messages = event.Records.map((record) => messageOf(record, config));
  const report = await ingest(messages, ports, { startUntilMs: at(START_UNTIL), stopAtMs: at(STOP_AT) });
  const log = logger.with({ requestId: context.awsRequestId });
  reportIngest(report, log);
  await reportDeliveries(report.deliveries, ports, log);
  const postponed = event.Records.filter(({ messageId }) => report.postponed.has(messageId));
  const [first] = postponed;
  if (first !== undefined) {
    const receipts = postponed.map(({ receiptHandle }) => ({ receipt: receiptHandle }));
    // All records come from one queue. If this fails, they are received again after the queue's visibility timeout.
    await showAgain(queueOf(first), receipts, postponedSeconds(ports.random())).catch((error) =>
      log.warn('postponed messages return late', errorFields(error)),
    );
  }
  return { batchItemFailures: [...report.failedMessages].map((itemIdentifier) => ({ itemIdentifier })) };
}

const queueOf = ({ eventSourceARN }: SQSRecord): string =>
  eventSourceARN.slice(eventSourceARN.lastIndexOf(':') + 1);

function messageOf(record: SQSRecord, { boundQueues, prefix }: Config): IncomingMessage {
  const { messageId, body, attributes, messageAttributes } = record;
  const text = (name: keyof typeof MESSAGE_ATTRIBUTES) =>
    messageAttributes[MESSAGE_ATTRIBUTES[name]]?.stringValue;
  const queue = queueOf(record);
  const connection = text('connection');
  const isOfReader = queue === readerQueueName(prefix);
  return {
    messageId,
    body,
    sentAtMs: Number(attributes.SentTimestamp),
    connection,
    bound: isOfReader ? readerBinding(queue, connection) : boundQueues.get(queue),
    stamp: text('stamp'),
    sentBy: text('sentBy'),
    failedBefore: text('failedBefore'),
    receives: Number(attributes.ApproximateReceiveCount),
  };
}
