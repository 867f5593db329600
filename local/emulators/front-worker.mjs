import { register } from 'tsx/esm/api';

// Threads do not inherit the loader that reads TypeScript.
register();
await import('./front-worker.ts');
