import type { ConnectionName, GroupRef } from '../domain/ids.ts';
import { delayMs, isPromised } from '../domain/promise.ts';
import { atOnce } from './gather.ts';
import type { WakePorts } from './ports/bundles.ts';
import type { Said } from './ports/desired.ts';
import type { GroupIndex } from './ports/group-index.ts';
import type { Wake } from './ports/queues.ts';
import { WRITES_IN_FLIGHT } from './tuning.ts';

/** How a group that is to be looked at without any wait becomes dirty. */
export function dirtyNow({ clock }: Pick<WakePorts, 'clock'>) {
  const nowMs = clock();
  return { nowMs, wakeAtMs: nowMs, isAtOnce: true };
}

/** @throws Error where one of them could not be woken */
export async function wakeAll(...asked: Parameters<typeof wakeGroups>): Promise<void> {
  const [first, ...others] = await wakeGroups(...asked);
  if (first === undefined) return;
  throw new Error(`${others.length + 1} groups could not be woken`, { cause: first.cause });
}

/** Apply reads settings each time, but until then ingest may hear changes of users by the match rules from before. */
export const WORKERS_KNOW_AFTER_MS = 35_000;

/**
 * Marks every group that the index shows, after a change of settings that alters plans. The requeue job wakes the groups:
 * no message is sent. The author of the change does it, so that the settings apply soon. The requeue job does it once
 * more, because the index may not show a new group yet. Such a group was created just before the change, or just after
 * it by a worker with the old settings.
 *
 *     settings ──▶ marks the shown groups ··· workers know (30 s) ······ the index shows all ──▶ marks all, once more
 *         └ a new group, planned with the old settings, not shown yet ┘
 * @returns how many groups the index shows
 */
export async function replanAll(
  connection: ConnectionName,
  { index, desired, clock }: ReplanPorts,
): Promise<number> {
  let groups = 0;
  const nowMs = clock();
  const dueMs = nowMs + WORKERS_KNOW_AFTER_MS;
  for await (const page of index.all(connection)) {
    await atOnce(WRITES_IN_FLIGHT, page, ({ ref }) =>
      desired.markDirty(ref, { nowMs, wakeAtMs: dueMs, dueMs, isAtOnce: true }),
    );
    groups += page.length;
  }
  return groups;
}

export interface ReplanPorts extends Pick<WakePorts, 'desired' | 'clock'> {
  readonly index: Pick<GroupIndex, 'all'>;
}

/** A group to be woken, with what is said of the group itself. */
export type SaidOf = GroupRef & { readonly said?: Said | undefined };

export interface UnwokenGroup {
  readonly ref: GroupRef;
  readonly cause: unknown;
}

/**
 * Marks groups dirty with a promise, and sends a message for each whose promise is ours to keep, in that order: a lost
 * message leaves a dirty group, which the pump finds; a message without the mark would find a group that looks clean.
 * @param why `asked`: a person asks, no window and no older promise is waited for; `again`: there is no news, and what the
 *   platform was called about the group in this hour counts
 * @returns the groups for which either failed
 */
export async function wakeGroups(
  refs: readonly SaidOf[],
  ports: WakePorts,
  why: 'asked' | 'news' | 'again' = 'news',
): Promise<readonly UnwokenGroup[]> {
  const unwoken: UnwokenGroup[] = [];
  const wakes: Wake[] = [];
  await atOnce(WRITES_IN_FLIGHT, refs, async (ref) => {
    try {
      const wake = why === 'asked' ? ref : await promise(ref, why === 'again', ports);
      if (why === 'asked') await ports.desired.markDirty(ref, dirtyNow(ports));
      if (wake !== undefined) wakes.push(wake);
    } catch (cause) {
      unwoken.push({ ref, cause });
    }
  });
  const unsent = await ports.applyQueue.wake(wakes);
  const cause = unsent.length > 0 && new Error('the apply queue did not accept the message');
  return [...unwoken, ...unsent.map(({ connection, group }) => ({ ref: { connection, group }, cause }))];
}

/** @returns undefined where the promise is another's, who keeps it; a paused group is woken when its pause ends */
async function promise(
  { said, ...ref }: SaidOf,
  isAgain: boolean,
  { desired, clock, coalesceMs }: WakePorts,
): Promise<Wake | undefined> {
  const moment = { nowMs: clock(), coalesceMs };
  const wakeAtMs = moment.nowMs + coalesceMs;
  const found = await desired.markDirty(ref, { nowMs: moment.nowMs, wakeAtMs, isAgain }, said);
  if (found.paused) return undefined;
  if (found.wakeAtMs !== wakeAtMs) {
    if (isPromised(found.wakeAtMs, moment)) return undefined;
    if (!(await desired.renew(ref, found.wakeAtMs, wakeAtMs))) return undefined;
  }
  return { ...ref, afterMs: delayMs(found.lastWriteAtMs, moment) };
}
