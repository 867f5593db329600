import { CreateQueueCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { QUEUE_KEYS, type QueueKey, queueName } from '../../shared/contract/names.ts';
import { applyDelaySeconds, QUEUES } from '../../shared/contract/topology.ts';
import { isOurHost, isOurPage } from '../platform/controls/loopback.ts';
import { LoopbackQueues } from './sqs-store.ts';

export interface SqsEmulator {
  readonly url: string;
  readonly close: () => Promise<void>;
}

const REGION = 'us-east-1';
const ACCOUNT = '000000000000';

/** Starts the SQS emulator on loopback. Its queues live in memory. */
export async function startSqs(port: number): Promise<SqsEmulator> {
  const stores = { sqsStore: new LoopbackQueues() } as unknown as NonNullable<
    NonNullable<Parameters<typeof buildApp>[0]>['stores']
  >;
  const app = buildApp({ logger: false, defaultRegion: REGION, stores });
  app.addHook('onRequest', async ({ headers }, reply) => {
    if (!isOurHost(headers) || !isOurPage(headers)) return reply.code(403).send();
  });
  const url = await app.listen({ host: '127.0.0.1', port });
  return { url, close: () => app.close() };
}

export const queueArn = (name: string) => `arn:aws:sqs:${REGION}:${ACCOUNT}:${name}`;

/** Creates the four queues as the stack deploys them. @returns their URLs. */
export async function createQueues(
  client: SQSClient,
  options: { prefix: string; coalesceSeconds: number },
): Promise<Record<QueueKey, string>> {
  const urls: [QueueKey, string][] = [];
  for (const key of QUEUE_KEYS) {
    const created = await client.send(
      new CreateQueueCommand({
        QueueName: queueName(options.prefix, key),
        Attributes: queueAttributes(key, options),
      }),
    );
    urls.push([key, created.QueueUrl ?? '']);
  }
  return Object.fromEntries(urls) as Record<QueueKey, string>;
}

function queueAttributes(
  key: QueueKey,
  options: { prefix: string; coalesceSeconds: number },
): Record<string, string> {
  const queue = QUEUES[key];
  return {
    VisibilityTimeout: String(queue.visibilityTimeoutSeconds),
    MessageRetentionPeriod: String(queue.retentionSeconds),
    ...(key === 'apply' ? { DelaySeconds: String(applyDelaySeconds(options.coalesceSeconds)) } : {}),
    ...(queue.fifo ? { FifoQueue: 'true' } : {}),
    ...(queue.redrive === undefined
      ? {}
      : {
          RedrivePolicy: JSON.stringify({
            deadLetterTargetArn: queueArn(queueName(options.prefix, queue.redrive.to)),
            maxReceiveCount: queue.redrive.maxReceiveCount,
          }),
        }),
  };
}
