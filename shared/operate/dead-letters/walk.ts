import type { DeadMessage, Mailbox } from '../../sync/ports/queues.ts';

/** How long a message that we look at is hidden from others: what a killed process held is back after this. */
export const HOLD_SECONDS = 30;
/** A walk ends before the first hold does, so that nobody else gets what we are still looking at. */
const LONGEST_WALK_MS = 25_000;
const TAKE = 10;
const TAKES_AT_ONCE = 4;
/** Long polls that bring nothing new before the queue counts as empty, where more was expected. */
const VAIN_TAKES = 3;

export interface WalkOptions {
  readonly clock: () => number;
  readonly signal?: AbortSignal | undefined;
  /** Where given, messages that somebody else looks at are waited for; told how many these are, and for how long at most. */
  readonly onElsewhere?: ((messages: number, seconds: number) => void) | undefined;
}

export interface WalkResult {
  /** Nothing was left when the walk ended; false where time ran out first. */
  readonly complete: boolean;
  readonly found: number;
  /** Messages that another consumer had in flight at the end. */
  readonly elsewhere: number;
}

/**
 * Shows every message of a dead-letter queue once and puts all of them back. A message that comes twice, because its
 * hold ran out or SQS delivered it again, is shown once. Memory: an id and a receipt for each message.
 * @param look false ends the walk
 */
export async function walkMailbox(
  mailbox: Mailbox,
  { clock, signal, onElsewhere }: WalkOptions,
  look: (messages: readonly DeadMessage[]) => Promise<boolean>,
): Promise<WalkResult> {
  const endMs = clock() + LONGEST_WALK_MS;
  const receipts = new Map<string, string>();
  const { visible: expected } = await mailbox.counts();
  let vain = 0;
  let wanted = true;
  try {
    while (wanted && clock() < endMs && signal?.aborted !== true) {
      const taken = await takeSome(mailbox, expected - receipts.size);
      const fresh = distinct(taken).filter(({ id }) => !receipts.has(id));
      for (const { id, receipt } of taken) receipts.set(id, receipt);
      vain = fresh.length === 0 ? vain + 1 : 0;
      if (fresh.length > 0) wanted = await look(fresh);
      else if (receipts.size < expected && vain < VAIN_TAKES) continue;
      else {
        const elsewhere = (await mailbox.counts()).inFlight - receipts.size;
        if (elsewhere <= 0 || onElsewhere === undefined) break;
        onElsewhere(elsewhere, Math.ceil((endMs - clock()) / 1_000));
      }
    }
    const { inFlight } = await mailbox.counts();
    return {
      complete: wanted && clock() < endMs && signal?.aborted !== true,
      found: receipts.size,
      elsewhere: Math.max(0, inFlight - receipts.size),
    };
  } finally {
    await mailbox.giveBack([...receipts.values()].map((receipt) => ({ receipt })));
  }
}

async function takeSome(mailbox: Mailbox, left: number): Promise<readonly DeadMessage[]> {
  const takes = Math.min(TAKES_AT_ONCE, Math.max(1, Math.ceil(left / TAKE)));
  const batches = Array.from({ length: takes }, () => mailbox.take(TAKE, HOLD_SECONDS));
  return (await Promise.all(batches)).flat();
}

const distinct = (messages: readonly DeadMessage[]): readonly DeadMessage[] => [
  ...new Map(messages.map((message) => [message.id, message])).values(),
];
