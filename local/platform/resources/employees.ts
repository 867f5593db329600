import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../errors.ts';
import { booleanParameter, integerParameter, Pagination, page } from '../query.ts';
import { Employee, type EmployeeRecord } from '../schemas/employee.ts';
import { EMPLOYEE_SCOPES, fieldsOf } from '../scopes.ts';
import type { CompanyState, Credential } from '../state/state.ts';

const area = 'Employees';

const listActive = endpoint({
  method: 'GET',
  path: '/platform/api/employees',
  operationId: 'listActiveEmployees',
  area,
  summary: 'Active employees provisioned to the application',
  query: Pagination,
  response: z.array(Employee),
  handle: ({ company, credential, query }) => {
    const active = employees(company, (one) => one.provisioned && one.roleState === 'ACTIVE');
    return page(active, query).map(employeeView(credential, 'workLocationNickname'));
  },
});

const listAll = endpoint({
  method: 'GET',
  path: '/platform/api/employees/include_terminated',
  operationId: 'listEmployees',
  area,
  summary: 'Active and terminated employees',
  description:
    'ACTIVE and TERMINATED employees provisioned to the application. `send_all_roles=true` returns every employee of the company in every state. `EIN` returns only the employees with this employer identification number.',
  query: Pagination.extend({
    EIN: integerParameter(0).optional(),
    send_all_roles: booleanParameter.optional(),
  }),
  response: z.array(Employee),
  handle: ({ company, credential, query }) => {
    const listed = employees(
      company,
      (one) =>
        (query.send_all_roles === true || (one.provisioned && hasWorked(one))) &&
        (query.EIN === undefined || einNumber(one) === query.EIN),
    );
    return page(listed, query).map(employeeView(credential, 'worklocationNickname'));
  },
});

const readOne = endpoint({
  method: 'GET',
  path: '/platform/api/employees/:employeeId',
  operationId: 'readEmployee',
  area,
  summary: 'One employee by role id, in any state',
  params: z.object({ employeeId: z.string() }),
  response: Employee,
  handle: ({ company, credential, params }) => {
    const employee = company.employees.get(params.employeeId);
    if (employee === undefined || !employee.provisioned) throw notFound('employee', params.employeeId);
    return employeeView(credential, 'worklocationNickname')(employee);
  },
});

export const employeeEndpoints = [listActive, listAll, readOne];

const hasWorked = (employee: EmployeeRecord) =>
  employee.roleState === 'ACTIVE' || employee.roleState === 'TERMINATED';

/** Returns the number as digits, because `12-3456789` and 123456789 identify the same employer. */
const einNumber = (employee: EmployeeRecord) =>
  employee.ein === null ? undefined : Number(employee.ein.replaceAll(/\D/g, ''));

/** Returns the matching employees in the order in which they were added. */
export function employees(company: CompanyState, matches: (employee: EmployeeRecord) => boolean) {
  const found: EmployeeRecord[] = [];
  for (const employee of company.employees.values()) if (matches(employee)) found.push(employee);
  return found;
}

/**
 * Returns a function that selects the fields allowed by the credential's scopes.
 * @param nickname name of the field, which has a capital L in the list of active employees (specification, "Employee")
 */
function employeeView(credential: Credential, nickname: 'workLocationNickname' | 'worklocationNickname') {
  const fields = ['id', 'personalEmail', 'roleState', ...fieldsOf(EMPLOYEE_SCOPES, credential.scopes)];
  return (employee: EmployeeRecord): Record<string, unknown> => {
    const source: Readonly<Record<string, unknown>> = employee;
    const view: Record<string, unknown> = {};
    for (const field of fields) view[field === 'worklocationNickname' ? nickname : field] = source[field];
    return view;
  };
}
