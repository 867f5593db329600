/** The process died here: it does nothing more, and its caller gets no answer. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/** One invocation of a function, or one person at a screen. Every effect of it goes through `effect` first. */
export interface Worker {
  readonly name: string;
  /** How far its clock is off, milliseconds. */
  readonly skewMs: number;
  /** Waits for its turn in simulated time. @throws Crash where the process dies here */
  effect(kind: string): Promise<void>;
  readonly isDead: () => boolean;
}
