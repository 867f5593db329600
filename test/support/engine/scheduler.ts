import { setImmediate as settled } from 'node:timers/promises';
import type { Random } from '../../../simulate/random.ts';
import { Crash, type Worker } from '../../../simulate/worker.ts';

interface Waiting {
  readonly worker: Worker;
  readonly kind: string;
  readonly go: () => void;
}

interface SchedulerOptions {
  readonly random: Random;
  /** The position of a crash. The worker stops before the n-th effect of the whole run, counted from 1. */
  readonly crashAt?: number;
  readonly onEffect?: (kind: string) => void;
}

/** Runs several workers, one effect at a time. The seed decides which worker continues. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #waiting: Waiting[] = [];
  /** The kinds of the completed effects, in order. */
  readonly effects: string[] = [];
  /** The kind of the effect at which the run stopped. */
  crashedAt: string | undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  worker(name: string, skewMs = 0): Worker {
    let dead = false;
    const worker: Worker = {
      name,
      skewMs,
      isDead: () => dead,
      effect: async (kind) => {
        if (dead) throw new Crash(kind);
        await new Promise<void>((go) => this.#waiting.push({ worker, kind, go }));
        if (dead) throw new Crash(kind);
        this.effects.push(kind);
        if (this.effects.length === this.#options.crashAt) {
          dead = true;
          this.crashedAt = kind;
          throw new Crash(kind);
        }
        this.#options.onEffect?.(kind);
      },
    };
    return worker;
  }

  async run(tasks: readonly (() => Promise<unknown>)[]): Promise<readonly PromiseSettledResult<unknown>[]> {
    let left = tasks.length;
    const results = Promise.allSettled(
      tasks.map(async (task) => {
        try {
          return await task();
        } finally {
          left -= 1;
        }
      }),
    );
    while (left > 0) {
      await settled();
      const [next] = this.#waiting.splice(this.#options.random.below(this.#waiting.length), 1);
      next?.go();
    }
    // The waiting calls of a stopped worker end here, so that they have no effect in the next step.
    for (const { go } of this.#waiting.splice(0)) go();
    await settled();
    return results;
  }
}
