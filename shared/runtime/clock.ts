import { randomBytes } from 'node:crypto';

/** Milliseconds since 1970. */
export const systemClock = (): number => Date.now();

/** A random number from 0 up to 1. */
export const systemRandom = (): number => Math.random();

export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  // Loaded at the first wait, because many workers never wait.
  const { setTimeout: wait } = await import('node:timers/promises');
  await wait(ms, undefined, signal === undefined ? {} : { signal });
}

/**
 * A new id. It begins with the time, so ids sort by their creation. 80 random bits follow, so that no two ids are
 * equal.
 */
export function newId(): string {
  return `${Date.now().toString(16).padStart(12, '0')}${randomBytes(10).toString('hex')}`;
}

/** Random bytes as hex, for secrets and other values that must not be guessed. */
export const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex');
