import * as z from 'zod';
import type { Caller, CallOptions, Endpoint } from '../call.ts';
import { createListing } from '../pages.ts';
import { ActiveEmployee, AllEmployeesQuery, Employee } from '../schemas/employee.ts';

const ACTIVE: Endpoint = { method: 'GET', path: '/platform/api/employees' };
const ALL: Endpoint = { method: 'GET', path: '/platform/api/employees/include_terminated' };
const ONE: Endpoint = { method: 'GET', path: '/platform/api/employees/{employeeId}' };

/**
 * Workforce Platform API, Employees. Which fields come depends on the credential's scopes; an absent field says
 * nothing about the person.
 */
export function employeesResource(call: Caller) {
  const all = createListing<Employee, AllEmployeesQuery>(call, {
    endpoint: ALL,
    items: z.array(Employee),
    query: AllEmployeesQuery,
  });
  return {
    /** `GET /employees`: each active employee provisioned to the application. */
    ...createListing(call, { endpoint: ACTIVE, items: z.array(ActiveEmployee) }),
    /**
     * `GET /employees/include_terminated`: active and terminated employees. `ein` keeps to one employer identification
     * number; `sendAllRoles` gives every employee of the company, bypassing access rules.
     */
    listAll: all.list,
    /** The same, page by page. */
    pagesAll: all.pages,
    /** `GET /employees/{employeeId}`: one employee by role id. @throws NotFoundError where there is none. */
    get: (employeeId: string, options?: CallOptions) =>
      call({ endpoint: ONE, ids: { employeeId }, decoding: { schema: Employee } }, options),
  };
}
