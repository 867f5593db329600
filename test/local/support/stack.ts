import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { parseWorld } from '../../../local/platform/state/world.ts';
import { startLocalStack } from '../../support/local-stack.ts';
import { CREDENTIALS } from './queue.ts';

/** Starts a local stack with access to its schedules, its dead-letter queues and the platform's records. */
export async function startTestStack(options: { world: unknown; coalesceSeconds: number }) {
  const { coalesceSeconds } = options;
  const local = await startLocalStack({ world: parseWorld(options.world), coalesceSeconds, pumpSeconds: 2 });
  const { stack, logs, control } = local;
  return {
    ...local,
    parts: stack.parts,
    /** Returns the handlers' log entries with this message. */
    logged: (message: string) =>
      logs
        .flatMap((text) => text.split('\n'))
        .filter((line) => line.includes(`"message":"${message}"`))
        .map((line): Record<string, unknown> => JSON.parse(line)),
    /** Runs a function as a schedule does. */
    async invoke(name: string, event: object): Promise<void> {
      const lambda = new LambdaClient({ ...CREDENTIALS, endpoint: stack.address.lambda });
      const command = new InvokeCommand({
        FunctionName: `groupsync-${name}`,
        Payload: JSON.stringify(event),
      });
      const { FunctionError, Payload } = await lambda.send(command);
      if (FunctionError !== undefined) throw new Error(Payload?.transformToString());
    },
    /** Receives and deletes all messages of the events' dead-letter queue. */
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
    async platformState() {
      type Group = { id: string; spokeId: string | null; name: string; users: string[] };
      const { companies } = (await control('state')) as { companies: { groups: Group[] }[] };
      return companies[0]?.groups ?? [];
    },
  };
}
