import { CreateQueueCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import pMap from 'p-map';
import * as z from 'zod';
import { QUEUE_KEYS, type QueueKey, queueName, readerQueueName } from '../../shared/contract/names.ts';
import { LONGEST_DELAY_SECONDS, QUEUES } from '../../shared/contract/topology.ts';
import { isOurHost, isOurPage } from '../platform/controls/loopback.ts';
import { LoopbackQueues } from './sqs-store.ts';

interface SqsEmulator {
  readonly url: string;
  readonly bringForward: LoopbackQueues['bringForward'];
  readonly countMessages: LoopbackQueues['countMessages'];
  readonly close: () => Promise<void>;
}

const REGION = 'us-east-1';
const ACCOUNT = '000000000000';

/** Starts the SQS emulator on loopback. The queues are in memory. */
export async function startSqs(port: number): Promise<SqsEmulator> {
  const queues = new LoopbackQueues();
  const stores = { sqsStore: queues } as unknown as NonNullable<
    NonNullable<Parameters<typeof buildApp>[0]>['stores']
  >;
  const app = buildApp({ logger: false, defaultRegion: REGION, stores });
  app.addHook('onRequest', async ({ headers }, reply) => {
    if (!isOurHost(headers) || !isOurPage(headers)) return reply.code(403).send();
  });
  app.addHook('preHandler', async ({ body }, reply) => {
    const refused = refusalOf(body);
    if (refused !== undefined) await reply.code(400).send(refused);
  });
  const url = await app.listen({ host: '127.0.0.1', port });
  return {
    url,
    bringForward: queues.bringForward.bind(queues),
    countMessages: queues.countMessages.bind(queues),
    close: () => app.close(),
  };
}

const Sent = z.object({ DelaySeconds: z.number().default(0), MessageDeduplicationId: z.string().optional() });
const Sending = z.union([
  z.object({ Entries: z.array(Sent) }),
  Sent.transform((one) => ({ Entries: [one] })),
]);

/** Returns an error for a long delay or a FIFO deduplication id, which SQS rejects but fauxqs accepts. */
function refusalOf(body: unknown) {
  const { data } = Sending.safeParse(typeof body === 'string' ? JSON.parse(body) : body);
  const wrong = data?.Entries.find(
    ({ DelaySeconds, MessageDeduplicationId }) =>
      DelaySeconds > LONGEST_DELAY_SECONDS || MessageDeduplicationId !== undefined,
  );
  if (wrong === undefined) return undefined;
  const message = `expected a delay of at most ${LONGEST_DELAY_SECONDS} s and no deduplication id, got ${JSON.stringify(wrong)}`;
  return { __type: 'com.amazonaws.sqs#InvalidParameterValue', message };
}

/** Returns the URL of the queue `name`. `url` can be the URL of any queue of the emulator. */
export const urlOfQueue = (url: string, name: string): string => url.replace(/[^/]*$/, name);

export const queueArn = (name: string) => `arn:aws:sqs:${REGION}:${ACCOUNT}:${name}`;

/** Creates the four queues as deployed, and the queue of the directory reader. @returns the URLs of the four queues */
export async function createQueues(
  client: SQSClient,
  options: { prefix: string },
): Promise<Record<QueueKey, string>> {
  const ofReader = {
    QueueName: readerQueueName(options.prefix),
    Attributes: queueAttributes('events', options),
  };
  const urls = await pMap(QUEUE_KEYS, async (key) => {
    const queue = { QueueName: queueName(options.prefix, key), Attributes: queueAttributes(key, options) };
    const { QueueUrl = '' } = await client.send(new CreateQueueCommand(queue));
    return [key, QueueUrl] as const;
  });
  await client.send(new CreateQueueCommand(ofReader));
  return Object.fromEntries(urls) as Record<QueueKey, string>;
}

function queueAttributes(key: QueueKey, options: { prefix: string }): Record<string, string> {
  const { visibilityTimeoutSeconds, retentionSeconds, redrive } = QUEUES[key];
  const attributes: Record<string, string> = {
    VisibilityTimeout: String(visibilityTimeoutSeconds),
    MessageRetentionPeriod: String(retentionSeconds),
  };
  if (redrive !== undefined) {
    attributes['RedrivePolicy'] = JSON.stringify({
      deadLetterTargetArn: queueArn(queueName(options.prefix, redrive.to)),
      maxReceiveCount: redrive.maxReceiveCount,
    });
  }
  return attributes;
}
