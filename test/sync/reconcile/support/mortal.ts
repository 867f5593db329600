import { expect } from 'vitest';
import { Crash, type Worker } from '../../../../simulate/worker.ts';

/** A process that dies before its n-th effect, counted from 1, and does nothing after it. */
export function mortalWorker(diesAt: number): Worker {
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

/** Lives with a process that dies one effect later each time, until one comes to its end. */
export async function whereverItDies(live: (mortal: Worker, where: string) => Promise<unknown>) {
  for (let diesAt = 1, survived = false; !survived; diesAt += 1) {
    const mortal = mortalWorker(diesAt);
    await live(mortal, `died at ${diesAt}`);
    survived = !mortal.isDead();
  }
}

export const orDies = (work: Promise<unknown>) => work.catch((error) => expect(error).toBeInstanceOf(Crash));

/** A process before whose effects of these kinds something else happens. */
export const workerBefore = (kinds: RegExp, meanwhile: (kind: string) => Promise<unknown>): Worker => ({
  name: 'slow',
  skewMs: 0,
  isDead: () => false,
  effect: async (kind) => {
    if (kinds.test(kind)) await meanwhile(kind);
  },
});

/** A process that is held up before its first effect of this kind, while something else happens. */
export function slowWorker(heldUpBefore: string, meanwhile: () => Promise<unknown>): Worker {
  let isHeldUp = false;
  return workerBefore(/./, async (kind) => {
    if (isHeldUp || kind !== heldUpBefore) return;
    isHeldUp = true;
    await meanwhile();
  });
}
