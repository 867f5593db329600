/** Reports that the process crashed. It performs no further effect, and its caller gets no answer. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/** One invocation of a function, or one operator. `effect` is called before each effect. */
export interface Worker {
  readonly name: string;
  /** Clock skew in milliseconds. */
  readonly skewMs: number;
  /** Waits in simulated time. @throws Crash if the process crashes here */
  effect(kind: string): Promise<void>;
  readonly isDead: () => boolean;
}
