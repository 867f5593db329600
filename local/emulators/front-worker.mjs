import { builtFolder } from '../../scripts/built.mjs';

// For code that runs from its sources. A worker thread does not inherit the loader that reads TypeScript, and with a
// loader of its own it would take three times as long to start.
const folder = await builtFolder(
  ['local/emulators/front-worker.ts'],
  ['local', 'shared/contract', 'shared/domain'],
);
await import(new URL('front-worker.mjs', folder).href);
