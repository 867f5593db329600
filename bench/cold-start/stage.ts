import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import type { Dispatcher } from 'undici';
import type { DeployableKey } from '../../infra/function-code.ts';
import { loadParts } from '../../local/load-parts.ts';
import { DEFAULT_CONNECTION, secretName } from '../../shared/contract/names.ts';
import { type RecordedCall, startRecording } from '../emulated/recorder.ts';
import { startBenchStack } from '../emulated/world.ts';
import { createDirectory } from '../memory/directory.ts';
import type { BareCall, BareCalls } from './bare-calls.ts';
import { copyToOwnPartition, inOwnPartition } from './own-partition.ts';

const PREFIX = 'bench';
const PEOPLE = 200;

/** All functions except the console, whose sign-in takes longer than its start. */
export type MeasuredKey = Exclude<DeployableKey, 'console'>;

/** Starts the local stack with a synced group of ten. Its pollers do nothing. The benchmark sends the messages. */
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

  /** Returns the first event of each function. For apply, it first makes a group dirty. */
  const events: Readonly<Record<MeasuredKey, () => Promise<object>>> = {
    ingest: async () => join(),
    apply: async () => {
      await settled();
      await ingested(join());
      return apply;
    },
    reconcile: async () => ({ task: 'feed' }),
    people: async () => ({}),
    scim: async () => userLookup(stack.address.scimToken),
    // No connection has a directory, so the function only lists the connections.
    directory: async () => ({}),
  };
  return {
    eventFor: (name: MeasuredKey) => events[name](),
    /** Records the calls that a new instance of the function makes for its first event. */
    async recordFirst(name: MeasuredKey): Promise<BareCalls> {
      // The query `?first` creates a separate module instance without caches of an earlier event.
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

/** Returns a batch of one message, as the event source mapping delivers it. */
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

/** Converts recorded calls to bare calls, and adds the read of the secret, which is not recorded. */
function bareCalls(recorded: readonly RecordedCall[]): readonly BareCall[] {
  const calls = recorded.flatMap((call): readonly BareCall[] => {
    if (call.to === 'dynamodb') return [inOwnPartition(call)];
    if (call.to === 'platform') return [{ to: 'platform', path: pathOf(call.request) }];
    // The recording also contains calls of the stack's pollers. These calls are dropped.
    return call.make.name === SendMessageBatchCommand.name ? [{ to: 'queue' }] : [];
  });
  const first = calls.findIndex(({ to }) => to === 'platform');
  return first < 0 ? calls : [...calls.slice(0, first), { to: 'secret' }, ...calls.slice(first)];
}

/** A write is repeated as a read of the same path, because the platform would reject a second write. */
const pathOf = ({ path, query = {} }: Dispatcher.RequestOptions): string => {
  const parameters = new URLSearchParams(query as Record<string, string>).toString();
  return parameters === '' ? path : `${path}?${parameters}`;
};

/** An event of API Gateway with the first request of most identity providers: it asks whether a user exists. */
const userLookup = (token: string) => ({
  rawPath: '/scim/v2/Users',
  rawQueryString: 'filter=userName+eq+%22nobody%22',
  headers: { authorization: `Bearer ${token}` },
  requestContext: { http: { method: 'GET' }, domainName: 'bench.test' },
  isBase64Encoded: false,
});
