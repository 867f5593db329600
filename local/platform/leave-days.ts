import { type EmployeeRecord, WEEKDAYS } from './schemas/employee.ts';
import type { LeaveRequest } from './schemas/leave.ts';

const DAY_MS = 86_400_000;
/** Longest leave that the simulator accepts. It limits the work, because a leave is computed day by day. */
export const MAX_LEAVE_DAYS = 3 * 366;

interface LeaveSpan {
  /** YYYY-MM-DD, both inclusive. */
  readonly startDate: string;
  readonly endDate: string;
  /** The hours of leave on the first and last day, if they differ from the schedule. */
  readonly startDateCustomHours: number | null;
  readonly endDateCustomHours: number | null;
}

type Worked = Pick<LeaveRequest, 'dates' | 'partialDays' | 'numHours' | 'numMinutes'>;

/**
 * Returns the number of calendar days from start to end, including both; less than 1 if the end is before the start.
 */
export const calendarDays = ({ startDate, endDate }: Pick<LeaveSpan, 'startDate' | 'endDate'>) =>
  (Date.parse(endDate) - Date.parse(startDate)) / DAY_MS + 1;

/** Returns the days of a leave according to the employee's work schedule. Days without working hours are left out. */
export function leaveDays(span: LeaveSpan, schedule: EmployeeRecord['workSchedule']): Worked {
  const dates: Worked['dates'] = [];
  const partialDays: Worked['partialDays'] = [];
  const count = calendarDays(span);
  for (let day = 0; day < count; day += 1) {
    const ms = Date.parse(span.startDate) + day * DAY_MS;
    const date = new Date(ms).toISOString().slice(0, 10);
    const custom = customHours(span, day, count);
    const hours = custom ?? scheduledHours(ms, schedule);
    const numMinutes = Math.round(hours * 60);
    if (numMinutes === 0) continue;
    dates.push({ date, numMinutes });
    if (custom !== null) partialDays.push({ partialDay: date, numMinutes });
  }
  const numMinutes = dates.reduce((sum, day) => sum + day.numMinutes, 0);
  return { dates, partialDays, numMinutes, numHours: numMinutes / 60 };
}

function customHours(span: LeaveSpan, day: number, count: number): number | null {
  if (day === 0 && span.startDateCustomHours !== null) return span.startDateCustomHours;
  return day === count - 1 ? span.endDateCustomHours : null;
}

function scheduledHours(ms: number, schedule: EmployeeRecord['workSchedule']): number {
  // getUTCDay starts at Sunday, and the schedule starts at Monday.
  const weekday = WEEKDAYS[(new Date(ms).getUTCDay() + 6) % 7];
  return weekday === undefined ? 0 : (schedule[weekday]?.hours ?? 0);
}
