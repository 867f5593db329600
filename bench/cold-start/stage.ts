import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { loadParts } from '../../local/load-parts.ts';
import { createSimulator } from '../../local/platform/simulator.ts';
import { startStack } from '../../local/stack.ts';
import { DEFAULT_CONNECTION, secretName } from '../../shared/contract/names.ts';
import { connectionName, groupId } from '../../shared/domain/ids.ts';
import { wireIngest } from '../../shared/runtime/wire.ts';
import { wireApply } from '../../shared/runtime/wire-platform.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { ingest as ingestMessages } from '../../shared/sync/ingest/ingest.ts';
import { startRecording } from '../emulated/recorder.ts';
import { worldOf } from '../emulated/world.ts';
import { createDirectory } from '../memory/directory.ts';
import { copyToOwnPartition, inOwnPartition } from './own-partition.ts';

const PREFIX = 'bench';
const TOKEN = 'bench-token';
const PEOPLE = 200;
const NEVER_SECONDS = 86_400;
const GROUP = { connection: connectionName(DEFAULT_CONNECTION), group: groupId('d0') };

/** The local stack with a group of ten in step, and nobody taking messages: the bench hands them to the bundles itself. */
export async function startStage() {
  const world = worldOf({ people: PEOPLE, token: TOKEN });
  const simulator = createSimulator({ world, clock: Date.now, newId: randomUUID });
  const { url } = await simulator.listen();
  const real = { handlers: undefined as Awaited<ReturnType<typeof loadParts>>['handlers'] | undefined };
  const stack = await startStack({
    prefix: PREFIX,
    coalesceSeconds: 0,
    ports: { aws: 0, sqs: 0 },
    tables: undefined,
    secrets: undefined,
    platform: { url, token: TOKEN, company: world.companies[0]?.id ?? '' },
    settings: [['guard', null]],
    everySeconds: {
      people: NEVER_SECONDS,
      feed: NEVER_SECONDS,
      sweep: NEVER_SECONDS,
      pump: NEVER_SECONDS,
      health: NEVER_SECONDS,
    },
    loadParts: async () => {
      const parts = await loadParts();
      real.handlers = parts.handlers;
      return { ...parts, handlers: { ...parts.handlers, ingest: async () => ({}), apply: async () => ({}) } };
    },
    onError: (message) => console.error(message),
  });
  const { handlers } = real;
  if (handlers === undefined) throw new Error('the parts were not loaded');
  const directory = createDirectory(Date.now);
  let joined = 10;
  const joinEvent = () => {
    joined += 1;
    return recordsOf(directory.added('d0', joined));
  };
  const ingest = async (event: object) => void (await handlers.ingest(event, CONTEXT as never));
  const applyEvent = recordsOf({ connection: DEFAULT_CONNECTION, group: 'd0' });
  await ingest(
    recordsOf(
      directory.snapshot(
        'd0',
        Array.from({ length: 10 }, (_, n) => n),
      ),
    ),
  );
  const apply = async () => void (await handlers.apply(applyEvent, CONTEXT as never));
  await apply();
  return {
    joinEvent,
    applyEvent,
    /** Makes the group dirty, so that the next apply has a write to do. */
    join: () => ingest(joinEvent()),
    /** What the first event of a new worker calls, its requests to DynamoDB ready to be made once more. */
    async recordFirst(name: 'ingest' | 'apply') {
      if (name === 'apply') {
        await apply();
        await ingest(joinEvent());
      }
      const recording = startRecording();
      if (name === 'apply') await applyGroup(GROUP, wireApply().ports);
      else await ingestMessages([messageOf(joinEvent())], wireIngest().ports);
      recording.stop();
      const { calls } = recording;
      await copyToOwnPartition(new DynamoDBClient({}), stack.address.table);
      return {
        table: inOwnPartition(calls),
        // The stack's own pollers receive meanwhile.
        sqs: calls.filter((call) => call.to === 'sqs' && call.make.name === SendMessageBatchCommand.name)
          .length,
        platform: calls.filter(({ to }) => to === 'platform').length,
      };
    },
    bare: {
      applyQueueUrl: stack.address.applyQueueUrl,
      secret: secretName(PREFIX, DEFAULT_CONNECTION),
      platformUrl: url,
      token: TOKEN,
    },
    async stop() {
      await stack.stop();
      await simulator.close();
    },
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
      attributes: { SentTimestamp: String(Date.now()), MessageGroupId: 'bench' },
      messageAttributes: {},
    },
  ],
});

const messageOf = ({ Records }: ReturnType<typeof recordsOf>) => {
  const [{ messageId, body } = { messageId: '', body: '' }] = Records;
  return { messageId, body, sentAtMs: Date.now() };
};
