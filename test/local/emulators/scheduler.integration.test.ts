import {
  GetScheduleCommand,
  ListSchedulesCommand,
  SchedulerClient,
  UpdateScheduleCommand,
} from '@aws-sdk/client-scheduler';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createScheduler } from '../../../local/emulators/scheduler.ts';
import { type Schedule, startSchedule } from '../../../local/schedules.ts';
import { startFront } from '../support/front.ts';

async function start(task: () => Promise<void> = async () => undefined) {
  const make = (name: string, everySeconds: number) => {
    const schedule = startSchedule({ name, everySeconds, task, onError: () => undefined });
    onTestFinished(() => schedule.stop());
    return [name, schedule] as [string, Schedule];
  };
  const schedules = new Map([make('groupsync-pump', 2), make('groupsync-people', 3600)]);
  return new SchedulerClient(await startFront(createScheduler(schedules)));
}

const change = (State: 'ENABLED' | 'DISABLED', ScheduleExpression: string, Name = 'groupsync-pump') =>
  new UpdateScheduleCommand({
    Name,
    State,
    ScheduleExpression,
    FlexibleTimeWindow: { Mode: 'OFF' },
    Target: {
      Arn: 'arn:aws:lambda:us-east-1:000000000000:function:groupsync-reconcile',
      RoleArn: 'arn:aws:iam::000000000000:role/r',
    },
  });

describe('EventBridge Scheduler emulator with the SDK', () => {
  it('ListSchedules and GetSchedule show the schedules', async () => {
    const client = await start();
    const listed = await client.send(new ListSchedulesCommand({ NamePrefix: 'groupsync-p' }));
    expect(listed.Schedules?.map(({ Name, State }) => [Name, State])).toEqual([
      ['groupsync-pump', 'ENABLED'],
      ['groupsync-people', 'ENABLED'],
    ]);
    const people = await client.send(new GetScheduleCommand({ Name: 'groupsync-people' }));
    expect(people).toMatchObject({ State: 'ENABLED', ScheduleExpression: 'rate(1 hour)' });
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
});
