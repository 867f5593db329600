import { afterEach, expect, it, vi } from 'vitest';
import { runCli } from '../support/cli/io.ts';
import { savedWorld } from '../support/operate/world.ts';

afterEach(() => vi.restoreAllMocks());

it('the console ends after 12 hours', async () => {
  const { ports } = await savedWorld();
  const expiry = new AbortController();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    if (ms !== 12 * 3_600_000) return new AbortController().signal;
    setTimeout(() => expiry.abort(), 50);
    return expiry.signal;
  });
  const { code, stdout, stderr } = await runCli(['console', '--no-open'], { ports });
  expect(timeout).toHaveBeenCalled();
  expect(code).toBe(0);
  expect(stderr).toContain('expired after 12 hours');
  const [url = ''] = stdout.split('\n');
  await expect(fetch(url)).rejects.toThrow();
});
