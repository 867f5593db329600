import type { SQSClient } from '@aws-sdk/client-sqs';
import { LONGEST_DELAY_SECONDS } from '../contract/topology.ts';
import type { ApplyQueue } from '../sync/ports/queues.ts';
import { sendAll, sendable } from './sqs-batch.ts';

/**
 * Creates the queue of apply messages. Each connection is one SQS message group (a fair queue), so a backlog of one
 * company does not delay other companies.
 */
export const createApplyQueue = (client: SQSClient, queueUrl: () => Promise<string>): ApplyQueue => ({
  async wake(groups) {
    if (groups.length === 0) return [];
    const messages = groups.map(({ connection, group, afterMs = 0 }) => ({
      MessageBody: sendable(JSON.stringify({ connection, group })),
      MessageGroupId: connection,
      DelaySeconds: Math.min(LONGEST_DELAY_SECONDS, Math.max(0, Math.ceil(afterMs / 1_000))),
    }));
    const refused = await sendAll(client, await queueUrl(), messages);
    return groups.filter((_, position) => refused.has(position));
  },
});
