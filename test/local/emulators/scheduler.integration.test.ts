import { GetScheduleCommand, SchedulerClient, UpdateScheduleCommand } from '@aws-sdk/client-scheduler';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createScheduler } from '../../../local/emulators/scheduler.ts';
import { startSchedule } from '../../../local/schedules.ts';
import { startFront } from '../support/front.ts';

async function start(task: () => Promise<void>) {
  const name = 'groupsync-pump';
  const schedule = startSchedule({ name, everySeconds: 2, task, onError: () => undefined });
  onTestFinished(() => schedule.stop());
  return new SchedulerClient(await startFront(createScheduler(new Map([[name, schedule]]))));
}

const change = (State: 'ENABLED' | 'DISABLED', ScheduleExpression: string) =>
  new UpdateScheduleCommand({
    Name: 'groupsync-pump',
    State,
    ScheduleExpression,
    FlexibleTimeWindow: { Mode: 'OFF' },
    Target: {
      Arn: 'arn:aws:lambda:us-east-1:000000000000:function:groupsync-reconcile',
      RoleArn: 'arn:aws:iam::000000000000:role/r',
    },
  });

it('UpdateSchedule pauses and resumes a schedule', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const task = vi.fn(async () => undefined);
  const client = await start(task);
  await client.send(change('DISABLED', 'rate(2 seconds)'));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(task).not.toHaveBeenCalled();
  expect((await client.send(new GetScheduleCommand({ Name: 'groupsync-pump' }))).State).toBe('DISABLED');
  await client.send(change('ENABLED', 'rate(1 minute)'));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(task).toHaveBeenCalledTimes(1);
});
