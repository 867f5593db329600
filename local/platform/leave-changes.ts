import { ApiError, badRequest, notFound } from './errors.ts';
import { calendarDays, leaveDays, MAX_LEAVE_DAYS } from './leave-days.ts';
import type { EmployeeRecord } from './schemas/employee.ts';
import type { LeaveRecord, LeaveTypeRecord } from './schemas/leave.ts';
import type { CreateLeave, UpdateLeave } from './schemas/leave-body.ts';
import { definedOnly } from './state/defined-only.ts';
import type { CompanyState } from './state/state.ts';
import { timestamp } from './timestamp.ts';

/*
 * No field of a body states whether a partner manages a request. The simulator treats a request as partner-managed if
 * it has an externalId, or if the company assigned its leave type to a partner.
 *
 *                        partner-managed      otherwise
 *     status on create   any                  PENDING only
 *     status on PATCH    any                  PENDING only
 *     leavePolicy        optional             required
 *     PATCH, not texts   always               while PENDING
 */

export interface LeaveAuthor {
  readonly company: CompanyState;
  /** The requester or approver; undefined if the company has no active employee. */
  readonly by: EmployeeRecord | undefined;
  readonly nowMs: number;
}

type Body = CreateLeave | UpdateLeave;

/** @throws {ApiError} 400 if the body contradicts the company's data or the rules above */
export function createLeave(body: CreateLeave, id: string, author: LeaveAuthor): LeaveRecord {
  const employee = author.company.employees.get(body.role);
  if (employee === undefined) throw badRequest('body.role: expected the role id of an employee');
  const now = timestamp(author.nowMs);
  const requester = author.by ?? employee;
  return complete(
    {
      id,
      createdAt: now,
      role: employee.id,
      roleName: employee.name,
      requestedBy: requester.id,
      requestedByName: requester.name,
      status: 'PENDING',
      startDate: body.startDate,
      endDate: body.endDate,
      startDateStartTime: null,
      endDateEndTime: null,
      startDateCustomHours: null,
      endDateCustomHours: null,
      comments: null,
      leavePolicy: null,
      companyLeaveType: body.companyLeaveType,
      reasonForLeave: '',
      processedAt: null,
      processedBy: null,
      processedByName: null,
      externalId: null,
      roleTimezone: employee.timezone,
    },
    body,
    author,
  );
}

/** @throws {ApiError} 400 if the body is invalid, 409 if the status of the request does not allow this change */
export function updateLeave(request: LeaveRecord, body: UpdateLeave, author: LeaveAuthor): LeaveRecord {
  const { reasonForLeave, comments, ...substance } = definedOnly(body);
  const changesSubstance = Object.keys(substance).length > 0;
  if (changesSubstance && request.status !== 'PENDING' && request.managedBy !== 'PARTNER') {
    throw new ApiError(409, 'not_pending', `the request is ${request.status}; only its texts can be changed`);
  }
  return complete(request, body, author);
}

/** @throws {ApiError} 409 if the request is not PENDING */
export function processLeave(request: LeaveRecord, action: 'approve' | 'decline', author: LeaveAuthor) {
  if (request.status !== 'PENDING') {
    throw new ApiError(
      409,
      'not_pending',
      `only PENDING requests can be processed; this one is ${request.status}`,
    );
  }
  const status = action === 'approve' ? 'APPROVED' : 'REJECTED';
  const updatedAt = timestamp(author.nowMs);
  return { ...request, status, updatedAt, ...processed(author) } satisfies LeaveRecord;
}

type Unfinished = Omit<
  LeaveRecord,
  | 'updatedAt'
  | 'numHours'
  | 'numMinutes'
  | 'leaveType'
  | 'policyDisplayName'
  | 'dates'
  | 'isPaid'
  | 'managedBy'
  | 'partialDays'
>;

/** Merges the body into the request, checks the rules and computes the derived fields. */
function complete(request: Unfinished, body: Body, author: LeaveAuthor): LeaveRecord {
  const { company, nowMs } = author;
  const { startDateCustomHours, endDateCustomHours, ...given } = definedOnly(body);
  const merged: Unfinished = {
    ...request,
    ...given,
    startDateCustomHours:
      startDateCustomHours === undefined ? request.startDateCustomHours : hours(startDateCustomHours),
    endDateCustomHours:
      endDateCustomHours === undefined ? request.endDateCustomHours : hours(endDateCustomHours),
  };
  const type = company.leaveTypes.get(merged.companyLeaveType);
  if (type === undefined) throw badRequest('body.companyLeaveType: expected the id of a company leave type');
  const managedBy = merged.externalId === null ? type.managedBy : 'PARTNER';
  checkRules(merged, managedBy, company);
  if (merged.status !== 'PENDING' && merged.status !== request.status && managedBy !== 'PARTNER') {
    throw badRequest('body.status: expected PENDING, because no partner manages the request');
  }
  return {
    ...merged,
    ...decision(merged, author),
    updatedAt: timestamp(nowMs),
    ...leaveDays(merged, company.employees.get(merged.role)?.workSchedule ?? {}),
    leaveType: type.leaveType,
    policyDisplayName: policyName(merged.leavePolicy, company, type),
    isPaid: !type.isUnpaid,
    managedBy,
  };
}

function checkRules(request: Unfinished, managedBy: LeaveRecord['managedBy'], company: CompanyState): void {
  const days = calendarDays(request);
  if (days < 1) throw badRequest('body.endDate: expected a date that is not before startDate');
  if (days > MAX_LEAVE_DAYS)
    throw badRequest(`body.endDate: expected at most ${MAX_LEAVE_DAYS} days of leave`);
  const isKnownPolicy =
    company.leavePolicies.size === 0 || company.leavePolicies.has(request.leavePolicy ?? '');
  if (request.leavePolicy !== null && !isKnownPolicy) {
    throw badRequest('body.leavePolicy: expected the id of a leave policy of the company');
  }
  if (managedBy === 'PARTNER') return;
  if (request.leavePolicy === null) {
    throw badRequest('body.leavePolicy: expected a leave policy, because no partner manages the request');
  }
}

const hours = (text: string | null) => (text === null ? null : Number(text));

const processed = ({ by, nowMs }: LeaveAuthor) => ({
  processedAt: timestamp(nowMs),
  processedBy: by?.id ?? null,
  processedByName: by?.name ?? null,
});

/** Returns the processing fields. If they are missing, a request that is not PENDING is processed now. */
function decision({ status, processedAt }: Unfinished, author: LeaveAuthor) {
  if (status === 'PENDING') return { processedAt: null, processedBy: null, processedByName: null };
  return processedAt === null ? processed(author) : {};
}

const policyName = (policy: string | null, company: CompanyState, type: LeaveTypeRecord) =>
  company.leavePolicies.get(policy ?? '')?.name ?? type.name;

/** @throws {ApiError} 404 */
export function leaveRequestOf(company: CompanyState, id: string): LeaveRecord {
  const request = company.leaveRequests.get(id);
  if (request === undefined) throw notFound('leave request', id);
  return request;
}
