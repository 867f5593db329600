import type { Survey } from '../../shared/contract/answers.ts';
import type { Mailbox } from '../../shared/sync/ports/queues.ts';
import type { Output } from '../output/output.ts';
import { duration } from '../output/words.ts';

export type QueueName = Mailbox['name'];

export interface QueueOption {
  readonly queue?: QueueName;
}

export const queuesOf = ({ queue }: QueueOption): readonly QueueName[] =>
  queue === undefined ? ['events', 'apply'] : [queue];

export interface ReplayFlags extends QueueOption {
  readonly group?: string;
  readonly code?: string;
  readonly all?: boolean;
  readonly rate?: number;
}

export function printCauses({ causes }: Pick<Survey, 'causes'>, { table }: Pick<Output, 'table'>): void {
  if (causes.length === 0) return;
  table(causes, [
    { title: 'cause', of: ({ code }) => code, whole: true },
    { title: 'count', of: ({ count }) => count, align: 'right' },
    { title: 'superseded', of: ({ superseded }) => superseded, align: 'right' },
    { title: 'oldest', of: ({ oldestMs }) => duration(oldestMs), align: 'right' },
    { title: 'newest', of: ({ newestMs }) => duration(newestMs), align: 'right' },
  ]);
}
