import * as z from 'zod';
import { roleId } from '../../domain/ids.ts';
import { type Caller, type CallOptions, checked, type Endpoint } from '../call.ts';
import { createListing } from '../pages.ts';
import { amount, CalendarDate, flag, OffsetTime, openEnum, text } from '../schemas/field.ts';

const FORM = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;

/**
 * Returns an exact decimal in one canonical form: a text without exponent, plus sign, sign of zero, or unnecessary
 * zeros. `"7.50"`, `7.5` and `75e-1` all become `7.5`. Returns undefined if the text is not a decimal.
 */
export function canonicalDecimal(text: string): string | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = FORM.exec(text.trim()) ?? [];
  if (sign === undefined || whole + fraction === '') return undefined;
  const point = whole.length + Number(exponent);
  const digits = whole + fraction;
  const before = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '';
  const after = point > 0 ? digits.slice(point) : digits.padStart(digits.length - point, '0');
  const left = before.replace(/^0+/, '') || '0';
  const right = after.replace(/0+$/, '');
  const value = right === '' ? left : `${left}.${right}`;
  return sign === '-' && value !== '0' ? `-${value}` : value;
}

/** A decimal. Some responses contain it as a string, others as a number. The result is canonical text. */
export const Decimal = z.union([z.string(), z.number()]).transform((value, context) => {
  const decimal = canonicalDecimal(String(value));
  if (decimal !== undefined) return decimal;
  context.addIssue({ code: 'custom', message: 'expected a decimal' });
  return z.NEVER;
});

const STRING_THEN_NUMBER = /("(?:[^"\\]|\\.)*")(?:(\s*:\s*)(-?\d[\d.eE+-]*))?/g;

/**
 * Puts the numbers in the given fields into quotes, so that `JSON.parse` does not round them: `{"balance":
 * 0.10000000000000000001}` becomes `{"balance": "0.10000000000000000001"}`. The content of a string is never changed.
 */
export function quoteNumbers(json: string, members: readonly string[]): string {
  const names = new Set(members.map((name) => JSON.stringify(name)));
  return json.replace(STRING_THEN_NUMBER, (all, name: string, colon?: string, number?: string) =>
    number !== undefined && names.has(name) ? `${name}${colon}"${number}"` : all,
  );
}

const LeaveStatus = openEnum(['PENDING', 'APPROVED', 'REJECTED', 'CANCELED']);

const ManagedBy = openEnum(['PTO', 'LEAVES', 'PARTNER']);

/** A number of hours. The specification uses numbers in responses, and numeric strings in requests. */
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
  /** The process endpoint returns `leaveType` under this name. */
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

/** Workforce Platform API, Leave request. The field `leaveTypeUniqueId` becomes `leaveType`. */
const LeaveRecord = record.transform(({ leaveTypeUniqueId: other, ...rest }) =>
  rest.leaveType !== undefined || other === undefined ? rest : { ...rest, leaveType: other },
);

const LeaveRequest = z.preprocess(
  (body) => (Array.isArray(body) && body.length === 1 ? body[0] : body),
  LeaveRecord,
);

/** A number of hours, or a numeric string of hours. It is sent as a numeric string. */
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
 * Body of a new leave request. The platform checks two rules. `leavePolicy` is required, except for a request that the
 * partner manages. A `status` other than PENDING is allowed only for a request that the partner manages. Hours are
 * numbers or numeric strings. Dates are YYYY-MM-DD.
 */
const NewLeaveRequest = z.strictObject({
  role: z.string().min(1),
  companyLeaveType: z.string().min(1),
  startDate: CalendarDate,
  endDate: CalendarDate,
  ...changes,
});
type NewLeaveRequest = z.input<typeof NewLeaveRequest>;

/** The fields to change, at least one. The platform decides which fields may change. */
const LeaveRequestChange = z
  .strictObject({ startDate: CalendarDate.optional(), endDate: CalendarDate.optional(), ...changes })
  .refine(
    (change) => Object.values(change).some((value) => value !== undefined),
    'expected a field to change',
  );
type LeaveRequestChange = z.input<typeof LeaveRequestChange>;

const LeaveAction = z.enum(['approve', 'decline']);
type LeaveAction = z.infer<typeof LeaveAction>;

/** Fields of a leave balance whose numbers must stay exact. */
const BALANCE_AMOUNTS = ['balanceWithFutureRequests', 'balanceWithoutFutureRequests'] as const;

/** Workforce Platform API, Leave balance. Amounts are canonical decimal text. An unlimited balance has no amounts. */
const LeaveBalance = z.object({
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

const CREATE: Endpoint = { method: 'POST', path: '/platform/api/leave_requests' };
const UPDATE: Endpoint = { method: 'PATCH', path: '/platform/api/leave_requests/{id}' };
const PROCESS: Endpoint = { method: 'POST', path: '/platform/api/leave_requests/{id}/process' };
const BALANCES: Endpoint = { method: 'GET', path: '/platform/api/leave_balances' };
const BALANCE: Endpoint = { method: 'GET', path: '/platform/api/leave_balances/{role}' };

export const leaveResource = (call: Caller) => ({
  requests: requestsResource(call),
  balances: balancesResource(call),
});

/**
 * Workforce Platform API, Leave: requests. If the outcome of a call is unknown, the client does not repeat the call.
 * `mayHaveTakenEffect` shows whether the call may have taken effect.
 */
function requestsResource(call: Caller) {
  const decoding = { schema: LeaveRequest };
  return {
    /** `POST /leave_requests` (an alpha endpoint): returns the request as recorded. @throws BadRequestError */
    create: (value: NewLeaveRequest, options?: CallOptions) =>
      call({ endpoint: CREATE, body: { schema: NewLeaveRequest, value }, decoding }, options),
    /** `PATCH /leave_requests/{id}`: sends the given fields, and returns the changed request. @throws NotFoundError */
    update: (id: string, value: LeaveRequestChange, options?: CallOptions) =>
      call({ endpoint: UPDATE, ids: { id }, body: { schema: LeaveRequestChange, value }, decoding }, options),
    /**
     * `POST /leave_requests/{id}/process`: approves or declines a PENDING request.
     * @throws ForbiddenError if the credential does not belong to an admin or a manager
     */
    process: async (id: string, action: LeaveAction, options?: CallOptions) => {
      const query = { action: checked(LeaveAction, action, PROCESS) };
      return call({ endpoint: PROCESS, ids: { id }, query, decoding }, options);
    },
  };
}

/**
 * Workforce Platform API, Leave: balances. `GET /leave_balances` returns one balance per role. `limit` is the page
 * size, 1 to 100. Amounts are exact decimals as text. An unlimited balance has no amounts.
 */
function balancesResource(call: Caller) {
  const prepare = (json: string) => quoteNumbers(json, BALANCE_AMOUNTS);
  return {
    ...createListing(call, { endpoint: BALANCES, items: z.array(LeaveBalance), prepare }),
    /** `GET /leave_balances/{role}`: the balances of one role id. @throws NotFoundError */
    get: (role: string, options?: CallOptions) =>
      call({ endpoint: BALANCE, ids: { role }, decoding: { schema: LeaveBalance, prepare } }, options),
  };
}
