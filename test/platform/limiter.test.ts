import { expect, it } from 'vitest';
import { createLimiter } from '../../shared/platform/caller.ts';

it('a waiting task that is cancelled does not use a slot', async () => {
  const limiter = createLimiter(1);
  const controller = new AbortController();
  let finish = () => {};
  const first = limiter(() => new Promise<void>((resolve) => (finish = resolve)));
  const second = limiter(async () => 'never', controller.signal);
  const third = limiter(async () => 'third');
  controller.abort(new Error('gave up'));
  await expect(second).rejects.toThrow('gave up');
  finish();
  await first;
  await expect(third).resolves.toBe('third');
});
