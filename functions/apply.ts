import '../shared/runtime/cold-start.ts';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { reportApply, reportCrash } from '../shared/runtime/report.ts';
import { wireApply } from '../shared/runtime/wire-platform.ts';
import { applyGroup } from '../shared/sync/apply/apply.ts';
import { retry } from './frame/batch.ts';
import { type Lane, lanesOf } from './frame/lanes.ts';
import { once } from './frame/once.ts';

const wired = once(wireApply);

/** Apply queue → platform. A message comes again only where our own table or queue failed. */
export async function handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  const { ports, ...base } = wired();
  const logger = base.logger.with({ requestId: context.awsRequestId });
  const failed: string[] = [];
  const applyOne = async ({ ref, messageIds }: Lane) => {
    try {
      reportApply(await applyGroup(ref, ports), { ...base, logger });
    } catch (error) {
      reportCrash(ref, error, { ...base, logger });
      failed.push(...messageIds);
    }
  };
  const { lanes, unreadable } = lanesOf(event.Records);
  for (const messageId of unreadable) logger.error('not an apply message', { messageId });
  await Promise.all(lanes.map(applyOne));
  return retry(failed);
}
