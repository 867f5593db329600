import pMap from 'p-map';
import type { GroupState } from '../ports/groups.ts';
import { WRITES_IN_FLIGHT } from '../tuning.ts';
import type { Lane } from './lane.ts';
import type { Wanted } from './wanted.ts';

/** Writes which members have to wait and why, where that has changed; the wait's age is kept while the cause is. */
export async function markPending(state: GroupState, wanted: Wanted, { ports }: Lane): Promise<void> {
  const nowMs = ports.clock();
  const changed = wanted.registers.filter(
    ({ member, pending }) => pending?.cause !== wanted.pending.get(member)?.cause,
  );
  await pMap(
    changed,
    ({ member }) => {
      const pending = wanted.pending.get(member);
      return ports.groups.markPending(
        state.ref,
        member,
        pending === undefined ? undefined : { ...pending, sinceMs: nowMs },
      );
    },
    { concurrency: WRITES_IN_FLIGHT },
  );
}
