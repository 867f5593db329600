import { readApplyMessage } from '../shared/contract/invocation.ts';
import { isPromised } from '../shared/domain/promise.ts';
import type { ApplyPorts, WakePorts } from '../shared/sync/ports/bundles.ts';

/**
 * Where nothing more comes, what is left of a group's window gathers nothing. As whoever wakes a group does, this promises
 * on its item first, for now and in place of the window's end: then the group's wake-up is not early.
 * @returns false where the wake-up waits for something else: somebody is at work, or tries again later
 */
export async function endWindow(
  wakeUp: string,
  { groups, desired, clock, coalesceMs }: Pick<ApplyPorts, 'groups'> & WakePorts,
): Promise<boolean> {
  const ref = readApplyMessage(wakeUp);
  const group = ref && (await groups.read(ref));
  if (group?.wakeAtMs === undefined) return true;
  const nowMs = clock();
  const isOfWindow = isPromised(group.wakeAtMs, { nowMs, coalesceMs });
  if (!isOfWindow || group.intent !== undefined || group.lastError !== undefined) return false;
  return desired.renew(group.ref, group.wakeAtMs, nowMs);
}
