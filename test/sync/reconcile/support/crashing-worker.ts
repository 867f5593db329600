import { expect } from 'vitest';
import { Crash, type Worker } from '../../../../simulate/worker.ts';

/** Returns a worker that crashes before its n-th effect, counted from 1. The worker has no effect after the crash. */
export function crashingWorker(crashAt: number): Worker {
  let effects = 0;
  return {
    name: 'crashing',
    skewMs: 0,
    isDead: () => effects >= crashAt,
    effect: async (kind) => {
      effects += 1;
      if (effects >= crashAt) throw new Crash(kind);
    },
  };
}

/** Runs `work` several times. Each time, the worker crashes one effect later, until a worker completes. */
export async function crashBeforeEachEffect(work: (crashing: Worker, where: string) => Promise<unknown>) {
  for (let crashAt = 1, survived = false; !survived; crashAt += 1) {
    const crashing = crashingWorker(crashAt);
    await work(crashing, `crash at effect ${crashAt}`);
    survived = !crashing.isDead();
  }
}

export const expectSuccessOrCrash = (work: Promise<unknown>) =>
  work.catch((error) => expect(error).toBeInstanceOf(Crash));

/** Returns a worker that runs `meanwhile` before each of its effects of these kinds. */
export const workerBefore = (kinds: RegExp, meanwhile: (kind: string) => Promise<unknown>): Worker => ({
  name: 'slow',
  skewMs: 0,
  isDead: () => false,
  effect: async (kind) => {
    if (kinds.test(kind)) await meanwhile(kind);
  },
});

/** Returns a worker that runs `meanwhile` once, before its first effect of this kind. */
export function slowWorker(heldUpBefore: string, meanwhile: () => Promise<unknown>): Worker {
  let isHeldUp = false;
  return workerBefore(/./, async (kind) => {
    if (isHeldUp || kind !== heldUpBefore) return;
    isHeldUp = true;
    await meanwhile();
  });
}
