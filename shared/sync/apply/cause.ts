import { readStamp } from '../../domain/stamp.ts';
import type { Execution } from './execution.ts';
import { newnessOf } from './newness.ts';

/** Why a write is made, for the audit: an approval, a difference being put right, or what the directory said last. */
export function causeOf({ state, wanted, guarded }: Execution): string {
  const { hold, openDrift, rev } = state;
  if (guarded.consumes !== undefined && hold !== undefined && hold.decision.kind === 'approved') {
    return `approved by ${hold.decision.by}: ${hold.decision.reason}`;
  }
  if (openDrift.length > 0) return `drift ${openDrift.join(', ')}`;
  const event = readStamp(newnessOf(state, wanted).newest);
  return event === undefined ? `rev ${rev}` : `event ${event.id} of ${event.source}`;
}
