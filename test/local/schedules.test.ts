import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startSchedule } from '../../local/schedules.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start(task: () => Promise<void>) {
  const errors: unknown[] = [];
  const schedule = startSchedule({
    name: 'pump',
    everySeconds: 2,
    task,
    onError: (_, error) => errors.push(error),
  });
  return { schedule, errors };
}

it('a schedule runs its task one period after the start and one period after the end of each run, and never concurrently', async () => {
  let active = 0;
  let most = 0;
  const task = vi.fn(async () => {
    most = Math.max(most, ++active);
    await new Promise((resolve) => setTimeout(resolve, 5000));
    active -= 1;
  });
  start(task);
  await vi.advanceTimersByTimeAsync(1999);
  expect(task).toHaveBeenCalledTimes(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(task).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(6999);
  expect(task).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(task).toHaveBeenCalledTimes(2);
  expect(most).toBe(1);
});

it('a schedule reports a failed run and continues', async () => {
  const task = vi.fn(() => Promise.reject(new Error('broken')));
  const { errors } = start(task);
  await vi.advanceTimersByTimeAsync(4000);
  expect(task).toHaveBeenCalledTimes(2);
  expect(errors).toHaveLength(2);
});

it('a call of runNow during a scheduled run waits for this run', async () => {
  const task = vi.fn(() => new Promise<void>((resolve) => setTimeout(resolve, 100)));
  const { schedule } = start(task);
  const both = Promise.all([schedule.runNow(), schedule.runNow()]);
  await vi.advanceTimersByTimeAsync(100);
  await both;
  expect(task).toHaveBeenCalledTimes(1);
});

it('a stopped schedule starts no run, and waits for the current run', async () => {
  let done = false;
  const task = vi.fn(async () => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    done = true;
  });
  const { schedule } = start(task);
  void schedule.runNow();
  const stopped = schedule.stop().then(() => expect(done).toBe(true));
  await vi.advanceTimersByTimeAsync(60_000);
  await stopped;
  expect(task).toHaveBeenCalledTimes(1);
});
