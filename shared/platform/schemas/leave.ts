import * as z from 'zod';
import { roleId } from '../../domain/ids.ts';
import { canonicalDecimal, Decimal } from './decimal.ts';
import { amount, CalendarDate, flag, OffsetTime, openEnum, text } from './field.ts';

export const LeaveStatus = openEnum(['PENDING', 'APPROVED', 'REJECTED', 'CANCELED']);
export type LeaveStatus = z.infer<typeof LeaveStatus>;

const ManagedBy = openEnum(['PTO', 'LEAVES', 'PARTNER']);

/** A number in responses by the table; a numeric string, as requests have it, is understood too. */
const hours = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^-?\d+(\.\d+)?$/)
      .transform(Number),
  ])
  .nullish();

const record = z.object({
  id: z.string().min(1),
  createdAt: text,
  updatedAt: text,
  role: text,
  roleName: text,
  requestedBy: text,
  requestedByName: text,
  status: LeaveStatus.nullish(),
  startDate: text,
  endDate: text,
  startDateStartTime: text,
  endDateEndTime: text,
  startDateCustomHours: hours,
  endDateCustomHours: hours,
  comments: text,
  numHours: amount,
  numMinutes: amount,
  leavePolicy: text,
  leaveType: openEnum(['VACATION', 'SICK', 'JURY_DUTY']).nullish(),
  /** The process endpoint names it this way. */
  leaveTypeUniqueId: text,
  policyDisplayName: text,
  reasonForLeave: text,
  processedAt: text,
  processedBy: text,
  processedByName: text,
  externalId: text,
  roleTimezone: text,
  dates: z.array(z.object({ date: text, numMinutes: amount })).nullish(),
  isPaid: flag,
  managedBy: ManagedBy.nullish(),
  partialDays: z.array(z.object({ partialDay: text, numMinutes: amount })).nullish(),
});

/** Workforce Platform API, Leave request. `leaveTypeUniqueId` is read as `leaveType`. */
const LeaveRecord = record.transform(({ leaveTypeUniqueId: other, ...rest }) =>
  rest.leaveType !== undefined || other === undefined ? rest : { ...rest, leaveType: other },
);

/** A leave request, alone or wrapped in an array of one. */
export const LeaveRequest = z.preprocess(
  (body) => (Array.isArray(body) && body.length === 1 ? body[0] : body),
  LeaveRecord,
);
export type LeaveRequest = z.infer<typeof LeaveRecord>;

/** Given as a number or a numeric string of hours; sent as a numeric string. */
const hoursSent = z.union([z.number().min(0), z.string()]).transform((value, context) => {
  const decimal = canonicalDecimal(String(value));
  if (decimal !== undefined && !decimal.startsWith('-')) return decimal;
  context.addIssue({ code: 'custom', message: 'expected hours as a number or numeric string' });
  return z.NEVER;
});

const changes = {
  leavePolicy: z.string().min(1).optional(),
  status: z.enum(['PENDING', 'APPROVED', 'REJECTED', 'CANCELED']).optional(),
  startDateStartTime: OffsetTime.optional(),
  endDateEndTime: OffsetTime.optional(),
  startDateCustomHours: hoursSent.optional(),
  endDateCustomHours: hoursSent.optional(),
  reasonForLeave: z.string().optional(),
  externalId: z.string().nullable().optional(),
};

/**
 * Body of a new leave request. `leavePolicy` is required unless the request is managed by the partner, and only such a
 * request may ask for a `status` other than PENDING: both are the platform's to judge. Hours are numbers or numeric
 * strings; dates are YYYY-MM-DD.
 */
export const NewLeaveRequest = z.strictObject({
  role: z.string().min(1),
  companyLeaveType: z.string().min(1),
  startDate: CalendarDate,
  endDate: CalendarDate,
  ...changes,
});
export type NewLeaveRequest = z.input<typeof NewLeaveRequest>;

/** The fields to change; at least one. Which of them the platform accepts is its own to say. */
export const LeaveRequestChange = z
  .strictObject({ startDate: CalendarDate.optional(), endDate: CalendarDate.optional(), ...changes })
  .refine(
    (change) => Object.values(change).some((value) => value !== undefined),
    'expected a field to change',
  );
export type LeaveRequestChange = z.input<typeof LeaveRequestChange>;

export const LeaveAction = z.enum(['approve', 'decline']);
export type LeaveAction = z.infer<typeof LeaveAction>;

/** Balances whose numbers are kept exact. */
export const BALANCE_AMOUNTS = ['balanceWithFutureRequests', 'balanceWithoutFutureRequests'] as const;

/** Workforce Platform API, Leave balance. Amounts are canonical decimal text; an unlimited balance has none. */
export const LeaveBalance = z.object({
  role: z.string().min(1).transform(roleId),
  balances: z.array(
    z.object({
      companyLeaveType: text,
      isBalanceUnlimited: flag,
      balanceWithFutureRequests: Decimal.nullish(),
      balanceWithoutFutureRequests: Decimal.nullish(),
    }),
  ),
});
export type LeaveBalance = z.infer<typeof LeaveBalance>;
