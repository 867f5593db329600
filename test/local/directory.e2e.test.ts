import { it } from 'vitest';
import { startWithDirectory, TIMEOUT_MS } from './support/directory-stack.ts';

it(
  'npm start reads a Google directory through its API, writes its groups to the platform, and ends',
  () => startWithDirectory('google'),
  TIMEOUT_MS,
);
