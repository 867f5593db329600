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

/** A message that a function could not process, with the reason, for a dead-letter queue. */
export interface RejectedMessage extends Rejection {
  readonly messageId: string;
  /** The queue from which the message came. A replay sends the message to this queue. Absent for the common queue. */
  readonly queue?: string | undefined;
  /** For a replayed message: its earlier failures, in the form of the message attribute. */
  readonly failedBefore?: string | undefined;
  readonly sentBy?: string | undefined;
  readonly group?: GroupRef;
}

export interface DeadLetterQueue {
  /**
   * Sends the messages. If a part of a received message is too large, no part of it is sent.
   * @returns the ids of messages that were not sent or not accepted. These messages must stay in their queue
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
  /** The operator who first sent a replayed message by hand. By default, the caller counts as the sender. */
  readonly sentBy?: string | undefined;
}

export interface DeadMessage {
  /** The SQS message id. It is the same each time the message is received. */
  readonly id: string;
  /** The SQS receipt handle of this receive. A call that returns or deletes the message needs it. */
  readonly receipt: string;
  readonly body: string;
  readonly sentAtMs: number;
  /** `retries_exhausted` if SQS itself moved the message, without a reason. */
  readonly code: string;
  readonly message: string;
  /** The time at which the message was dead-lettered; if it is unknown, the time at which the message was sent. */
  readonly failedAtMs: number;
  /** The number of times that the message was dead-lettered, including failures after a replay. */
  readonly failures: number;
  readonly firstFailedAtMs: number;
  readonly connection?: string | undefined;
  readonly stamp?: string | undefined;
  readonly sentBy?: string | undefined;
  readonly originalMessageId?: string | undefined;
  /** The queue from which the message came; undefined if it is not known. */
  readonly queue?: string | undefined;
  /** Set if that queue belongs to one connection. Ingest applies the rules of this queue to a replay of the message. */
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
  /** Makes messages visible again immediately. An expired receipt does no harm. */
  giveBack(messages: readonly Pick<DeadMessage, 'receipt'>[]): Promise<void>;
  remove(messages: readonly Pick<DeadMessage, 'receipt'>[]): Promise<void>;
  /** Returns approximate counts. `inFlight` includes the messages that this consumer has received and still holds. */
  counts(): Promise<{ readonly visible: number; readonly inFlight: number }>;
}
