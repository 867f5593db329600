import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll } from 'vitest';

/**
 * Stores which of several callers runs, across its awaits. A file creates one storage at its top level. It is disabled
 * at the end of the file, because Node checks every storage for each promise, also in later files of the worker.
 */
export function callerStorage<Caller>(): AsyncLocalStorage<Caller> {
  const storage = new AsyncLocalStorage<Caller>();
  afterAll(() => storage.disable());
  return storage;
}
