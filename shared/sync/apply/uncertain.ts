import type { GroupState, GuardRecord, Intent, Uncertain } from '../../domain/group-state.ts';
import { intentId } from '../../domain/ids.ts';
import type { ObservedGroup, View } from '../../domain/view.ts';
import type { Facts, Views } from '../../plan/facts.ts';
import {
  changeBetween,
  mergeUncertain,
  NO_CHANGE,
  rebasedRecord,
  type UncertainWrites,
  uncertainWrite,
} from '../../plan/uncertain.ts';
import { UNCERTAIN_MS } from '../tuning.ts';
import type { ApplyContext } from './context.ts';

type Known = Pick<Facts, 'state' | 'views'>;

export const readRecord = ({ state: { uncertain }, views }: Known): UncertainWrites | undefined =>
  uncertain && { ...uncertain, change: views?.uncertain ?? NO_CHANGE };

export function withUncertain(
  intent: Intent,
  known: Known & { readonly after: View | undefined },
  nowMs: number,
  how: Pick<Uncertain, 'removals' | 'consumes' | 'isAnswered'>,
): UncertainWrites {
  const before = readRecord(known);
  const change = changeBetween(known.views?.base, known.after);
  const latest = uncertainWrite(intent, change, { ...how, untilMs: nowMs + UNCERTAIN_MS });
  // The record of the earlier writes ends after their deadline, because this attempt has read the group since then.
  return before === undefined || nowMs >= before.untilMs ? latest : mergeUncertain(before, latest);
}

/**
 * Returns the record of uncertain writes after a refused write. The reservation `owed` replaces the record's own
 * reservation of removals. Without `owed`, returns undefined, because the stored record does not change.
 */
export const stillOwed = (record: Uncertain | undefined, owed: GuardRecord | undefined) =>
  record && owed && { ...record, removals: owed };

export async function storeMoved(
  record: UncertainWrites | undefined,
  known: Known,
  { observed: { version }, view }: { readonly observed: Pick<ObservedGroup, 'version'>; readonly view: View },
  context: ApplyContext,
): Promise<Uncertain | undefined> {
  if (record === undefined) return undefined;
  const { removals, ...moved } = rebasedRecord(record, known.views?.base, view);
  // If the version has changed, an earlier write has taken effect, or can no longer take effect. The guard still counts
  // the removals of that write.
  const isSame = version === known.state.link?.version;
  return storeRecord(
    { ...moved, ...(isSame && removals && { removals }) },
    known.state,
    known.views,
    context,
  );
}

/** Stores the set of users of a record, if it is not stored yet. */
export async function storeRecord(
  { change, ...record }: UncertainWrites,
  state: GroupState,
  views: Views | undefined,
  { ports }: ApplyContext,
): Promise<Uncertain> {
  if (change.added.size + change.removed.size === 0) return record;
  const stored = state.uncertain?.change;
  if (stored !== undefined && change === views?.uncertain) return { ...record, change: stored };
  return { ...record, change: await ports.groups.prepareChange(state, intentId(ports.newId()), change) };
}
