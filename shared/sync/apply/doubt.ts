import type { GroupState, Intent } from '../../domain/group-state.ts';
import type { Flip } from '../ports/groups.ts';
import { DOUBT_MS, MAX_DOUBTS } from '../tuning.ts';

/** The uncertain write that is stored when `intent` becomes uncertain too, and the views that the others would have made. */
export function inDoubt(intent: Intent, { doubt, doubts = [] }: GroupState, nowMs: number) {
  const before = doubt !== undefined && nowMs < doubt.untilMs ? doubt.intent : undefined;
  // A deletion has no view, so it stays the stored one.
  const [doubted, other] = before?.action === 'delete' ? [before, intent] : [intent, before];
  const earlier = [other?.view, ...(before === undefined ? [] : doubts)];
  const views = earlier.filter((view) => view !== undefined).slice(0, MAX_DOUBTS);
  return { doubted, doubts: views.length > 0 ? views : undefined };
}

/** The uncertainty after a write that was answered with success and is not shown: it may still take effect. */
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

/** Whether no earlier write may still take effect after this write is shown completely. */
export const endsDoubt = ({ doubt }: GroupState): boolean => doubt?.isAnswered === true;
