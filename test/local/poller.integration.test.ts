import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type PollerOptions, startPoller } from '../../local/poller.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { startQueue } from './support/queue.ts';

const until = (isTrue: () => boolean | Promise<boolean>) =>
  vi.waitUntil(isTrue, { timeout: PATIENCE_MS, interval: 5 });

type Queue = Awaited<ReturnType<typeof startQueue>>;
type Handler = (event: SQSEvent, context: Context) => unknown;

function poll(queue: Queue, handler: Handler, options: Partial<PollerOptions['source']> = {}) {
  const errors: string[] = [];
  const poller = startPoller({
    client: queue.client,
    queueUrl: queue.queueUrl,
    queueArn: queue.queueArn,
    source: { batchSize: 10, maximumBatchingWindowSeconds: 0, maximumConcurrency: 2, ...options },
    fn: {
      name: 'groupsync-test',
      timeoutSeconds: 30,
      handler: (event, context) => handler(event as SQSEvent, context),
    },
    retryAfterSeconds: 0,
    onError: (message) => errors.push(message),
  });
  onTestFinished(() => poller.stop());
  return { poller, errors };
}

const bodies = ({ Records }: SQSEvent) => Records.map(({ body }) => body);
const failing = (records: readonly SQSRecord[]) => ({
  batchItemFailures: records.map(({ messageId }) => ({ itemIdentifier: messageId })),
});

it('a record has every field of an SQS event, and the context shows the remaining time', async () => {
  const queue = await startQueue();
  const seen: { event: SQSEvent; left: number; context: Context }[] = [];
  poll(queue, (event, context) => {
    seen.push({ event, context, left: context.getRemainingTimeInMillis() });
  });
  const id = await queue.send('{"name":"🚀"}', {
    connection: { DataType: 'String', StringValue: 'acme' },
    raw: { DataType: 'Binary', BinaryValue: new TextEncoder().encode('hi') },
  });
  await until(() => seen.length > 0);
  const [first] = seen;
  expect(first?.event.Records).toEqual([
    {
      messageId: id,
      receiptHandle: expect.any(String),
      body: '{"name":"🚀"}',
      attributes: {
        ApproximateReceiveCount: '1',
        SentTimestamp: expect.stringMatching(/^\d{13}$/),
        SenderId: expect.any(String),
        ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
      },
      messageAttributes: {
        connection: { stringValue: 'acme', stringListValues: [], binaryListValues: [], dataType: 'String' },
        raw: { binaryValue: 'aGk=', stringListValues: [], binaryListValues: [], dataType: 'Binary' },
      },
      md5OfBody: expect.stringMatching(/^[0-9a-f]{32}$/),
      md5OfMessageAttributes: expect.stringMatching(/^[0-9a-f]{32}$/),
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:work',
      awsRegion: 'us-east-1',
    },
  ]);
  expect(first?.left).toBeGreaterThan(29_000);
  expect(first?.left).toBeLessThanOrEqual(30_000);
  expect(first?.context.functionName).toBe('groupsync-test');
  expect(first?.context.awsRequestId).toMatch(/^[0-9a-f-]{36}$/);
});

it('only failed messages are delivered again, and the others are deleted', async () => {
  const queue = await startQueue();
  for (const body of ['good', 'bad', 'fine']) await queue.send(body);
  const calls: string[] = [];
  poll(queue, (event) => {
    calls.push(...bodies(event));
    const bad = event.Records.filter(
      ({ body, attributes }) => body === 'bad' && attributes.ApproximateReceiveCount === '1',
    );
    return failing(bad);
  });
  await until(async () => (await queue.count(queue.queueUrl)) === 0);
  expect(calls.sort()).toEqual(['bad', 'bad', 'fine', 'good']);
  expect(await queue.count(queue.deadUrl)).toBe(0);
});

it('a message moves to the dead-letter queue after exactly maxReceiveCount receives', async () => {
  const queue = await startQueue({ maxReceiveCount: 3 });
  await queue.send('poison');
  const counts: string[] = [];
  poll(queue, (event) => {
    counts.push(...event.Records.map(({ attributes }) => attributes.ApproximateReceiveCount));
    return failing(event.Records);
  });
  await until(async () => (await queue.count(queue.deadUrl)) === 1);
  expect(counts).toEqual(['1', '2', '3']);
  expect((await queue.take(queue.deadUrl))?.Body).toBe('poison');
  expect(await queue.count(queue.queueUrl)).toBe(0);
});

it('the stop of a poller waits for the running invocation and for the deletion of its messages', async () => {
  const queue = await startQueue();
  await queue.send('a');
  let open: (() => void) | undefined;
  const { poller } = poll(queue, () => new Promise<void>((resolve) => (open = resolve)));
  await until(() => open !== undefined);
  const stopped = poller.stop();
  open?.();
  await stopped;
  expect(await queue.count(queue.queueUrl)).toBe(0);
});
