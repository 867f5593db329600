import type { BoundQueue, Rejection } from '../../contract/decode.ts';
import type { GroupRef } from '../../domain/ids.ts';

/** A group to wake after this time, at most 15 minutes. */
export interface Wake extends GroupRef {
  readonly afterMs?: number;
}

/** Wakes groups. A message contains only the group; apply decides what to do. */
export interface ApplyQueue {
  /** @returns the groups whose message was not accepted */
  wake(groups: readonly Wake[]): Promise<readonly GroupRef[]>;
}

/** A message that cannot be handled, with the reason, on its way to a dead-letter queue. */
export interface RejectedMessage extends Rejection {
  readonly messageId: string;
  /** The queue from which the message came, and to which a replay sends it. Absent for the common queue. */
  readonly queue?: string | undefined;
  /** For a replayed message: its earlier failures, in the form of the message attribute. */
  readonly failedBefore?: string | undefined;
  /** The group that an apply message named. */
  readonly group?: GroupRef;
}

export interface DeadLetterQueue {
  /**
   * Sends each message whole or not at all.
   * @returns the ids of messages that were not accepted or are too large, and stay in their queue
   */
  send(deadLetters: readonly RejectedMessage[]): Promise<readonly string[]>;
}

export interface EventSender {
  /** Returns for each message, in order, the id from SQS or the reason why the message was not accepted. */
  send(messages: readonly OutgoingEvent[]): Promise<readonly SendOutcome[]>;
}

export interface SendOutcome {
  readonly messageId?: string;
  readonly refused?: string;
}

export interface OutgoingEvent {
  readonly body: string;
  readonly connection?: string | undefined;
  readonly stamp?: string | undefined;
  /** The name of the queue, if it is not the common queue. */
  readonly queue?: string | undefined;
  readonly failedBefore?: string | undefined;
}

export interface DeadMessage {
  /** The SQS message id, which is the same at every receive. */
  readonly id: string;
  /** Identifies this receive. A call that returns or deletes the message needs this value. */
  readonly receipt: string;
  readonly body: string;
  readonly sentAtMs: number;
  /** `retries_exhausted` if SQS itself moved the message, without a reason. */
  readonly code: string;
  readonly message: string;
  /** The time at which the message was dead-lettered, as far as is known. */
  readonly failedAtMs: number;
  /** The number of times that the message was dead-lettered, including after replays. */
  readonly failures: number;
  readonly firstFailedAtMs: number;
  readonly connection?: string | undefined;
  readonly stamp?: string | undefined;
  readonly originalMessageId?: string | undefined;
  /** The queue from which the message came, as far as is known. */
  readonly queue?: string | undefined;
  /** Set if that queue belongs to one connection. Ingest applies its rules when the message is sent back. */
  readonly bound?: BoundQueue | undefined;
}

/** A dead-letter queue, as an operator's commands use it. */
export interface Mailbox {
  readonly name: 'events' | 'apply';
  /**
   * Receives up to `most` (at most ten) messages, and hides them from other consumers for `holdSeconds`. SQS may return
   * fewer messages, or none.
   */
  take(most: number, holdSeconds: number): Promise<readonly DeadMessage[]>;
  /** Keeps messages hidden for `holdSeconds` from now. An expired receipt does no harm. */
  hold(messages: readonly Pick<DeadMessage, 'receipt'>[], holdSeconds: number): Promise<void>;
  /** Makes messages visible again at once. An expired receipt does no harm. */
  giveBack(messages: readonly Pick<DeadMessage, 'receipt'>[]): Promise<void>;
  remove(messages: readonly Pick<DeadMessage, 'receipt'>[]): Promise<void>;
  /**
   * Returns approximate counts. `inFlight` counts messages that any consumer, including this one, has received and
   * still holds.
   */
  counts(): Promise<{ readonly visible: number; readonly inFlight: number }>;
}
