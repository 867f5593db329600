import * as z from 'zod';
import { roleId } from '../../domain/ids.ts';
import type { Caller, CallOptions, Endpoint } from '../call.ts';
import { createListing } from '../pages.ts';
import { Address, amount, flag, openEnum, PageQuery, text } from '../schemas/field.ts';

export const EmploymentType = openEnum([
  'CONTRACTOR',
  'SALARIED_FT',
  'SALARIED_PT',
  'HOURLY_FT',
  'HOURLY_PT',
  'TEMP',
]);

const RoleState = openEnum(['INIT', 'HIRED', 'ACCEPTED', 'ACTIVE', 'TERMINATED']);

const WorkSchedule = z.lazy(() => {
  const Hours = z.object({ hours: amount }).nullish();
  return z.object({
    MONDAY: Hours,
    TUESDAY: Hours,
    WEDNESDAY: Hours,
    THURSDAY: Hours,
    FRIDAY: Hours,
    SATURDAY: Hours,
    SUNDAY: Hours,
  });
});

const fields = () => ({
  id: z.string().min(1).transform(roleId),
  userId: text,
  personalEmail: text,
  name: text,
  preferredFirstName: text,
  preferredLastName: text,
  firstName: text,
  lastName: text,
  employmentType: EmploymentType.nullish(),
  title: text,
  gender: openEnum(['MALE', 'FEMALE']).nullish(),
  identifiedGender: openEnum(['MALE', 'FEMALE', 'NONBINARY']).nullish(),
  department: text,
  workLocation: Address.nullish(),
  worklocationNickname: text,
  /** In the list of active employees, `worklocationNickname` has this spelling. */
  workLocationNickname: text,
  spokeId: text,
  endDate: text,
  roleState: RoleState.nullish(),
  workEmail: text,
  manager: text,
  customFields: z.record(z.string(), z.unknown()).nullish(),
  isInternational: flag,
  isManager: flag,
  workSchedule: WorkSchedule.nullish(),
  isRemote: flag,
  employeeNumber: text,
  level: text,
  teams: z.array(z.unknown()).nullish(),
  photo: text,
  smallPhoto: text,
});

type Nicknames = { worklocationNickname?: unknown; workLocationNickname?: unknown };

/** The platform uses two spellings of this field. The result uses one. If both are absent, the field stays absent. */
function oneNickname<T extends Nicknames>(employee: T): Omit<T, 'workLocationNickname'> {
  const { workLocationNickname: other, ...rest } = employee;
  if (rest.worklocationNickname !== undefined || other === undefined) return rest;
  return { ...rest, worklocationNickname: other };
}

/** Workforce Platform API, Employee. The credential's scopes decide which fields except the id are returned. */
const Employee = z.lazy(() => z.object(fields()).transform(oneNickname));
export type Employee = z.infer<typeof Employee>;

/** An employee of the active list, which guarantees `id`, `personalEmail` and `roleState`. The e-mail may be null. */
const ActiveEmployee = z.lazy(() =>
  z
    .object({ ...fields(), personalEmail: z.string().nullable(), roleState: RoleState })
    .transform(oneNickname),
);

/** `ein` is an employer identification number. `sendAllRoles` returns all employees, regardless of the access rules. */
const AllEmployeesQuery = z.lazy(() =>
  PageQuery.unwrap()
    .extend({ ein: z.int().min(0).optional(), sendAllRoles: z.boolean().optional() })
    .transform(({ ein, sendAllRoles, ...page }) => ({ ...page, EIN: ein, send_all_roles: sendAllRoles })),
);
type AllEmployeesQuery = z.input<typeof AllEmployeesQuery>;

const ACTIVE: Endpoint = { method: 'GET', path: '/platform/api/employees' };
const ALL: Endpoint = { method: 'GET', path: '/platform/api/employees/include_terminated' };
const ONE: Endpoint = { method: 'GET', path: '/platform/api/employees/{employeeId}' };

/** Workforce Platform API, Employees. The credential's scopes decide which fields are returned. */
export function employeesResource(call: Caller) {
  const all = createListing<Employee, AllEmployeesQuery>(call, {
    endpoint: ALL,
    items: z.array(Employee),
    query: AllEmployeesQuery,
  });
  return {
    /** `GET /employees`: all active employees that are provisioned to the application. */
    ...createListing(call, { endpoint: ACTIVE, items: z.array(ActiveEmployee) }),
    /**
     * `GET /employees/include_terminated`: active and terminated employees. `ein` selects the employees with this
     * employer identification number. `sendAllRoles` returns all employees, regardless of the access rules.
     */
    listAll: all.list,
    pagesAll: all.pages,
    pagesAllPassingOver: all.pagesPassingOver,
    /** `GET /employees/{employeeId}`: one employee by role id. @throws NotFoundError if the employee does not exist */
    get: (employeeId: string, options?: CallOptions) =>
      call({ endpoint: ONE, ids: { employeeId }, decoding: { schema: Employee } }, options),
  };
}
