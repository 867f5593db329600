import * as z from 'zod';
import type { Caller, CallOptions } from '../call.ts';
import { checked } from '../checked.ts';
import type { Endpoint } from '../endpoint.ts';
import { createListing } from '../pages.ts';
import { quoteNumbers } from '../schemas/decimal.ts';
import {
  BALANCE_AMOUNTS,
  LeaveAction,
  LeaveBalance,
  LeaveRequest,
  LeaveRequestChange,
  NewLeaveRequest,
} from '../schemas/leave.ts';

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
 * Workforce Platform API, Leave: requests. None of these is repeated when the outcome is unknown; see
 * `mayHaveTakenEffect` for what an error says about that.
 */
function requestsResource(call: Caller) {
  const decoding = { schema: LeaveRequest };
  return {
    /** `POST /leave_requests` (alpha at the platform): the request as recorded. @throws BadRequestError */
    create: (value: NewLeaveRequest, options?: CallOptions) =>
      call({ endpoint: CREATE, body: { schema: NewLeaveRequest, value }, decoding }, options),
    /** `PATCH /leave_requests/{id}`: sends only the fields given; the request as it is then. @throws NotFoundError */
    update: (id: string, value: LeaveRequestChange, options?: CallOptions) =>
      call({ endpoint: UPDATE, ids: { id }, body: { schema: LeaveRequestChange, value }, decoding }, options),
    /**
     * `POST /leave_requests/{id}/process`: approves or declines a PENDING request.
     * @throws ForbiddenError unless the credential is an admin's or a manager's.
     */
    process: async (id: string, action: LeaveAction, options?: CallOptions) => {
      const query = { action: checked(LeaveAction, action, PROCESS) };
      return call({ endpoint: PROCESS, ids: { id }, query, decoding }, options);
    },
  };
}

/**
 * Workforce Platform API, Leave: balances (`GET /leave_balances`, one per role; `limit` is the page size, 1 to 100).
 * Amounts are exact decimals as text; an unlimited balance has none.
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
