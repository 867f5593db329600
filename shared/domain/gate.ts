import type { GroupId, PlatformGroupId } from './ids.ts';

/** The switch before the platform, one per connection. */
export interface Gate {
  readonly state: 'open' | 'backoff' | 'unauthorized' | 'paused';
  readonly reason?: string;
  readonly sinceMs?: number;
  /** When to try again. */
  readonly untilMs?: number;
  /** How often in a row it closed by itself: the back-off grows with it. */
  readonly closings: number;
  /** The secret that was found wanting; another one opens the gate. */
  readonly secretVersion?: string;
  /** When its tokens were last refreshed in vain. */
  readonly refusedAtMs?: number;
  /** Groups that failed with no success in between, the latest last, though the connection itself seemed well. */
  readonly failing?: readonly GroupId[];
  /** Half-open: of all groups only this one may try. */
  readonly canary?: GroupId;
  /** Though `/me` is well, the platform refuses its groups: the one of ours, and the list, that are asked again. */
  readonly witness?: PlatformGroupId;
  /** It has just opened: what failed behind it need not wait out its own back-off. */
  readonly backlog?: boolean;
}

export const OPEN_GATE: Gate = { state: 'open', closings: 0 };
/** A gate that has opened again, with a backlog behind it. */
export const REOPENED_GATE: Gate = { ...OPEN_GATE, backlog: true };
