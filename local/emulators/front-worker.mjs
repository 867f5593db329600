import { register } from 'tsx/esm/api';

// A worker thread does not inherit the loader that reads TypeScript.
register();
await import('./front-worker.ts');
