import type { DeadLetterCode } from '../../contract/names.ts';
import type { GroupRef } from '../../domain/ids.ts';
import type { Stamp } from '../../domain/stamp.ts';

/** Wakes groups: each message says only which group to look at, never what to do. */
export interface ApplyQueue {
  /**
   * Sends one message per group into the group's lane. Reads the clock last, when everything that the message is about
   * has been written: a message that SQS deduplicates away is then covered by the one that it kept.
   * @returns the groups whose message was not accepted
   */
  wake(groups: readonly GroupRef[]): Promise<readonly GroupRef[]>;
}

/** A message that cannot be handled, with the reason, on its way to a dead-letter queue. */
export interface DeadLetter {
  readonly messageId: string;
  readonly body: string;
  readonly code: DeadLetterCode;
  readonly message: string;
  /** Attributes of the original, and a stamp where the event had no time of its own. */
  readonly connection?: string | undefined;
  readonly stamp?: Stamp | undefined;
  /** Lane of the original, where its queue has lanes. */
  readonly group?: GroupRef;
}

export interface DeadLetterQueue {
  /** Whole or not at all. @returns ids of the messages that were not accepted, or do not fit: left to their queue */
  bury(letters: readonly DeadLetter[]): Promise<readonly string[]>;
}
