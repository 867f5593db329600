import type { Context, SQSRecord } from 'aws-lambda';
import { ENVIRONMENT } from '../../shared/contract/names.ts';
import { readConfig } from '../../shared/runtime/config.ts';
import { createLogger } from '../../shared/runtime/logger.ts';
import { createMetrics } from '../../shared/runtime/wire.ts';

export const CONTEXT = {
  awsRequestId: 'request-1',
  invokedFunctionArn: 'arn:aws:lambda:eu-west-1:111122223333:function:groupsync-reconcile',
  getRemainingTimeInMillis: () => 60_000,
} as Context;

/** The context of a call through the alias of the connection acme. */
export const OF_ACME: Context = { ...CONTEXT, invokedFunctionArn: `${CONTEXT.invokedFunctionArn}:for-acme` };

export function fakeBase() {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const clock = () => Date.UTC(2026, 10, 20);
  return {
    lines,
    config: readConfig({
      [ENVIRONMENT.boundQueues]: 'groupsync-events-okta=acme,groupsync-events-entra=beta',
    }),
    logger: createLogger({ level: 'info', clock, write }),
    metrics: createMetrics({ prefix: 'test', clock, write }),
    emitted: (name: string) => lines.flatMap((line) => (name in line ? [line[name]] : [])),
    logged: (message: string) => lines.filter((line) => line['message'] === message),
  };
}

export const recordOf = (body: string, over: Partial<SQSRecord> = {}): SQSRecord => ({
  messageId: `message of ${body}`.slice(0, 100),
  receiptHandle: 'r',
  body,
  attributes: {
    ApproximateReceiveCount: '1',
    SentTimestamp: String(Date.UTC(2026, 10, 20)),
    SenderId: 's',
    ApproximateFirstReceiveTimestamp: '0',
  },
  messageAttributes: {},
  md5OfBody: '',
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn',
  awsRegion: 'us-east-1',
  ...over,
});
