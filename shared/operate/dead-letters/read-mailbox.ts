import type { DeadMessage, Mailbox } from '../../sync/ports/queues.ts';

/** How long a read hides a message from other consumers. After a crash, the message becomes visible at that time. */
export const HOLD_SECONDS = 30;
/** The maximum duration of a read, except of a replay or of a discard. It is below `HOLD_SECONDS`. */
export const MAX_READ_MS = 25_000;
/** The interval at which the visibility timeout of hidden messages is renewed. */
const RENEW_AFTER_MS = (HOLD_SECONDS * 1_000) / 3;
/** How long to wait for messages that another consumer or a killed process has hidden. Each empty poll takes 1 s. */
const PATIENCE_SECONDS = HOLD_SECONDS + 5;
const TAKE = 10;
/** After this number of polls without a new message, the read ignores messages that the queue reports as visible. */
const MAX_EMPTY_POLLS = 3;

export interface ReadMailboxOptions {
  readonly clock: () => number;
  readonly signal?: AbortSignal | undefined;
  /** The maximum duration of the read. Default: the read ends when `handle` has received every message. */
  readonly longestMs?: number;
  /** The maximum number of messages for one call of `handle`. */
  readonly most?: number;
  /** How long to wait for messages that another consumer has hidden. Callers that read the queue again soon use 0. */
  readonly patienceSeconds?: number | undefined;
  /** Called before each poll of a wait, with the number of messages in flight and the longest remaining wait. */
  readonly onElsewhere?: ((messages: number, seconds: number) => void) | undefined;
}

export type Held = ReturnType<typeof hold>;

/**
 * Passes every message of a dead-letter queue to `handle` once. All messages stay hidden until the end of the read.
 * Otherwise a slow read would receive the same messages repeatedly, and never receive the last ones. At the end, all
 * messages that were not removed become visible. Only the id and receipt of each message are in memory.
 * @param handle handles messages; if it returns false, the read ends
 * @returns the number of messages found, whether the whole queue was read, and how many messages another consumer had
 * in flight at the end
 */
export async function readMailbox(
  mailbox: Mailbox,
  { clock, signal, longestMs = Number.POSITIVE_INFINITY, most = 4 * TAKE, ...waiting }: ReadMailboxOptions,
  handle: (messages: readonly DeadMessage[], held: Held) => Promise<boolean>,
) {
  const held = hold(mailbox, clock);
  const endMs = clock() + longestMs;
  const expected = (await mailbox.counts()).visible;
  let [found, emptyPolls, wanted, patience] = [0, 0, true, waiting.patienceSeconds ?? PATIENCE_SECONDS];
  /** @returns false if no other consumer has messages in flight, or if the waiting time is used up */
  const spendPatience = (elsewhere: number): boolean => {
    if (elsewhere <= 0 || patience <= 0) return false;
    waiting.onElsewhere?.(elsewhere, Math.min(patience, Math.ceil((endMs - clock()) / 1_000)));
    patience -= 1;
    return true;
  };
  const isOver = () => !wanted || clock() >= endMs || signal?.aborted === true;
  try {
    while (!isOver()) {
      await held.renew();
      const fresh = held.add(await takeSome(mailbox, Math.min(most, Math.max(1, expected - found))));
      found += fresh.length;
      if (fresh.length > 0) {
        emptyPolls = 0;
        wanted = await handle(fresh, held);
        continue;
      }
      const { visible, inFlight } = await mailbox.counts();
      emptyPolls = visible > 0 ? emptyPolls + 1 : 0;
      if (emptyPolls > 0 && emptyPolls < MAX_EMPTY_POLLS) continue;
      if (!spendPatience(inFlight - held.count())) break;
    }
    const { inFlight } = await mailbox.counts();
    return { complete: !isOver(), found, elsewhere: Math.max(0, inFlight - held.count()) };
  } finally {
    // If this fails, the messages become visible at the end of their visibility timeout.
    await held.giveBack().catch(() => {});
  }
}

/** Keeps the messages of one read hidden. A message that SQS delivers twice is counted only once. */
function hold(mailbox: Mailbox, clock: () => number) {
  const receipts = new Map<string, string>();
  const all = () => [...receipts.values()].map((receipt) => ({ receipt }));
  let renewedAtMs = clock();
  return {
    add(taken: readonly DeadMessage[]): readonly DeadMessage[] {
      const fresh = new Map(taken.flatMap((one) => (receipts.has(one.id) ? [] : [[one.id, one] as const])));
      for (const { id, receipt } of taken) receipts.set(id, receipt);
      return [...fresh.values()];
    },
    count: () => receipts.size,
    async renew(): Promise<void> {
      if (clock() - renewedAtMs < RENEW_AFTER_MS) return;
      renewedAtMs = clock();
      await mailbox.hold(all(), HOLD_SECONDS);
    },
    async remove(messages: readonly DeadMessage[]): Promise<void> {
      await mailbox.remove(messages);
      for (const { id } of messages) receipts.delete(id);
    },
    giveBack: () => mailbox.giveBack(all()),
  };
}

async function takeSome(mailbox: Mailbox, most: number): Promise<readonly DeadMessage[]> {
  const takes = Array.from({ length: Math.ceil(most / TAKE) }, () =>
    mailbox.take(Math.min(TAKE, most), HOLD_SECONDS),
  );
  return (await Promise.all(takes)).flat();
}
