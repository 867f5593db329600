import type { BoundQueue, Rejection } from '../../contract/decode.ts';
import type { GroupRef } from '../../domain/ids.ts';

/** A group to be looked at, after so long: a quarter of an hour at most. */
export interface Wake extends GroupRef {
  readonly afterMs?: number;
}

/** Wakes groups: each message says only which group to look at, never what to do. */
export interface ApplyQueue {
  /** @returns the groups whose message was not accepted */
  wake(groups: readonly Wake[]): Promise<readonly GroupRef[]>;
}

/** A message that cannot be handled, with the reason, on its way to a dead-letter queue. */
export interface RejectedMessage extends Rejection {
  readonly messageId: string;
  /** The queue that it came from, and goes back to, where that is not the common one. */
  readonly queue?: string | undefined;
  /** Of a message that was sent again: its earlier failures, in the form of the message attribute. */
  readonly failedBefore?: string | undefined;
  /** The group that an apply message was about. */
  readonly group?: GroupRef;
}

export interface DeadLetterQueue {
  /** Whole or not at all. @returns ids of the messages that were not accepted, or do not fit: left to their queue */
  send(deadLetters: readonly RejectedMessage[]): Promise<readonly string[]>;
}

/** Puts messages on the events queue. */
export interface EventSender {
  /** In the order of the messages: the id that SQS gave to each, or why it was not accepted. */
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
  /** Another queue than the common one, by its name. */
  readonly queue?: string | undefined;
  readonly failedBefore?: string | undefined;
}

/** A message of a dead-letter queue, as it was received. */
export interface DeadMessage {
  /** SQS message id: the same at every receive. */
  readonly id: string;
  /** Names this receive: what gives the message back, or deletes it. */
  readonly receipt: string;
  readonly body: string;
  readonly sentAtMs: number;
  /** `retries_exhausted` if SQS itself moved the message, without a reason. */
  readonly code: string;
  readonly message: string;
  /** When it was dead-lettered, as far as is known. */
  readonly failedAtMs: number;
  /** Replays counted in: how often it was dead-lettered, and when first. */
  readonly failures: number;
  readonly firstFailedAtMs: number;
  readonly connection?: string | undefined;
  readonly stamp?: string | undefined;
  readonly originalMessageId?: string | undefined;
  /** The queue that it came from, as far as is known. */
  readonly queue?: string | undefined;
  /** Set for a queue of one connection: ingest applies that queue's rules if the message is sent back there. */
  readonly bound?: BoundQueue | undefined;
}

/** A dead-letter queue as a person works through it. */
export interface Mailbox {
  readonly name: 'events' | 'apply';
  /** Up to `most` (at most ten) messages, hidden from everybody else for so many seconds. Few or none may come. */
  take(most: number, holdSeconds: number): Promise<readonly DeadMessage[]>;
  /** Keeps messages hidden for so many seconds from now. A receipt that has run out does no harm. */
  hold(messages: readonly Pick<DeadMessage, 'receipt'>[], holdSeconds: number): Promise<void>;
  /** Makes messages visible again at once. A receipt that has run out does no harm. */
  giveBack(messages: readonly Pick<DeadMessage, 'receipt'>[]): Promise<void>;
  remove(messages: readonly Pick<DeadMessage, 'receipt'>[]): Promise<void>;
  /** Approximate, a moment old. In flight: received by any consumer, also this one, and not yet returned or deleted. */
  counts(): Promise<{ readonly visible: number; readonly inFlight: number }>;
}
