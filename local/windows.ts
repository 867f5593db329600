import { readApplyMessage } from '../shared/contract/invocation.ts';
import { coversChange } from '../shared/domain/wake-up.ts';
import type { ApplyPorts, WakePorts } from '../shared/sync/ports/bundles.ts';

/**
 * Ends a group's coalescing window early. The caller does this after the last event. Like every sender of a wake-up,
 * this function first stores the time of the wake-up (the current time) on the group's item.
 * @returns false if a worker is writing the group or a retry is scheduled
 */
export async function endWindow(
  wakeUp: string,
  { groups, desired, clock, coalesceMs }: Pick<ApplyPorts, 'groups'> & WakePorts,
): Promise<boolean> {
  const ref = readApplyMessage(wakeUp);
  const group = ref && (await groups.read(ref));
  if (group?.wakeAtMs === undefined) return true;
  const nowMs = clock();
  const isOfWindow = coversChange(group.wakeAtMs, { nowMs, coalesceMs });
  if (!isOfWindow || group.intent !== undefined || group.lastError !== undefined) return false;
  return desired.renew(group.ref, group.wakeAtMs, nowMs);
}
