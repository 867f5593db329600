import { randomBytes, randomUUID } from 'node:crypto';

/** Milliseconds since 1970. */
export const systemClock = (): number => Date.now();

export const systemRandom = (): number => Math.random();

export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  // Loaded at the first wait, because many workers never wait. `import()` would look up the module again at each wait.
  const { setTimeout: wait } = process.getBuiltinModule('node:timers/promises');
  await wait(ms, undefined, signal === undefined ? {} : { signal });
}

/**
 * Returns a new id. Its first part is the time, so ids sort by their creation time. 80 random bits follow, so two ids
 * are never equal in practice. Node takes the random bits of many UUIDs from the system at once.
 */
export function newId(): string {
  const uuid = randomUUID();
  return `${Date.now().toString(16).padStart(12, '0')}${uuid.slice(0, 8)}${uuid.slice(-12)}`;
}

/** Returns random bytes as hex, for secrets and other values that must not be guessed. */
export const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex');
