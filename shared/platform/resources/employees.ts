import * as z from 'zod';
import type { Caller, CallOptions } from '../call.ts';
import type { Endpoint } from '../endpoint.ts';
import { createListing, type Listing } from '../pages.ts';
import { ActiveEmployee, AllEmployeesQuery, Employee } from '../schemas/employee.ts';
import type { PageQuery } from '../schemas/page.ts';

const ACTIVE: Endpoint = { method: 'GET', path: '/platform/api/employees' };
const ALL: Endpoint = { method: 'GET', path: '/platform/api/employees/include_terminated' };
const ONE: Endpoint = { method: 'GET', path: '/platform/api/employees/{employeeId}' };

/**
 * Workforce Platform API, Employees. Which fields come depends on the credential's scopes; an absent field says
 * nothing about the person.
 */
export interface EmployeesResource {
  /** `GET /employees`: each active employee provisioned to the application. `limit` is the page size, 1 to 100. */
  list(query?: PageQuery, options?: CallOptions): AsyncGenerator<ActiveEmployee, void, undefined>;
  /** The same, page by page, to the empty page. A page that times out or answers 504 is read again in smaller ones. */
  pages(query?: PageQuery, options?: CallOptions): AsyncGenerator<readonly ActiveEmployee[], void, undefined>;
  /**
   * `GET /employees/include_terminated`: active and terminated employees. `ein` keeps to one employer identification
   * number; `sendAllRoles` gives every employee of the company, bypassing access rules.
   */
  listAll(query?: AllEmployeesQuery, options?: CallOptions): AsyncGenerator<Employee, void, undefined>;
  /** The same, page by page. */
  pagesAll(
    query?: AllEmployeesQuery,
    options?: CallOptions,
  ): AsyncGenerator<readonly Employee[], void, undefined>;
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
