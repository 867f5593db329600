import * as z from 'zod';
import type { Caller, CallOptions } from '../call.ts';
import { checked } from '../checked.ts';
import type { Endpoint } from '../endpoint.ts';
import { createListing, type Listing } from '../pages.ts';
import { quoteNumbers } from '../schemas/decimal.ts';
import {
  BALANCE_AMOUNTS,
  LeaveAction,
  LeaveBalance,
  LeaveRequest,
  LeaveRequestChange,
  NewLeaveRequest,
} from '../schemas/leave.ts';
import type { PageQuery } from '../schemas/page.ts';

const CREATE: Endpoint = { method: 'POST', path: '/platform/api/leave_requests' };
const UPDATE: Endpoint = { method: 'PATCH', path: '/platform/api/leave_requests/{id}' };
const PROCESS: Endpoint = { method: 'POST', path: '/platform/api/leave_requests/{id}/process' };
const BALANCES: Endpoint = { method: 'GET', path: '/platform/api/leave_balances' };
const BALANCE: Endpoint = { method: 'GET', path: '/platform/api/leave_balances/{role}' };

/**
 * Workforce Platform API, Leave: requests. None of these is repeated when the outcome is unknown; see
 * `mayHaveTakenEffect` for what an error says about that.
 */
export interface LeaveRequestsResource {
  /** `POST /leave_requests` (alpha at the platform): the request as recorded. @throws BadRequestError */
  create(request: NewLeaveRequest, options?: CallOptions): Promise<LeaveRequest>;
  /** `PATCH /leave_requests/{id}`: sends only the fields given; the request as it is then. @throws NotFoundError */
  update(id: string, change: LeaveRequestChange, options?: CallOptions): Promise<LeaveRequest>;
  /**
   * `POST /leave_requests/{id}/process`: approves or declines a PENDING request.
   * @throws ForbiddenError unless the credential is an admin's or a manager's.
   */
  process(id: string, action: LeaveAction, options?: CallOptions): Promise<LeaveRequest>;
}

/**
 * Workforce Platform API, Leave: balances (`GET /leave_balances`, one per role; `limit` is the page size, 1 to 100).
 * Amounts are exact decimals as text; an unlimited balance has none.
 */
export interface LeaveBalancesResource extends Listing<LeaveBalance> {
  /** `GET /leave_balances/{role}`: the balances of one role id. @throws NotFoundError */
  get(roleId: string, options?: CallOptions): Promise<LeaveBalance>;
}

export interface LeaveResource {
  readonly requests: LeaveRequestsResource;
  readonly balances: LeaveBalancesResource;
}

export function leaveResource(call: Caller): LeaveResource {
  return { requests: requestsResource(call), balances: balancesResource(call) };
}

function requestsResource(call: Caller): LeaveRequestsResource {
  const decoding = { schema: LeaveRequest };
  return {
    create: (value, options) =>
      call({ endpoint: CREATE, body: { schema: NewLeaveRequest, value }, decoding }, options),
    update: (id, value, options) =>
      call({ endpoint: UPDATE, ids: { id }, body: { schema: LeaveRequestChange, value }, decoding }, options),
    process: async (id, action, options) => {
      const query = { action: checked(LeaveAction, action, PROCESS) };
      return call({ endpoint: PROCESS, ids: { id }, query, decoding }, options);
    },
  };
}

function balancesResource(call: Caller): LeaveBalancesResource {
  const prepare = (json: string) => quoteNumbers(json, BALANCE_AMOUNTS);
  return {
    ...createListing<LeaveBalance, PageQuery>(call, {
      endpoint: BALANCES,
      items: z.array(LeaveBalance),
      prepare,
    }),
    get: (role, options) =>
      call({ endpoint: BALANCE, ids: { role }, decoding: { schema: LeaveBalance, prepare } }, options),
  };
}
