import type { GroupState } from '../ports/groups.ts';
import type { Lane } from './ports.ts';

/** What somebody else had changed is put right. Said before the group forgets it: said twice does no harm. */
export async function closeDrift({ openDrift, ref }: GroupState, { ports }: Lane): Promise<void> {
  if (openDrift.length === 0) return;
  await ports.drift.settle(ref.connection, openDrift, { by: 'restore', atMs: ports.clock() });
}
