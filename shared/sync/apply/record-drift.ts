import { createHash } from 'node:crypto';
import { policyFor } from '../../contract/group-policy.ts';
import type { DriftPolicy } from '../../contract/settings.ts';
import { type Difference, NOBODY_KNOWN } from '../../domain/drift.ts';
import type { PlatformGroupId } from '../../domain/ids.ts';
import { attribute } from '../../plan/attribute.ts';
import { attributeDrift, isUnattributed, toldOf } from '../attribute-drift.ts';
import type { FoundForeign, GroupState } from '../ports/groups.ts';
import type { DriftRecord, DriftSettlement } from '../ports/logs.ts';
import type { Lane } from './lane.ts';

/** Where the differences were seen. */
export interface Sighting {
  readonly platformId: PlatformGroupId | null;
  /** The platform's version that showed them; null where the group is gone. */
  readonly version: string | null;
}

/** What was found, and what the connection's policy makes of it. */
export interface FoundDrift {
  readonly policy: DriftPolicy;
  readonly found: FoundForeign;
}

/**
 * Records differences that somebody else made. `report` and `adopt` settle them by leaving them; `restore` leaves the
 * record open until apply has put the group right. The same sighting is the same record, so a crash before the group
 * knows of it repeats nothing; and records that such a crash left open are picked up with what is found next.
 */
export async function recordDrift(
  state: GroupState,
  differences: readonly Difference[],
  { sighting, lane }: { readonly sighting: Sighting; readonly lane: Lane },
): Promise<FoundDrift> {
  const { ports, connection } = lane;
  const traces = state.suspect?.traces ?? [];
  await attributeDrift(state, toldOf(state), ports);
  const nowMs = ports.clock();
  for (const difference of differences) {
    const settledBy = settlementOf(difference, state, lane);
    const isLeft = settledBy !== 'restore';
    const by = attribute(difference.kind, traces);
    const drift: DriftRecord = {
      ...difference,
      ...by,
      id: idOf(state, difference, sighting),
      group: state.ref.group,
      platformId: sighting.platformId,
      policy: settledBy,
      detectedAtMs: nowMs,
      settledBy: isLeft ? settledBy : null,
      settledAtMs: isLeft ? nowMs : null,
    };
    if (await ports.drift.record(connection.name, drift)) lane.found(difference.kind);
    else if (by.initiator !== NOBODY_KNOWN) await ports.drift.attribute(state.ref, drift.id, by);
  }
  return { policy: treatmentOf(state, lane).drift, found: await standing(state, lane) };
}

/** What is still to be closed or attributed, of all records of the group. */
async function standing({ ref }: GroupState, { ports }: Lane): Promise<FoundForeign> {
  const openDrift: string[] = [];
  const unattributed: string[] = [];
  for await (const page of ports.drift.ofGroup(ref)) {
    for (const record of page) {
      if (record.settledAtMs === null) openDrift.push(record.id);
      if (isUnattributed(record, ports.clock())) unattributed.push(record.id);
    }
  }
  return { openDrift, unattributed };
}

/** By the last name it had, as everywhere in apply: a deletion takes the name along. */
const treatmentOf = ({ ref, registers }: GroupState, { connection }: Lane) =>
  policyFor(connection.settings, ref.group, registers.name?.value);

/**
 * How a difference ends. A group that is only watched is never written, and whoever was added where the platform's own
 * additions may stay has been accepted: neither can be restored, whatever the drift policy says.
 */
function settlementOf({ kind }: Difference, state: GroupState, lane: Lane): DriftSettlement {
  const { mode, drift } = treatmentOf(state, lane);
  if (mode === 'report') return 'report';
  if (drift !== 'restore') return drift;
  const mayStay = mode === 'upsertOnly' || lane.connection.settings.membership === 'additive';
  return kind === 'members_added' && mayStay ? 'adopt' : 'restore';
}

function idOf({ ref }: GroupState, { kind }: Difference, { platformId, version }: Sighting): string {
  const parts = JSON.stringify([ref.group, platformId, version, kind]);
  return createHash('sha256').update(parts).digest('hex').slice(0, 32);
}
