import type { Entry } from './activity.ts';

/** The actions about holds in the activity of a group. */
export const DECISIONS: ReadonlySet<string> = new Set([
  'holds_approve',
  'holds_approve_first',
  'holds_reject',
]);
const MAX_DECIDED = 10;

/**
 * Returns the latest decisions about the removals of a group, each after the write that it permitted. The cause of a
 * write contains the cause of its decision.
 */
export function decidedIn(entries: readonly Entry[]): readonly Entry[] {
  const decisions = entries.filter(({ action }) => DECISIONS.has(action));
  const isPermitted = ({ actor, cause, action }: Entry) =>
    !DECISIONS.has(action) &&
    decisions.some((one) => one.actor.id === actor.id && cause === `approved by ${one.cause}`);
  return entries.filter((entry) => DECISIONS.has(entry.action) || isPermitted(entry)).slice(0, MAX_DECIDED);
}
