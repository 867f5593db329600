import pMap from 'p-map';
import type { GroupRef } from '../domain/ids.ts';
import type { WakePorts } from './ports/bundles.ts';
import { WAKE_GRACE_MS, WRITES_IN_FLIGHT } from './tuning.ts';

/** When a group that is woken now counts as dirty, and when the pump may take its message for lost. */
export function dirtyNow({ clock, coalesceMs }: Pick<WakePorts, 'clock' | 'coalesceMs'>) {
  const nowMs = clock();
  return { nowMs, dueMs: nowMs + coalesceMs + WAKE_GRACE_MS };
}

/** @throws Error where one of them could not be woken */
export async function wakeAll(refs: readonly GroupRef[], ports: WakePorts): Promise<void> {
  const [first, ...others] = await wakeGroups(refs, ports);
  if (first === undefined) return;
  throw new Error(`${others.length + 1} groups could not be woken`, { cause: first.cause });
}

export interface UnwokenGroup {
  readonly ref: GroupRef;
  readonly cause: unknown;
}

/**
 * Marks groups dirty and wakes their lanes, in that order: a lost message leaves a dirty group, which the pump finds;
 * a message without the mark would find a group that looks clean.
 * @returns the groups for which either failed
 */
export async function wakeGroups(
  refs: readonly GroupRef[],
  ports: WakePorts,
): Promise<readonly UnwokenGroup[]> {
  const unwoken: UnwokenGroup[] = [];
  const marked: GroupRef[] = [];
  await pMap(
    refs,
    async (ref) => {
      try {
        await ports.desired.markDirty(ref, dirtyNow(ports));
        marked.push(ref);
      } catch (cause) {
        unwoken.push({ ref, cause });
      }
    },
    { concurrency: WRITES_IN_FLIGHT },
  );
  const unsent = await ports.applyQueue.wake(marked);
  const cause = new Error('the apply queue did not accept the message');
  return [...unwoken, ...unsent.map((ref) => ({ ref, cause }))];
}
