import type { SQSRecord } from 'aws-lambda';
import { readApplyMessage } from '../../shared/contract/invocation.ts';
import type { GroupRef } from '../../shared/domain/ids.ts';

/** The messages of one batch that are about one group. */
export interface Lane {
  readonly ref: GroupRef;
  readonly messageIds: readonly string[];
}

/** Messages about one group are one look at it: two at once would only meet each other's guard records and intents. */
export function lanesOf(records: readonly SQSRecord[]) {
  const byGroup = new Map<string, { readonly ref: GroupRef; readonly messageIds: string[] }>();
  const unreadable: string[] = [];
  for (const { messageId, body } of records) {
    const ref = readApplyMessage(body);
    if (ref === undefined) {
      unreadable.push(messageId);
      continue;
    }
    const key = JSON.stringify([ref.connection, ref.group]);
    const lane = byGroup.get(key) ?? { ref, messageIds: [] };
    lane.messageIds.push(messageId);
    byGroup.set(key, lane);
  }
  return { lanes: [...byGroup.values()], unreadable };
}
