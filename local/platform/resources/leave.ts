import * as z from 'zod';
import { type Call, endpoint } from '../endpoint.ts';
import { forbidden, notFound } from '../errors.ts';
import { leaveBalance } from '../leave-balance.ts';
import {
  createLeave,
  type LeaveAuthor,
  leaveRequestOf,
  processLeave,
  updateLeave,
} from '../leave-changes.ts';
import { Pagination, page } from '../query.ts';
import { LeaveBalance, type LeaveRecord, LeaveRequest, ProcessedLeaveRequest } from '../schemas/leave.ts';
import { CreateLeave, UpdateLeave } from '../schemas/leave-body.ts';
import { ownerOf } from './account.ts';
import { employees } from './employees.ts';

const area = 'Leave';
const ofRequest = z.object({ id: z.string() });

const create = endpoint({
  method: 'POST',
  path: '/platform/api/leave_requests',
  operationId: 'createLeaveRequest',
  area,
  summary: 'Creates a leave request (alpha)',
  description:
    'A request is partner-managed if it has an `externalId` or if a partner manages its leave type. Such a request can have any status and needs no `leavePolicy`. The answer is an array with this request.',
  body: CreateLeave,
  response: z.array(LeaveRequest).length(1),
  handle: (call) => {
    const request = createLeave(call.body, call.simulation.newId(), author(call));
    return [leaveResponse(save(call, request))];
  },
});

const update = endpoint({
  method: 'PATCH',
  path: '/platform/api/leave_requests/:id',
  operationId: 'updateLeaveRequest',
  area,
  summary: 'Updates a leave request',
  description: 'The answer is an array with this request.',
  params: ofRequest,
  body: UpdateLeave,
  response: z.array(LeaveRequest).length(1),
  handle: (call) => {
    const request = leaveRequestOf(call.company, call.params.id);
    return [leaveResponse(save(call, updateLeave(request, call.body, author(call))))];
  },
});

const process = endpoint({
  method: 'POST',
  path: '/platform/api/leave_requests/:id/process',
  operationId: 'processLeaveRequest',
  area,
  summary: 'Approves or declines a pending leave request; the caller must be an admin or a manager',
  description: 'An approved request becomes APPROVED. A declined request becomes REJECTED.',
  params: ofRequest,
  query: z.object({ action: z.enum(['approve', 'decline']) }),
  response: ProcessedLeaveRequest,
  handle: (call) => {
    if (call.credential.role === 'employee') {
      throw forbidden('only an admin or a manager can process leave requests');
    }
    const request = leaveRequestOf(call.company, call.params.id);
    const { leaveType, ...rest } = leaveResponse(
      save(call, processLeave(request, call.query.action, author(call))),
    );
    return { ...rest, leaveTypeUniqueId: leaveType };
  },
});

const readBalance = endpoint({
  method: 'GET',
  path: '/platform/api/leave_balances/:role',
  operationId: 'readLeaveBalance',
  area,
  summary: 'The leave balances of one role, as strings',
  params: z.object({ role: z.string() }),
  response: LeaveBalance,
  handle: ({ company, params, simulation }) => {
    if (!company.employees.has(params.role)) throw notFound('employee', params.role);
    const today = dateOf(simulation.clock());
    return leaveBalance({ company, role: params.role, today }, (hours) => hours.toFixed(2));
  },
});

const listBalances = endpoint({
  method: 'GET',
  path: '/platform/api/leave_balances',
  operationId: 'listLeaveBalances',
  area,
  summary: 'The leave balances of every active role, as numbers',
  query: Pagination,
  response: z.array(LeaveBalance),
  handle: ({ company, query, simulation }) => {
    const today = dateOf(simulation.clock());
    const active = employees(company, (one) => one.provisioned && one.roleState === 'ACTIVE');
    return page(active, query).map(({ id }) =>
      leaveBalance({ company, role: id, today }, (hours) => Number(hours.toFixed(2))),
    );
  },
});

export const leaveEndpoints = [create, update, process, readBalance, listBalances];

const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

const author = ({ company, credential, simulation }: Call): LeaveAuthor => ({
  company,
  by: ownerOf(company, credential),
  nowMs: simulation.clock(),
});

function save({ company, simulation }: Call, request: LeaveRecord): LeaveRecord {
  simulation.store.commit([{ kind: 'leave', company: company.id, request }]);
  return request;
}

function leaveResponse({ companyLeaveType: _, ...request }: LeaveRecord): LeaveRequest {
  return request;
}
