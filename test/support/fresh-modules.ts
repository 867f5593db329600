import { afterAll, vi } from 'vitest';

/* The next test file of this worker loads its own modules and gets the same environment. Packages stay loaded. */

const environment = { ...process.env };
vi.resetModules();
afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
});
