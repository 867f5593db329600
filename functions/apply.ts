import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { readApplyMessage } from '../shared/contract/invocation.ts';
import { reportApply, reportCrash } from '../shared/runtime/report.ts';
import { wireApply } from '../shared/runtime/wire-platform.ts';
import { applyGroup } from '../shared/sync/apply/apply.ts';
import { retry } from './frame/batch.ts';
import { once } from './frame/once.ts';

const wired = once(wireApply);

/** Apply queue → platform. A message comes again only where our own table or queue failed. */
export async function handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  const { ports, ...base } = wired();
  const logger = base.logger.with({ requestId: context.awsRequestId });
  const failed: string[] = [];
  const applyOne = async ({ messageId, body }: SQSRecord) => {
    const ref = readApplyMessage(body);
    if (ref === undefined) return logger.error('not an apply message', { messageId });
    try {
      reportApply(await applyGroup(ref, ports), { ...base, logger });
    } catch (error) {
      reportCrash(ref, error, { ...base, logger });
      failed.push(messageId);
    }
  };
  await Promise.all(event.Records.map(applyOne));
  return retry(failed);
}
