import type { GroupState, Intent } from '../../domain/group-state.ts';
import { readStamp } from '../../domain/stamp.ts';
import { newnessOf, type Wanted } from '../../plan/facts.ts';
import type { PlanChange } from '../../plan/plan.ts';
import type { AuditEntry } from '../ports/logs.ts';

const MAX_AUDITED_CHANGES = 1_000;

/** How a write ended, be it by its answer or by a look that came after. */
export interface Result {
  readonly changes: readonly PlanChange[];
  readonly nowMs: number;
  readonly version: string | null;
  readonly cause: string;
  readonly outcome: AuditEntry['outcome'];
}

export const auditOf = (intent: Intent, { changes, nowMs, version, cause, outcome }: Result): AuditEntry => ({
  atMs: nowMs,
  intent: intent.id,
  action: intent.action,
  changes: changes.slice(0, MAX_AUDITED_CHANGES),
  changeCount: changes.length,
  versionBefore: intent.versionBefore ?? null,
  versionAfter: version,
  cause,
  outcome,
});

/** A write whose answer was lost, and what was found instead of it. */
export const foundOf = (
  intent: Intent,
  nowMs: number,
  version: string | null,
  happened: boolean,
): AuditEntry =>
  auditOf(intent, {
    changes: [],
    nowMs,
    version,
    cause: 'the outcome of an earlier write was looked up',
    outcome: happened ? 'found_written' : 'found_changed',
  });

/** Why a write is made: an approval, a difference being put right, or what the directory said last. */
export function causeOf(state: GroupState, wanted: Wanted | undefined, consumes: string | undefined): string {
  const { hold, openDrift, rev } = state;
  if (consumes !== undefined && hold !== undefined && hold.decision.kind === 'approved') {
    return `approved by ${hold.decision.by}: ${hold.decision.reason}`;
  }
  if (openDrift.length > 0) return `drift ${openDrift.join(', ')}`;
  const event = wanted && readStamp(newnessOf(state, wanted).newest);
  return event === undefined ? `rev ${rev}` : `event ${event.id} of ${event.source}`;
}
