import '../shared/runtime/cold-start.ts';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { readerBinding } from '../shared/contract/decode.ts';
import { MESSAGE_ATTRIBUTES, readerQueueName } from '../shared/contract/names.ts';
import type { Config } from '../shared/runtime/config.ts';
import { reportDeliveries, reportIngest } from '../shared/runtime/report.ts';
import { wireIngest } from '../shared/runtime/wire.ts';
import type { IncomingMessage } from '../shared/sync/ingest/accept.ts';
import { ingest } from '../shared/sync/ingest/ingest.ts';
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
  const { ports, logger, config } = wired();
  const at = (part: number) => ports.clock() + part * context.getRemainingTimeInMillis();
  const messages = event.Records.map((record) => messageOf(record, config));
  const report = await ingest(messages, ports, { startUntilMs: at(START_UNTIL), stopAtMs: at(STOP_AT) });
  const log = logger.with({ requestId: context.awsRequestId });
  reportIngest(report, log);
  await reportDeliveries(report.deliveries, ports, log);
  return { batchItemFailures: [...report.failedMessages].map((itemIdentifier) => ({ itemIdentifier })) };
}

function messageOf(
  { messageId, body, attributes, messageAttributes, eventSourceARN }: SQSRecord,
  { boundQueues, prefix }: Config,
): IncomingMessage {
  const text = (name: keyof typeof MESSAGE_ATTRIBUTES) =>
    messageAttributes[MESSAGE_ATTRIBUTES[name]]?.stringValue;
  const queue = eventSourceARN.slice(eventSourceARN.lastIndexOf(':') + 1);
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
