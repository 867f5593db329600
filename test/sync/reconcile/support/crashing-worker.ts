import { expect } from 'vitest';
import { Crash, type Worker } from '../../../../simulate/worker.ts';

/** Returns a worker that crashes before its n-th effect, counted from 1. The worker has no effect after the crash. */
export function crashingWorker(diesAt: number): Worker {
  let effects = 0;
  return {
    name: 'mortal',
    skewMs: 0,
    isDead: () => effects >= diesAt,
    effect: async (kind) => {
      effects += 1;
      if (effects >= diesAt) throw new Crash(kind);
    },
  };
}

/** Runs `live` several times. Each time, the worker crashes one effect later, until a worker completes. */
export async function crashBeforeEachEffect(live: (mortal: Worker, where: string) => Promise<unknown>) {
  for (let diesAt = 1, survived = false; !survived; diesAt += 1) {
    const mortal = crashingWorker(diesAt);
    await live(mortal, `died at ${diesAt}`);
    survived = !mortal.isDead();
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
