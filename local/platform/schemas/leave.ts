import * as z from 'zod';

export const LeaveStatus = z.enum(['PENDING', 'APPROVED', 'REJECTED', 'CANCELED']);
export const LeaveManagedBy = z.enum(['PTO', 'LEAVES', 'PARTNER']);

/** Specification, "Company leave type". */
export const CompanyLeaveType = z
  .object({
    id: z.string(),
    leaveType: z.string(),
    name: z.string(),
    description: z.string(),
    isUnpaid: z.boolean(),
  })
  .meta({ id: 'CompanyLeaveType' });

/** A leave type with the fields that the simulator needs for the query filter `managedBy` and the balances. */
export const LeaveTypeRecord = CompanyLeaveType.extend({
  managedBy: LeaveManagedBy,
  isBalanceUnlimited: z.boolean(),
  allowanceHours: z.number().describe('Hours that every role has before any leave is taken.'),
});
export type LeaveTypeRecord = z.infer<typeof LeaveTypeRecord>;

export const LeavePolicy = z.object({ id: z.string(), name: z.string() });

/** Specification, "Leave request". */
export const LeaveRequest = z
  .object({
    id: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
    role: z.string(),
    roleName: z.string(),
    requestedBy: z.string(),
    requestedByName: z.string(),
    status: LeaveStatus,
    startDate: z.string(),
    endDate: z.string(),
    startDateStartTime: z.string().nullable(),
    endDateEndTime: z.string().nullable(),
    startDateCustomHours: z.number().nullable(),
    endDateCustomHours: z.number().nullable(),
    comments: z.string().nullable(),
    numHours: z.number(),
    numMinutes: z.number(),
    leavePolicy: z.string().nullable(),
    leaveType: z.string(),
    policyDisplayName: z.string(),
    reasonForLeave: z.string(),
    processedAt: z.string().nullable(),
    processedBy: z.string().nullable(),
    processedByName: z.string().nullable(),
    externalId: z.string().nullable(),
    roleTimezone: z.string(),
    dates: z.array(z.object({ date: z.string(), numMinutes: z.number() })),
    isPaid: z.boolean(),
    managedBy: LeaveManagedBy,
    partialDays: z.array(z.object({ partialDay: z.string(), numMinutes: z.number() })),
  })
  .meta({ id: 'LeaveRequest' });
export type LeaveRequest = z.infer<typeof LeaveRequest>;

/** In the answer of the process endpoint, the leave type has another name (specification, "Leave request"). */
export const ProcessedLeaveRequest = LeaveRequest.omit({ leaveType: true })
  .extend({ leaveTypeUniqueId: z.string() })
  .meta({ id: 'ProcessedLeaveRequest' });

export const LeaveRecord = LeaveRequest.extend({ companyLeaveType: z.string() });
export type LeaveRecord = z.infer<typeof LeaveRecord>;

const Decimal = z
  .union([z.string(), z.number()])
  .describe('Hours, as a string in one endpoint and as a number in another endpoint.');

export const LeaveBalance = z
  .object({
    role: z.string(),
    balances: z.array(
      z.object({
        companyLeaveType: z.string(),
        isBalanceUnlimited: z.boolean(),
        balanceWithFutureRequests: Decimal.optional(),
        balanceWithoutFutureRequests: Decimal.optional(),
      }),
    ),
  })
  .meta({ id: 'LeaveBalance' });
