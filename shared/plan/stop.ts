import type { Gate } from '../domain/gate.ts';
import type { GroupState } from '../domain/group-state.ts';

/** The reason why apply does not process a group now. */
type Stop = 'observing' | 'gate_closed' | 'paused';

/**
 * Returns the first reason that applies; undefined if apply may process the group. While the gate is not open, apply
 * may process only the canary: the one group that tests whether the platform works again.
 */
export function stopOf(
  { ref, pausedAtMs }: Pick<GroupState, 'ref' | 'pausedAtMs'>,
  { observing }: { readonly observing: boolean },
  gate: Pick<Gate, 'state' | 'canary'>,
): Stop | undefined {
  if (observing) return 'observing';
  if (gate.state !== 'open' && gate.canary !== ref.group) return 'gate_closed';
  return pausedAtMs === undefined ? undefined : 'paused';
}

/**
 * Whether apply may still settle the open intent of a group that it must not write. It then only reads. A gate that
 * closed because of failures also stops reads, and opens again without an operator.
 */
export const maySettle = ({ intent }: Pick<GroupState, 'intent'>, { state }: Pick<Gate, 'state'>): boolean =>
  intent !== undefined && (state === 'open' || state === 'paused');

/** The note that `plan` shows for each reason. */
export const STOP_NOTES: Readonly<Record<Stop, string>> = {
  observing: 'not written: the connection only observes',
  gate_closed: 'not written now: the gate of the connection is closed',
  paused: 'not written: the group is paused',
};
