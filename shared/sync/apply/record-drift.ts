import { createHash } from 'node:crypto';
import { policyFor } from '../../contract/group-policy.ts';
import type { Difference } from '../../domain/drift.ts';
import { groupName } from '../../domain/group.ts';
import type { DriftRecord, DriftSettlement } from '../ports/drift.ts';
import type { GroupState } from '../ports/groups.ts';
import type { Lane } from './ports.ts';

/** What was found, and what the connection's policy makes of it. */
export interface FoundDrift {
  readonly policy: DriftSettlement;
  readonly ids: readonly string[];
}

/**
 * Records differences that somebody else made. `report` and `adopt` settle them by leaving them; `restore` leaves the
 * record open until apply has put the group right.
 * @param version the platform's version at which they were seen; null where the group is gone
 */
export async function recordDrift(
  state: GroupState,
  differences: readonly Difference[],
  { version, lane }: { readonly version: string | null; readonly lane: Lane },
): Promise<FoundDrift> {
  const { settings, name: connection } = lane.connection;
  const policy = policyFor(settings, state.ref.group, groupName(state.registers)).drift;
  const nowMs = lane.ports.clock();
  const isLeft = policy !== 'restore';
  const ids: string[] = [];
  for (const difference of differences) {
    const drift: DriftRecord = {
      ...difference,
      id: idOf(state, difference, version),
      group: state.ref.group,
      platformId: state.platformId ?? null,
      initiator: state.suspect?.initiator ?? 'UNKNOWN',
      eventIds: state.suspect?.eventIds ?? [],
      policy,
      detectedAtMs: nowMs,
      settledBy: isLeft ? policy : null,
      settledAtMs: isLeft ? nowMs : null,
    };
    if (await lane.ports.drift.record(connection, drift)) lane.found(difference.kind);
    ids.push(drift.id);
  }
  return { policy, ids };
}

function idOf({ ref, platformId }: GroupState, { kind }: Difference, version: string | null): string {
  const parts = JSON.stringify([ref.group, platformId ?? null, version, kind]);
  return createHash('sha256').update(parts).digest('hex').slice(0, 32);
}
