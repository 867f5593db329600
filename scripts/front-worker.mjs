/**
 * Starts the thread of the table emulator if the stack runs from its sources, as in tests. A worker thread does not
 * inherit the loader for TypeScript, and its own loader would triple the start-up time. So the thread runs a built
 * file.
 */
import { builtFolder } from './built.mjs';

const folder = await builtFolder(
  ['local/emulators/front-worker.ts'],
  ['local', 'shared/contract', 'shared/domain'],
);
await import(new URL('front-worker.mjs', folder).href);
