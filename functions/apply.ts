import '../shared/runtime/cold-start.ts';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { readApplyMessage } from '../shared/contract/invocation.ts';
import type { GroupRef } from '../shared/domain/ids.ts';
import { reportApply, reportCrash } from '../shared/runtime/report.ts';
import { wireApply } from '../shared/runtime/wire-platform.ts';
import { applyGroup } from '../shared/sync/apply/apply.ts';
import { once } from './frame/once.ts';

const wired = once(wireApply);

/**
 * Writes the groups of apply messages to the platform. If the work on a group throws an error, for example because the
 * table fails, its messages stay in the queue and are received again.
 */
export async function handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  const { ports, ...base } = wired();
  const logger = base.logger.with({ requestId: context.awsRequestId });
  const failed: string[] = [];
  const applyOne = async (ref: GroupRef, messageIds: readonly string[]) => {
    try {
      reportApply(await applyGroup(ref, ports), logger);
    } catch (error) {
      reportCrash(ref, error, logger);
      failed.push(...messageIds);
    }
  };
  // Several messages of one group start only one apply, because concurrent applies of one group would count each
  // other's guard records.
  const groups = new Map<string, readonly [GroupRef, string[]]>();
  for (const { messageId, body } of event.Records) {
    const ref = readApplyMessage(body);
    if (ref === undefined) logger.error('not an apply message', { messageId });
    else {
      const key = JSON.stringify([ref.connection, ref.group]);
      groups.set(key, [ref, [...(groups.get(key)?.[1] ?? []), messageId]]);
    }
  }
  await Promise.all([...groups.values()].map(([ref, messageIds]) => applyOne(ref, messageIds)));
  await ports.recordCalls();
  return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
}
