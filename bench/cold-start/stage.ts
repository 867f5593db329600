import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import type { Dispatcher } from 'undici';
import type { DeployableKey } from '../../infra/bundle.ts';
import { loadParts } from '../../local/load-parts.ts';
import { DEFAULT_CONNECTION, secretName } from '../../shared/contract/names.ts';
import { type RecordedCall, startRecording } from '../emulated/recorder.ts';
import { startBenchStack } from '../emulated/world.ts';
import { createDirectory } from '../memory/directory.ts';
import type { BareCall, BareCalls } from './bare-calls.ts';
import { copyToOwnPartition, inOwnPartition } from './own-partition.ts';

const PREFIX = 'bench';
const PEOPLE = 200;

/** The local stack with a group of ten in sync and no pollers: the bench passes messages to the bundles itself. */
export async function startStage() {
  const real = { handlers: undefined as Awaited<ReturnType<typeof loadParts>>['handlers'] | undefined };
  const { stack, url, token, stop } = await startBenchStack({
    people: PEOPLE,
    coalesceSeconds: 0,
    loadParts: async () => {
      const parts = await loadParts();
      real.handlers = parts.handlers;
      return { ...parts, handlers: { ...parts.handlers, ingest: async () => ({}), apply: async () => ({}) } };
    },
  });
  const { handlers } = real;
  if (handlers === undefined) throw new Error('the parts were not loaded');
  const directory = createDirectory(Date.now);
  let joined = 10;
  const join = () => {
    joined += 1;
    return recordsOf(directory.added('d0', joined));
  };
  const apply = recordsOf({ connection: DEFAULT_CONNECTION, group: 'd0' });
  const settled = async () => void (await handlers.apply(apply as never, CONTEXT as never));
  const ingested = async (event: object) => void (await handlers.ingest(event as never, CONTEXT as never));
  await ingested(recordsOf(directory.snapshot('d0', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])));
  await settled();

  /** What each function is called with first; for apply a group is made dirty before. */
  const events: Readonly<Record<DeployableKey, () => Promise<object>>> = {
    ingest: async () => join(),
    apply: async () => {
      await settled();
      await ingested(join());
      return apply;
    },
    reconcile: async () => ({ task: 'feed' }),
    people: async () => ({}),
    scim: async () => lookUp(stack.address.scimToken),
    // No directory is read: it lists the connections and ends.
    directory: async () => ({}),
  };
  return {
    eventFor: (name: DeployableKey) => events[name](),
    /** The calls of a new worker's first event, to be made once more. */
    async recordFirst(name: DeployableKey): Promise<BareCalls> {
      // A module of its own, so that nothing is remembered from an earlier event.
      const { handler } = await import(`../../functions/${name}.ts?first`);
      const event = await events[name]();
      const recording = startRecording();
      await handler(event, CONTEXT);
      recording.stop();
      const { calls } = recording;
      await copyToOwnPartition(new DynamoDBClient({}), stack.address.table);
      return {
        applyQueueUrl: stack.address.applyQueueUrl,
        secret: secretName(PREFIX, DEFAULT_CONNECTION),
        platformUrl: url,
        token,
        calls: bareCalls(calls),
      };
    },
    stop,
  };
}

const CONTEXT = { awsRequestId: 'bench', getRemainingTimeInMillis: () => 60_000 };

/** A batch of one, as the event source mapping gives it. */
const recordsOf = (body: object) => ({
  Records: [
    {
      messageId: randomUUID(),
      receiptHandle: 'bench',
      body: JSON.stringify(body),
      attributes: { SentTimestamp: String(Date.now()) },
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:bench',
      messageAttributes: {},
    },
  ],
});

/** The secret is read before the first call to the platform; that is not recorded. */
function bareCalls(recorded: readonly RecordedCall[]): readonly BareCall[] {
  const calls = recorded.flatMap((call): readonly BareCall[] => {
    if (call.to === 'dynamodb') return [inOwnPartition(call)];
    if (call.to === 'platform') return [{ to: 'platform', path: pathOf(call.request) }];
    // The stack's own pollers receive meanwhile.
    return call.make.name === SendMessageBatchCommand.name ? [{ to: 'queue' }] : [];
  });
  const first = calls.findIndex(({ to }) => to === 'platform');
  return first < 0 ? calls : [...calls.slice(0, first), { to: 'secret' }, ...calls.slice(first)];
}

/** Writes become reads of the same thing: they would be refused here, being made a second time. */
const pathOf = ({ path, query = {} }: Dispatcher.RequestOptions): string => {
  const parameters = new URLSearchParams(query as Record<string, string>).toString();
  return parameters === '' ? path : `${path}?${parameters}`;
};

/** What providers ask before anything else: is this user known? As API Gateway gives it to the function. */
const lookUp = (token: string) => ({
  rawPath: '/scim/v2/Users',
  rawQueryString: 'filter=userName+eq+%22nobody%22',
  headers: { authorization: `Bearer ${token}` },
  requestContext: { http: { method: 'GET' }, domainName: 'bench.test' },
  isBase64Encoded: false,
});
