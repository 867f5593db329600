import type { Plan } from '../../plan/plan.ts';
import type { Intent } from '../ports/groups.ts';
import type { AuditEntry } from '../ports/logs.ts';

const MAX_AUDITED_CHANGES = 1_000;

export function auditWritten(
  intent: Intent,
  plan: Plan,
  result: {
    readonly nowMs: number;
    readonly version: string | null;
    readonly cause: string;
    readonly outcome: AuditEntry['outcome'];
  },
): AuditEntry {
  return {
    atMs: result.nowMs,
    intent: intent.id,
    action: intent.action,
    changes: plan.changes.slice(0, MAX_AUDITED_CHANGES),
    changeCount: plan.changes.length,
    versionBefore: intent.versionBefore ?? null,
    versionAfter: result.version,
    cause: result.cause,
    outcome: result.outcome,
  };
}

/** A write whose answer was lost, and what was found instead of it. */
export function auditFound(
  intent: Intent,
  found: { readonly nowMs: number; readonly version: string | null; readonly happened: boolean },
): AuditEntry {
  return {
    atMs: found.nowMs,
    intent: intent.id,
    action: intent.action,
    changes: [],
    changeCount: 0,
    versionBefore: intent.versionBefore ?? null,
    versionAfter: found.version,
    cause: 'the outcome of an earlier write was looked up',
    outcome: found.happened ? 'found_written' : 'found_changed',
  };
}
