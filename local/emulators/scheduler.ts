import * as z from 'zod';
import type { Schedule } from '../schedules.ts';
import {
  AwsFault,
  type AwsReply,
  type AwsRequest,
  type AwsService,
  jsonReply,
  readBody,
} from './exchange.ts';

const PATH = /^\/schedules(?:\/([^/]+))?\/?$/;
const GROUP = 'default';
const SECONDS = { second: 1, minute: 60, hour: 3600, day: 86_400 } as const;

/** The body of UpdateSchedule, with all fields that AWS requires. This emulator ignores the target. */
const Update = z.object({
  ScheduleExpression: z.string(),
  State: z.enum(['ENABLED', 'DISABLED']).default('ENABLED'),
  Target: z.looseObject({ Arn: z.string() }),
  FlexibleTimeWindow: z.looseObject({ Mode: z.enum(['OFF', 'FLEXIBLE']) }),
});

/**
 * Emulates EventBridge Scheduler's ListSchedules, GetSchedule and UpdateSchedule for the schedules of this process.
 * DISABLED pauses a schedule. In addition to AWS's units, `rate` accepts seconds.
 */
export function createScheduler(schedules: ReadonlyMap<string, Schedule>): AwsService {
  return (request) => {
    const found = PATH.exec(request.path);
    if (found === null) return undefined;
    return answer(schedules, request, found[1] === undefined ? undefined : decodeURIComponent(found[1]));
  };
}

async function answer(
  schedules: ReadonlyMap<string, Schedule>,
  request: AwsRequest,
  name: string | undefined,
): Promise<AwsReply> {
  if (name === undefined && request.method === 'GET') {
    const prefix = request.query.get('NamePrefix') ?? '';
    const listed = [...schedules.values()].filter((one) => one.name.startsWith(prefix));
    return jsonReply({ Schedules: listed.map(describe) });
  }
  const schedule = schedules.get(name ?? '');
  if (schedule === undefined) {
    throw new AwsFault('ResourceNotFoundException', `Schedule ${name ?? ''} does not exist.`, 404);
  }
  if (request.method === 'GET') return jsonReply(describe(schedule));
  if (request.method !== 'PUT') throw new AwsFault('ValidationException', 'expected GET or PUT');
  const change = readBody(request, Update);
  schedule.update({
    enabled: change.State === 'ENABLED',
    everySeconds: parseRate(change.ScheduleExpression),
  });
  return jsonReply({ ScheduleArn: arnOf(schedule.name) });
}

const arnOf = (name: string) => `arn:aws:scheduler:us-east-1:000000000000:schedule/${GROUP}/${name}`;

const describe = (schedule: Schedule) => ({
  Arn: arnOf(schedule.name),
  Name: schedule.name,
  GroupName: GROUP,
  State: schedule.isEnabled() ? 'ENABLED' : 'DISABLED',
  ScheduleExpression: formatRate(schedule.everySeconds()),
  FlexibleTimeWindow: { Mode: 'OFF' },
  Target: { Arn: arnOf(schedule.name), RoleArn: 'arn:aws:iam::000000000000:role/local' },
});

function parseRate(expression: string): number {
  const found = /^rate\((\d+) (second|minute|hour|day)s?\)$/.exec(expression);
  const seconds = Number(found?.[1] ?? 0) * SECONDS[(found?.[2] ?? 'second') as keyof typeof SECONDS];
  if (seconds > 0) return seconds;
  throw new AwsFault('ValidationException', `expected rate(N minutes|hours|days), got ${expression}`);
}

function formatRate(seconds: number): string {
  const unit = (['day', 'hour', 'minute'] as const).find((one) => seconds % SECONDS[one] === 0) ?? 'second';
  const count = seconds / SECONDS[unit];
  return `rate(${count} ${unit}${count === 1 ? '' : 's'})`;
}
