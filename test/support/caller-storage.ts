import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll } from 'vitest';

/**
 * Stores the name of the running caller, even across awaits. A test file creates one storage at its top level. After
 * the file, the storage is disabled, because an enabled storage slows down every promise of the worker.
 */
export function callerStorage<Caller>(): AsyncLocalStorage<Caller> {
  const storage = new AsyncLocalStorage<Caller>();
  afterAll(() => storage.disable());
  return storage;
}
