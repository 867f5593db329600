import * as z from 'zod';
import type { Caller, CallOptions } from '../call.ts';
import type { Endpoint } from '../endpoint.ts';
import { createListing, type Listing } from '../pages.ts';
import { ActiveEmployee, AllEmployeesQuery, Employee } from '../schemas/employee.ts';

const ACTIVE: Endpoint = { method: 'GET', path: '/platform/api/employees' };
const ALL: Endpoint = { method: 'GET', path: '/platform/api/employees/include_terminated' };
const ONE: Endpoint = { method: 'GET', path: '/platform/api/employees/{employeeId}' };

/**
 * Workforce Platform API, Employees. Which fields come depends on the credential's scopes; an absent field says
 * nothing about the person.
 */
export interface EmployeesResource {
  /** `GET /employees`: each active employee provisioned to the application. `limit` is the page size, 1 to 100. */
  readonly list: Listing<ActiveEmployee>['list'];
  /** The same, page by page, to the empty page. A page that times out or answers 504 is read again in smaller ones. */
  readonly pages: Listing<ActiveEmployee>['pages'];
  /**
   * `GET /employees/include_terminated`: active and terminated employees. `ein` keeps to one employer identification
   * number; `sendAllRoles` gives every employee of the company, bypassing access rules.
   */
  readonly listAll: Listing<Employee, AllEmployeesQuery>['list'];
  /** The same, page by page. */
  readonly pagesAll: Listing<Employee, AllEmployeesQuery>['pages'];
  /** `GET /employees/{employeeId}`: one employee by role id. @throws NotFoundError where there is none. */
  get(roleId: string, options?: CallOptions): Promise<Employee>;
}

export function employeesResource(call: Caller): EmployeesResource {
  const active: Listing<ActiveEmployee> = createListing(call, {
    endpoint: ACTIVE,
    items: z.array(ActiveEmployee),
  });
  const all: Listing<Employee, AllEmployeesQuery> = createListing(call, {
    endpoint: ALL,
    items: z.array(Employee),
    query: AllEmployeesQuery,
  });
  return {
    list: active.list,
    pages: active.pages,
    listAll: all.list,
    pagesAll: all.pages,
    get: (employeeId, options) =>
      call({ endpoint: ONE, ids: { employeeId }, decoding: { schema: Employee } }, options),
  };
}
