import type { QueuedMessage } from '../../simulate/queues.ts';

/** A message group is noisy above this number and this fraction of the messages in flight. */
const [NOISY_COUNT, NOISY_SHARE] = [30, 0.1];

/**
 * Returns the visible messages with those of noisy groups last. AWS publishes no exact rule for fair queues ("Amazon SQS
 * fair queues"), so this is a model. A message without a group is a tenant of its own.
 */
export function fairOrder(
  visible: QueuedMessage[],
  all: readonly QueuedMessage[],
  nowMs: number,
): QueuedMessage[] {
  const inFlight = all.filter(({ receives, visibleAtMs }) => receives > 0 && visibleAtMs > nowMs);
  const counts = new Map<string | undefined, number>();
  for (const { group } of inFlight) counts.set(group, (counts.get(group) ?? 0) + 1);
  const most = Math.max(NOISY_COUNT, NOISY_SHARE * inFlight.length);
  const isNoisy = ({ group }: QueuedMessage) => group !== undefined && (counts.get(group) ?? 0) > most;
  return [...visible.filter((one) => !isNoisy(one)), ...visible.filter(isNoisy)];
}
