import { it } from 'vitest';
import { startWithDirectory, TIMEOUT_MS } from './support/directory-stack.ts';

it(
  'npm start reads an Okta organisation through its API, writes its groups to the platform, and ends',
  () => startWithDirectory('okta'),
  TIMEOUT_MS,
);
