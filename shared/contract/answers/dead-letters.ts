import * as z from 'zod';
import { type Answer, count, instant, ms, nullable, text, Version } from './forms.ts';
import { GroupStateName } from './groups.ts';

const QueueName = z.enum(['events', 'apply']);

/** The dead-lettered messages with one cause. Ages are in milliseconds. */
const Cause = z.object({
  code: text,
  count,
  superseded: count,
  refused: count.describe('The number of these messages that ingest would refuse again now.'),
  oldestMs: ms,
  newestMs: ms,
});
export type Cause = Answer<typeof Cause>;

const DeadLetterSummary = z.object({
  id: text,
  queue: QueueName,
  code: text,
  message: text,
  source: nullable(text).describe('The CloudEvents source of the message; null if it has none.'),
  type: nullable(text).describe('The CloudEvents type of the message; null if it has none.'),
  connection: nullable(text).describe('The connection of the message; null if it is not known.'),
  group: nullable(text),
  ageMs: ms.describe('The time since the first failure. A replay does not reset this time.'),
  failures: count.describe('The number of failures; 1 if the message was never replayed.'),
  superseded: z.boolean(),
  refusal: nullable(text).describe('Why ingest would refuse the message again; null if it would not.'),
});
export type DeadLetterSummary = Answer<typeof DeadLetterSummary>;

export const Survey = z.object({
  queue: z.enum(['events', 'apply', 'all']),
  total: count.describe('The number of messages that were found or that another consumer has in flight.'),
  inFlightElsewhere: count,
  /** False if not all messages could be read in time. */
  complete: z.boolean(),
  causes: z.array(Cause),
  /** The first of the selected messages, up to the limit. The causes count all selected messages. */
  messages: z.array(DeadLetterSummary),
  selected: count,
});
export type Survey = Answer<typeof Survey>;

const CurrentGroupState = z.object({
  group: text,
  state: GroupStateName,
  wanted: count,
  platformId: nullable(text),
  version: Version,
  /** The number of users in the platform's group as last written or read. */
  users: count,
  lastError: nullable(text),
});

export const ShownDeadLetter = z.object({
  id: text,
  queue: QueueName,
  code: text,
  message: text,
  failedAt: instant,
  firstFailedAt: instant,
  failures: count,
  connection: nullable(text),
  superseded: z.boolean(),
  problems: z
    .array(text)
    .describe('The reasons why ingest would refuse the message; empty if ingest would accept the message.'),
  events: z.array(
    z.object({
      id: text,
      source: text,
      connection: text,
      time: nullable(text),
      kind: text,
      group: nullable(text),
      members: z.array(text),
    }),
  ),
  now: z.array(CurrentGroupState),
  body: text,
});
export type ShownDeadLetter = Answer<typeof ShownDeadLetter>;

export const ReplayReport = z.object({
  replayed: count,
  /** Messages that the queue or the table refused. They are still in the dead-letter queue. */
  failed: count,
  /**
   * Selected messages that are still in the queue: another consumer is reading them, the queue or the table refused
   * them, or they failed again during the replay.
   */
  remaining: count,
  failedAgain: count.describe('The number of remaining messages that the replay sent and that failed again.'),
  because: nullable(text).describe('The reason why the first of these messages failed again.'),
  cancelled: z.boolean(),
});
export type ReplayReport = Answer<typeof ReplayReport>;
