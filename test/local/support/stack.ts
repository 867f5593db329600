import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
} from '@aws-sdk/client-sqs';
import { vi } from 'vitest';
import { untilConverged } from '../../../local/convergence.ts';
import { loadParts } from '../../../local/load-parts.ts';
import { openPlatform } from '../../../local/open-platform.ts';
import { parseWorld } from '../../../local/platform/state/world.ts';
import type { GroupReport } from '../../../local/report.ts';
import { startStack } from '../../../local/stack.ts';
import { DEFAULT_CONNECTION } from '../../../shared/contract/names.ts';
import { CREDENTIALS } from './queue.ts';

const PREFIX = 'test';
const NEVER_SECONDS = 3_600;

export interface PlatformRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly seq: number;
  /** Where the simulator broke the connection. */
  readonly dropped?: string;
}

/**
 * The local stack with the deployed handlers, in this process and without demo data. Handlers keep their clients from
 * their first call on, so a test file has one stack.
 */
export async function startTestStack(options: {
  world: unknown;
  coalesceSeconds: number;
  /** Milliseconds between two looks at whether anything moves. */
  pollMs?: number;
}) {
  const logs: string[] = [];
  const stdout = vi
    .spyOn(process.stdout, 'write')
    .mockImplementation((chunk) => logs.push(String(chunk)) > 0);
  const world = parseWorld(options.world);
  const platform = await openPlatform({ world, dataFile: undefined, port: 0 });
  const errors: string[] = [];
  const stack = await startStack({
    prefix: PREFIX,
    coalesceSeconds: options.coalesceSeconds,
    ports: { aws: 0, sqs: 0 },
    tables: undefined,
    secrets: undefined,
    platform,
    settings: [['guard', null]],
    everySeconds: {
      people: NEVER_SECONDS,
      feed: NEVER_SECONDS,
      sweep: NEVER_SECONDS,
      health: NEVER_SECONDS,
      pump: 2,
    },
    loadParts,
    onError: (message) => errors.push(message),
  });
  const control = async (path: string, init?: RequestInit) => {
    const answer = await fetch(`${platform.url}/_simulator/${path}`, init);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json() as Promise<unknown>;
  };
  const readGroups = () => stack.parts.readGroups(DEFAULT_CONNECTION);
  return {
    ...stack,
    /** Everything that the handlers logged. */
    logs,
    /** Their lines of one kind. */
    logged: (message: string) =>
      logs
        .flatMap((text) => text.split('\n'))
        .filter((line) => line.includes(`"message":"${message}"`))
        .map((line): { time: string } & Record<string, unknown> => JSON.parse(line)),
    /** Batches that came back whole, and queues that could not be read. */
    errors,
    control,
    /** Runs a function as a schedule would. */
    async invoke(name: string, event: object): Promise<void> {
      const lambda = new LambdaClient({ ...CREDENTIALS, endpoint: stack.address.lambda });
      const command = new InvokeCommand({
        FunctionName: `${PREFIX}-${name}`,
        Payload: JSON.stringify(event),
      });
      const { FunctionError, Payload } = await lambda.send(command);
      if (FunctionError !== undefined) throw new Error(Payload?.transformToString());
    },
    /** Everything in the events' dead-letter queue, which is empty afterwards. */
    async deadLetters(): Promise<readonly Message[]> {
      const QueueUrl = stack.address.eventsDlqUrl;
      const all: Message[] = [];
      for (;;) {
        const request = { QueueUrl, MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] };
        const { Messages = [] } = await stack.sqs.send(new ReceiveMessageCommand(request));
        if (Messages.length === 0) return all;
        all.push(...Messages);
        const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
        await stack.sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
      }
    },
    /** The groups once nothing moves any more. */
    async converge(timeoutMs = 150_000): Promise<readonly GroupReport[]> {
      const outcome = await untilConverged({
        client: stack.sqs,
        eventsQueueUrl: stack.address.eventsQueueUrl,
        applyQueueUrl: stack.address.applyQueueUrl,
        readGroups,
        onStanding: () => undefined,
        signal: AbortSignal.timeout(timeoutMs),
        pollMs: options.pollMs ?? 50,
      });
      if (!outcome.converged) throw new Error(`not converged after ${timeoutMs} ms`);
      return outcome.groups;
    },
    /** Sends message bodies as any client of SQS would, ten at a time. @returns their message ids */
    async send(bodies: readonly string[]): Promise<readonly string[]> {
      const ids: string[] = [];
      const batches = Array.from({ length: Math.ceil(bodies.length / 10) }, (_, n) =>
        bodies.slice(n * 10, n * 10 + 10),
      );
      for (const batch of batches) {
        const Entries = batch.map((MessageBody, index) => ({ Id: String(index), MessageBody }));
        const QueueUrl = stack.address.eventsQueueUrl;
        const { Successful = [], Failed = [] } = await stack.sqs.send(
          new SendMessageBatchCommand({ QueueUrl, Entries }),
        );
        if (Failed.length > 0) throw new Error(JSON.stringify(Failed));
        const sent = new Map(Successful.map(({ Id, MessageId = '' }) => [Id, MessageId]));
        ids.push(...Entries.map(({ Id }) => sent.get(Id) ?? ''));
      }
      return ids;
    },
    async platformState() {
      type Group = { id: string; spokeId: string | null; name: string; users: string[] };
      const { companies } = (await control('state')) as { companies: { groups: Group[] }[] };
      return companies[0]?.groups ?? [];
    },
    async requests(since = 0) {
      return (await control(`requests?since=${since}&bodies=1`)) as {
        requests: (PlatformRequest & { body?: unknown })[];
        next: number;
      };
    },
    async close() {
      await stack.stop();
      await platform.close();
      stdout.mockRestore();
    },
  };
}
