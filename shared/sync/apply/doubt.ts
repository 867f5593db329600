import type { GroupState, Intent } from '../../domain/group-state.ts';
import type { Flip } from '../ports/groups.ts';
import { DOUBT_MS, MAX_DOUBTS } from '../tuning.ts';

/** The write that is named in doubt when `intent` becomes so as well, and the views that others would have made. */
export function inDoubt(intent: Intent, { doubt, doubts = [] }: GroupState, nowMs: number) {
  const before = doubt !== undefined && nowMs < doubt.untilMs ? doubt.intent : undefined;
  // No view tells of a deletion: it stays the one that is named.
  const [doubted, other] = before?.action === 'delete' ? [before, intent] : [intent, before];
  const earlier = [other?.view, ...(before === undefined ? [] : doubts)];
  const views = earlier.filter((view) => view !== undefined).slice(0, MAX_DOUBTS);
  return { doubted, doubts: views.length > 0 ? views : undefined };
}

/** What a write leaves that was answered with success and is not shown: it may take effect yet. */
export function leftInDoubt(
  intent: Intent,
  state: GroupState,
  nowMs: number,
): Required<Pick<Flip, 'doubt' | 'doubts'>> {
  const { doubted, doubts } = inDoubt(intent, state, nowMs);
  const isAnswered = doubts === undefined || (state.doubt?.isAnswered === true && state.doubts === undefined);
  const doubt = { intent: doubted, untilMs: nowMs + DOUBT_MS, ...(isAnswered && { isAnswered }) };
  return { doubt, doubts };
}

/** Whether a write that is shown whole leaves no earlier one that may take effect yet. */
export const endsDoubt = ({ doubt }: GroupState): boolean => doubt?.isAnswered === true;
