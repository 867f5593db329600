import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll } from 'vitest';

/**
 * Which of several callers runs, across its awaits: one for a file, made at its top level. It ends with the file,
 * because Node looks at every storage for each promise, also those of later files in the same worker.
 */
export function callerStorage<Caller>(): AsyncLocalStorage<Caller> {
  const storage = new AsyncLocalStorage<Caller>();
  afterAll(() => storage.disable());
  return storage;
}
