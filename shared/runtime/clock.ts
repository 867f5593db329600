import { randomBytes } from 'node:crypto';

/** Milliseconds since 1970. */
export const systemClock = (): number => Date.now();

/** From 0 up to 1. */
export const systemRandom = (): number => Math.random();

export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  // Loaded when first waited for: a new worker need not wait for anything.
  const { setTimeout: wait } = await import('node:timers/promises');
  await wait(ms, undefined, signal === undefined ? {} : { signal });
}

/** Time first, so that ids sort by when they were made; 80 random bits behind it, so that no two are alike. */
export function newId(): string {
  return `${Date.now().toString(16).padStart(12, '0')}${randomBytes(10).toString('hex')}`;
}

/** That many random bytes, as hex: for secrets, and what must not be guessed. */
export const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex');
