/** A message of a dead-letter queue, as it was received. */
export interface DeadMessage {
  /** SQS message id: the same at every receive. */
  readonly id: string;
  /** Names this receive: what gives the message back, or deletes it. */
  readonly receipt: string;
  readonly body: string;
  readonly sentAtMs: number;
  /** `retries_exhausted` where SQS itself moved the message and nobody gave a reason. */
  readonly code: string;
  readonly message: string;
  /** When it was dead-lettered, as far as is known. */
  readonly failedAtMs: number;
  readonly connection?: string | undefined;
  readonly stamp?: string | undefined;
  readonly originalMessageId?: string | undefined;
}

export interface MailboxCounts {
  readonly visible: number;
  /** Received by somebody (perhaps by us) and not yet given back or deleted. */
  readonly inFlight: number;
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
  /** SQS's counts are approximate: true a moment ago. */
  counts(): Promise<MailboxCounts>;
}
