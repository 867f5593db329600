import { it } from 'vitest';
import { startWithDirectory, TIMEOUT_MS } from './support/directory-stack.ts';

it(
  'npm start reads an Entra directory through its API, writes its groups to the platform, and ends',
  () => startWithDirectory('entra'),
  TIMEOUT_MS,
);
