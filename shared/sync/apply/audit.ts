import type { GroupState, Intent } from '../../domain/group-state.ts';
import type { Step } from '../../domain/history.ts';
import { holdsOf } from '../../domain/hold.ts';
import type { VersionToken } from '../../domain/ids.ts';
import { readStamp } from '../../domain/stamp.ts';
import { newestStampOf } from '../../plan/decide/damping.ts';
import type { Wanted } from '../../plan/facts.ts';
import type { PlanChange } from '../../plan/plan.ts';
import { removalText } from '../../plan/removal-cause.ts';
import { type AuditEntry, OURSELVES } from '../ports/logs.ts';

type Origin = Pick<AuditEntry, 'cause' | 'actor' | 'reason' | 'dirtySinceMs'>;

const FETCHED_LATER: Origin = { cause: 'a later fetch showed the outcome of the write', actor: OURSELVES };

/** Returns the audit entry of a write whose outcome is known, from its answer or from a later fetch. */
export const auditOf = (
  { id, action, versionBefore }: Intent,
  changes: readonly PlanChange[],
  origin: Origin,
  result: Pick<AuditEntry, 'atMs' | 'versionAfter' | 'outcome' | 'step'>,
): AuditEntry => ({
  ...result,
  intent: id,
  action,
  changes,
  changeCount: changes.length,
  versionBefore: versionBefore ?? null,
  ...origin,
});

/** Returns the audit entry of a write whose answer was lost. A later fetch showed its outcome. */
export const foundOf = (
  intent: Intent,
  atMs: number,
  versionAfter: VersionToken | null,
  happened: boolean,
  step?: Step,
): AuditEntry =>
  auditOf(intent, [], FETCHED_LATER, {
    atMs,
    versionAfter,
    outcome: happened ? 'found_written' : 'found_changed',
    ...(step && { step }),
  });

/** Returns the audit entry of a write whose answer was lost, and whose change a later fetch did not show. */
export const unfoundOf = (
  intent: Intent,
  atMs: number,
  untilMs: number,
  step: Step | undefined,
): AuditEntry => ({
  ...foundOf(intent, atMs, null, false, step && { ...step, untilMs }),
  reason: `no answer came, and a fetch did not show the write; it may take effect until ${new Date(untilMs).toISOString()}`,
});

/**
 * Returns the cause of a write: an approval, a block, drift, the latest event of the directory, or rev if no event is
 * known.
 */
export function originOf(
  state: GroupState,
  wanted?: Wanted,
  consumes: readonly string[] = [],
  changes: readonly PlanChange[] = [],
): Origin {
  const { openDrift, rev, dirtySinceMs } = state;
  const since = dirtySinceMs === undefined ? {} : { dirtySinceMs };
  const decision = holdsOf(state).find(({ digest }) => consumes.includes(digest))?.decision;
  if (decision?.kind === 'approved') {
    const { by, reason } = decision;
    return { cause: `approved by ${by}: ${reason}`, actor: { kind: 'operator', id: by }, reason, ...since };
  }
  if (changes.length > 0 && changes.every(({ reason }) => reason === removalText('blocked')))
    return { cause: removalText('blocked'), actor: OURSELVES, ...since };
  if (openDrift.length > 0) return { cause: `drift ${openDrift.join(', ')}`, actor: OURSELVES, ...since };
  const newest = wanted && newestStampOf(state, wanted);
  const event = newest && readStamp(newest);
  if (!event) return { cause: `rev ${rev}`, actor: OURSELVES, ...since };
  const { id, source } = event;
  const register = [state.registers.author, ...wanted.registers].find((one) => one?.stamp === newest);
  return {
    cause: `event ${id} of ${source}`,
    actor: register?.actor ?? { kind: 'directory', id: source },
    ...since,
  };
}
