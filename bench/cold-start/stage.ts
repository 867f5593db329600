import { randomUUID } from 'node:crypto';
import { loadParts } from '../../local/load-parts.ts';
import { createSimulator } from '../../local/platform/simulator.ts';
import { startStack } from '../../local/stack.ts';
import { DEFAULT_CONNECTION, secretName } from '../../shared/contract/names.ts';
import { worldOf } from '../emulated/world.ts';
import { createDirectory } from '../memory/directory.ts';

const PREFIX = 'bench';
const TOKEN = 'bench-token';
const PEOPLE = 200;
const NEVER_SECONDS = 86_400;

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
  await handlers.apply(applyEvent, CONTEXT as never);
  return {
    joinEvent,
    applyEvent,
    /** Makes the group dirty, so that the next apply has a write to do. */
    join: () => ingest(joinEvent()),
    bare: {
      table: stack.address.table,
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
