import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { MESSAGE_ATTRIBUTES } from '../shared/contract/names.ts';
import { reportIngest } from '../shared/runtime/report.ts';
import { wireIngest } from '../shared/runtime/wire.ts';
import type { IncomingMessage } from '../shared/sync/ingest/accept.ts';
import { ingest } from '../shared/sync/ingest/ingest.ts';
import { retry } from './frame/batch.ts';
import { once } from './frame/once.ts';

const wired = once(wireIngest);

/** Events queue → desired state and wake-ups. Only what could not be stored or sent comes again. */
export async function handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  const { ports, logger, metrics } = wired();
  const report = await ingest(event.Records.map(messageOf), ports);
  reportIngest(report, { logger: logger.with({ requestId: context.awsRequestId }), metrics });
  return retry(report.failedMessages);
}

function messageOf({ messageId, body, attributes, messageAttributes }: SQSRecord): IncomingMessage {
  return {
    messageId,
    body,
    sentAtMs: Number(attributes.SentTimestamp),
    connection: messageAttributes[MESSAGE_ATTRIBUTES.connection]?.stringValue,
    stamp: messageAttributes[MESSAGE_ATTRIBUTES.stamp]?.stringValue,
  };
}
