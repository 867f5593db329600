import type { GroupState } from '../ports/groups.ts';
import type { DriftSettlement } from '../ports/logs.ts';
import type { Lane } from './lane.ts';

/**
 * What somebody else had changed has come to its end: put right, or left because the group is not ours to write any
 * more. Said before the group forgets it: said twice does no harm.
 */
export async function closeDrift(
  { openDrift, ref }: GroupState,
  { ports }: Lane,
  by: DriftSettlement = 'restore',
): Promise<void> {
  if (openDrift.length === 0) return;
  await ports.drift.settle(ref, openDrift, { by, atMs: ports.clock() });
}
