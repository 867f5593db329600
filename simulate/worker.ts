/** The error that stops a worker at a simulated crash. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/** One container of a function, or one process of an operator. Code of the worker calls `effect` before each effect. */
export interface Worker {
  readonly name: string;
  /** The largest difference between the worker's clock and the simulated time, in milliseconds. */
  readonly skewMs: number;
  /** Waits in simulated time. @throws Crash if the process crashes here */
  effect(kind: string): Promise<void>;
  readonly isDead: () => boolean;
}
