import { afterEach, expect, it, vi } from 'vitest';
import { savedWorld } from '../support/operate/world.ts';

afterEach(() => vi.restoreAllMocks());

it('the console ends after 12 hours', async () => {
  const { cli } = await savedWorld();
  const expiry = new AbortController();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    if (ms !== 12 * 3_600_000) return new AbortController().signal;
    setTimeout(() => expiry.abort(), 50);
    return expiry.signal;
  });
  const { code, stdout, stderr } = await cli('console', '--no-open');
  expect(timeout).toHaveBeenCalled();
  expect(code).toBe(0);
  expect(stderr).toContain('expired after 12 hours');
  const [url = ''] = stdout.split('\n');
  await expect(fetch(url)).rejects.toThrow();
});
