import { expect, it } from 'vitest';
import { createLimiter } from '../../shared/platform/caller.ts';

it('the limiter runs all tasks in order, and at most the given number at the same time', async () => {
  const limiter = createLimiter(3);
  const order: number[] = [];
  let running = 0;
  let most = 0;
  const work = (n: number) =>
    limiter(async () => {
      order.push(n);
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      if (n % 4 === 0) throw new Error('one that fails');
    });
  await Promise.allSettled(Array.from({ length: 20 }, (_, n) => work(n)));
  expect(most).toBe(3);
  expect(order).toEqual(Array.from({ length: 20 }, (_, n) => n));
});

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
