/** Starts the local stack (`npm start`). */
import { builtFolder } from './built.mjs';

const folder = await builtFolder(
  ['local/start.ts', 'local/emulators/front-worker.ts'],
  ['console', 'functions', 'local', 'directory-simulator', 'shared', 'simulate/platform'],
);
await import(new URL('start.mjs', folder).href);
