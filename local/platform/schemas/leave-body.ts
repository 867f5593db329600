import * as z from 'zod';
import { LeaveStatus } from './leave.ts';

const CalendarDate = z.iso.date();
const Timestamp = z.iso.datetime({ offset: true });
const NumericString = z
  .string()
  .regex(/^\d{1,2}(\.\d+)?$/, 'expected hours as a numeric string such as "4" or "3.5"')
  .refine((text) => Number(text) <= 24, 'expected at most 24 hours');

const changeable = {
  companyLeaveType: z.string(),
  leavePolicy: z.string().min(1).nullable(),
  status: LeaveStatus.describe('Only partner-managed requests can have a value other than PENDING.'),
  startDate: CalendarDate,
  endDate: CalendarDate,
  startDateStartTime: Timestamp.nullable(),
  endDateEndTime: Timestamp.nullable(),
  startDateCustomHours: NumericString.nullable(),
  endDateCustomHours: NumericString.nullable(),
  reasonForLeave: z.string(),
  comments: z.string().nullable(),
  externalId: z.string().min(1).nullable(),
};

/**
 * Body of POST /leave_requests. The specification requires only leavePolicy. The simulator also requires other fields.
 */
export const CreateLeave = z
  .object({
    role: z.string(),
    ...z.object(changeable).partial().shape,
    companyLeaveType: changeable.companyLeaveType,
    startDate: CalendarDate,
    endDate: CalendarDate,
  })
  .meta({ id: 'CreateLeaveRequest' });
export type CreateLeave = z.infer<typeof CreateLeave>;

/** Body of PATCH /leave_requests/{id}: all fields of a creation except `role`. */
export const UpdateLeave = z.object(changeable).partial().meta({ id: 'UpdateLeaveRequest' });
export type UpdateLeave = z.infer<typeof UpdateLeave>;
