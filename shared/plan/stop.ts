import type { Gate } from '../domain/gate.ts';
import type { GroupState } from '../domain/group-state.ts';

/** The reason why apply does not process a group now. */
type Stop = 'moving' | 'observing' | 'gate_closed' | 'paused';

/**
 * Returns the first reason that applies; undefined if apply may process the group. While the gate is not open, apply
 * may process only the canary: the one group that tests whether the platform works again.
 */
export function stopOf(
  { ref, pausedAtMs, openMove }: Pick<GroupState, 'ref' | 'pausedAtMs' | 'openMove'>,
  { observing }: { readonly observing: boolean },
  gate: Pick<Gate, 'state' | 'canary'>,
): Stop | undefined {
  if (openMove !== undefined) return 'moving';
  if (observing) return 'observing';
  if (gate.state !== 'open' && gate.canary !== ref.group) return 'gate_closed';
  return pausedAtMs === undefined ? undefined : 'paused';
}

/**
 * Returns why apply does nothing; undefined if it may process the group, or if it settles the open intent of a group that
 * it must not write. It then only reads. A gate that closed because of failures also stops reads. So does an open move,
 * because the new group settles the intent.
 */
export function stopNow(
  state: Pick<GroupState, 'ref' | 'pausedAtMs' | 'intent' | 'openMove'>,
  connection: { readonly observing: boolean },
  gate: Pick<Gate, 'state' | 'canary'>,
): Stop | undefined {
  const isOpen = state.intent !== undefined && state.openMove === undefined;
  const maySettle = isOpen && (gate.state === 'open' || gate.state === 'paused');
  return maySettle ? undefined : stopOf(state, connection, gate);
}

/** The note that `plan` shows for each reason. */
export const STOP_NOTES: Readonly<Record<Stop, string>> = {
  moving: 'not written: the move of the group to another source is not finished',
  observing: 'not written: the connection only observes',
  gate_closed: 'not written now: the gate of the connection is closed',
  paused: 'not written: the group is paused',
};
