import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll } from 'vitest';

/** Stores the name of the running caller across awaits. After the file it is disabled, because it is slow. */
export function callerStorage<Caller>(): AsyncLocalStorage<Caller> {
  const storage = new AsyncLocalStorage<Caller>();
  afterAll(() => storage.disable());
  return storage;
}
