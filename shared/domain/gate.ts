/** The switch before the platform, one per connection. */
export interface Gate {
  readonly state: 'open' | 'backoff' | 'unauthorized' | 'paused';
  readonly reason?: string;
  readonly sinceMs?: number;
  /** `backoff`: when to try again. */
  readonly untilMs?: number;
  /** How often in a row it closed by itself: the back-off grows with it. */
  readonly closings: number;
  /** The secret that was found wanting; another one opens the gate. */
  readonly secretVersion?: string;
}

export const OPEN_GATE: Gate = { state: 'open', closings: 0 };
