import { createHash } from 'node:crypto';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { GroupRef } from '../domain/ids.ts';
import type { ApplyQueue } from '../sync/ports/queues.ts';
import { sendAll } from './sqs-batch.ts';

interface ApplyQueueOptions {
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

/**
 * Hex sha256 of a length-prefixed tuple, which no two tuples share. SQS takes neither spaces nor anything outside
 * ASCII in MessageGroupId and MessageDeduplicationId (at most 128 characters), and directory ids may hold both.
 */
export function tupleHash(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest('hex');
}

/** One group is one lane: its messages are handled one after the other. */
export const laneOf = ({ connection, group }: GroupRef): string => tupleHash(connection, group);

/**
 * Wake-ups of one group within one window are one message: SQS keeps the first and drops the others for five minutes,
 * and the first is delivered only after the window's end, so what the dropped ones were about is written by then.
 *
 *     window n            |████████████|            |      now / W = n for all of these
 *     writes, sends         w1 s1   w2 s2            s2 is dropped, s1 is delivered at s1 + W + 2 s
 *     delivery                               ▲       ≥ end of window + 2 s: w2 has been written
 */
function windowId(ref: GroupRef, { nowMs, coalesceMs }: { nowMs: number; coalesceMs: number }): string {
  const window = Math.floor(nowMs / coalesceMs);
  return tupleHash(ref.connection, ref.group, String(coalesceMs), String(window));
}
