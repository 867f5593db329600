import type { Entry } from './activity.ts';

export const DECISIONS: ReadonlySet<string> = new Set([
  'holds_approve',
  'holds_approve_first',
  'holds_reject',
]);
const MAX_DECIDED = 10;

/** Returns the latest decisions about the removals of a group, each after the write that it permitted. */
export function decidedIn(entries: readonly Entry[]): readonly Entry[] {
  const isPermitted = ({ changes }: Entry) => changes.some(({ approved }) => approved !== null);
  return entries.filter((entry) => DECISIONS.has(entry.action) || isPermitted(entry)).slice(0, MAX_DECIDED);
}
