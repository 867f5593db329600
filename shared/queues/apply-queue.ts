import type { SQSClient } from '@aws-sdk/client-sqs';
import type { ApplyQueue } from '../sync/ports/queues.ts';
import { laneOf, windowId } from './lane.ts';
import { sendAll } from './sqs-batch.ts';

export interface ApplyQueueOptions {
  readonly queueUrl: string;
  readonly coalesceMs: number;
  readonly clock: () => number;
  readonly newId: () => string;
}

/** The apply queue (FIFO): its delay and the window belong together, see applyDelaySeconds. */
export function createApplyQueue(client: SQSClient, options: ApplyQueueOptions): ApplyQueue {
  const { queueUrl, coalesceMs, clock, newId } = options;
  return {
    async wake(groups) {
      const nowMs = clock();
      const refused = await sendAll(
        client,
        queueUrl,
        groups.map((ref) => ({
          MessageBody: JSON.stringify(ref),
          MessageGroupId: laneOf(ref),
          MessageDeduplicationId: coalesceMs === 0 ? newId() : windowId(ref, { nowMs, coalesceMs }),
        })),
      );
      return groups.filter((_, position) => refused.has(position));
    },
  };
}
