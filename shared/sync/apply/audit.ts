import type { GroupState, Intent } from '../../domain/group-state.ts';
import type { VersionToken } from '../../domain/ids.ts';
import { readStamp } from '../../domain/stamp.ts';
import { latestStampsOf } from '../../plan/accepted-drift.ts';
import type { Wanted } from '../../plan/facts.ts';
import type { PlanChange } from '../../plan/plan.ts';
import { type AuditEntry, OURSELVES } from '../ports/logs.ts';

/** Why something is written, and who would have it so. */
export type Origin = Pick<AuditEntry, 'cause' | 'actor' | 'reason' | 'dirtySinceMs'>;

const LOOKED_UP: Origin = { cause: 'the outcome of an earlier write was looked up', actor: OURSELVES };

/** How a write ended, be it by its answer or by a look that came after. */
export const auditOf = (
  { id, action, versionBefore }: Intent,
  changes: readonly PlanChange[],
  origin: Origin,
  result: Pick<AuditEntry, 'atMs' | 'versionAfter' | 'outcome'>,
): AuditEntry => ({
  ...result,
  intent: id,
  action,
  changes,
  changeCount: changes.length,
  versionBefore: versionBefore ?? null,
  ...origin,
});

/** A write whose answer was lost, and what was found instead of it. */
export const foundOf = (
  intent: Intent,
  atMs: number,
  versionAfter: VersionToken | null,
  happened: boolean,
): AuditEntry =>
  auditOf(intent, [], LOOKED_UP, {
    atMs,
    versionAfter,
    outcome: happened ? 'found_written' : 'found_changed',
  });

/** A write whose answer was lost, and which was looked for in vain. */
export const unfoundOf = (intent: Intent, atMs: number, doubtUntilMs: number): AuditEntry => ({
  ...foundOf(intent, atMs, null, false),
  reason: `no answer came, and a look did not find it; it may land until ${new Date(doubtUntilMs).toISOString()}`,
});

/** Why a write is made: an approval, a difference being put right, or what the directory said last. */
export function originOf(state: GroupState, wanted?: Wanted, consumes?: string): Origin {
  const { hold, approval, openDrift, rev, dirtySinceMs } = state;
  const since = dirtySinceMs === undefined ? {} : { dirtySinceMs };
  const decision = [hold, approval].find(
    (one) => consumes !== undefined && one?.digest === consumes,
  )?.decision;
  if (decision?.kind === 'approved') {
    const { by, reason } = decision;
    return { cause: `approved by ${by}: ${reason}`, actor: { kind: 'operator', id: by }, reason, ...since };
  }
  if (openDrift.length > 0) return { cause: `drift ${openDrift.join(', ')}`, actor: OURSELVES, ...since };
  const newest = wanted && latestStampsOf(state, wanted).newest;
  const event = newest && readStamp(newest);
  if (!event) return { cause: `rev ${rev}`, actor: OURSELVES, ...since };
  const { id, source } = event;
  const said = [state.registers.saidBy, ...wanted.registers].find((one) => one?.stamp === newest);
  return {
    cause: `event ${id} of ${source}`,
    actor: said?.actor ?? { kind: 'directory', id: source },
    ...since,
  };
}
