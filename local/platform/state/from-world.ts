import { type EmployeeRecord, WEEKDAYS } from '../schemas/employee.ts';
import { definedOnly } from './defined-only.ts';
import {
  appendActivity,
  type CompanyState,
  type Credential,
  putEmployee,
  putLeaveRequest,
  type State,
} from './state.ts';
import { type World, type WorldCompany, type WorldEmployee, WorldError } from './world.ts';

export type NewId = () => string;

const EMPLOYEE_DEFAULTS = {
  roleState: 'ACTIVE',
  employmentType: 'SALARIED_FT',
  title: '',
  gender: null,
  identifiedGender: null,
  department: '',
  workLocation: null,
  worklocationNickname: '',
  spokeId: null,
  endDate: null,
  workEmail: null,
  manager: null,
  customFields: {},
  isInternational: false,
  isManager: false,
  workSchedule: Object.fromEntries(WEEKDAYS.map((day, index) => [day, { hours: index < 5 ? 8 : 0 }])),
  isRemote: false,
  level: '',
  teams: [],
  photo: '',
  smallPhoto: '',
  provisioned: true,
  ein: null,
  timezone: 'UTC',
} satisfies Partial<EmployeeRecord>;

/**
 * Builds the state from a world. Missing ids and versions are generated.
 * @throws {WorldError} for a duplicate id in a company, a duplicate credential, or a credential of an unknown company
 */
export function stateFromWorld(world: World, newId: NewId): State {
  const companies = new Map<string, CompanyState>();
  world.companies.forEach((company, index) => {
    const state = companyFromWorld(company, newId, `companies[${index}]`);
    refuseDuplicate(companies, state.id, `companies[${index}].id`);
    companies.set(state.id, state);
  });
  const credentials = new Map<string, Credential>();
  world.credentials.forEach((credential, index) => {
    refuseDuplicate(credentials, credential.token, `credentials[${index}].token`);
    const company = companyOf(companies, credential.company, `credentials[${index}].company`);
    if (credential.employee !== undefined && !company.employees.has(credential.employee)) {
      throw new WorldError(`credentials[${index}].employee: the company has no employee with this role id`);
    }
    credentials.set(credential.token, {
      token: credential.token,
      kind: credential.kind,
      company: company.id,
      role: credential.role,
      scopes: credential.scopes ?? ['*'],
      app: credential.app ?? (credential.kind === 'oauth_app' ? 'groupsync' : 'api-key'),
      employee: credential.employee ?? null,
      installed: credential.installed ?? false,
    });
  });
  return { companies, credentials };
}

function companyFromWorld(world: WorldCompany, newId: NewId, path: string): CompanyState {
  const withIds = <T extends { id?: string | undefined }>(items: readonly T[]) =>
    items.map((item) => ({ ...item, id: item.id ?? newId() }));
  const company: CompanyState = {
    id: world.id ?? newId(),
    name: world.name,
    address: world.address,
    primaryEmail: world.primaryEmail,
    phone: world.phone,
    legalEntities: world['legal entities'] ?? world.legalEntities ?? [],
    workLocations: withIds(world.workLocations),
    departments: withIds(world.departments),
    teams: withIds(world.teams),
    levels: withIds(world.levels),
    customFields: withIds(world.customFields).map((field) => ({
      id: field.id,
      type: field.type ?? 'TEXT',
      title: field.title,
      caption: field.caption ?? null,
      required: field.required ?? false,
    })),
    leaveTypes: new Map(leaveTypes(withIds(world.leaveTypes))),
    leavePolicies: new Map(
      withIds(world.leavePolicies).map((p) => [p.id, { id: p.id, name: p.name ?? p.id }]),
    ),
    employees: new Map(),
    roleByUser: new Map(),
    groups: new Map(),
    leaveRequests: new Map(),
    leaveByRole: new Map(),
    candidates: [...world.candidates],
    activity: { feed: world.activity?.feed ?? newId(), batches: [], entries: [] },
  };
  world.employees.forEach((employee, index) => {
    const complete = completeEmployee(employee, newId, index + 1);
    refuseDuplicate(company.employees, complete.id, `${path}.employees[${index}].id`);
    putEmployee(company, complete);
  });
  world.groups.forEach((group, index) => {
    const complete = {
      ...group,
      id: group.id ?? newId(),
      users: [...new Set(group.users)],
      version: group.version ?? newId(),
    };
    refuseDuplicate(company.groups, complete.id, `${path}.groups[${index}].id`);
    company.groups.set(complete.id, complete);
  });
  for (const request of world.leaveRequests) putLeaveRequest(company, request);
  for (const batch of world.activity?.batches ?? []) appendActivity(company.activity, batch);
  return company;
}

function leaveTypes(types: readonly (WorldCompany['leaveTypes'][number] & { id: string })[]) {
  return types.map((type) => {
    const complete = {
      id: type.id,
      leaveType: type.leaveType,
      name: type.name ?? type.leaveType,
      description: type.description ?? '',
      isUnpaid: type.isUnpaid ?? false,
      managedBy: type.managedBy ?? 'PTO',
      isBalanceUnlimited: type.isBalanceUnlimited ?? false,
      allowanceHours: type.allowanceHours ?? 120,
    } as const;
    return [type.id, complete] as const;
  });
}

/**
 * Fills in the missing fields of an employee, so that every response has all fields of the specification's table.
 * @param number the employee's position in the company, counted from 1
 */
export function completeEmployee(employee: WorldEmployee, newId: NewId, number: number): EmployeeRecord {
  const { workLocationNickname, ...given } = definedOnly(employee);
  const id = given.id ?? newId();
  const [first = '', ...rest] = (given.name ?? `Employee ${number}`).split(' ');
  const { firstName = first, lastName = rest.join(' ') } = given;
  return {
    ...EMPLOYEE_DEFAULTS,
    userId: given.userId ?? newId(),
    personalEmail: `${id}@personal.example`,
    name: `${firstName} ${lastName}`.trim(),
    preferredFirstName: firstName,
    preferredLastName: lastName,
    employeeNumber: String(number),
    worklocationNickname: workLocationNickname ?? EMPLOYEE_DEFAULTS.worklocationNickname,
    ...given,
    id,
    firstName,
    lastName,
  };
}

/**
 * Returns the company that a credential names by id or name. If the world has only one company, the credential need not
 * name the company.
 */
function companyOf(companies: ReadonlyMap<string, CompanyState>, named: string | undefined, path: string) {
  const all = [...companies.values()];
  const only = named === undefined && all.length === 1 ? all[0] : undefined;
  const found = only ?? companies.get(named ?? '') ?? all.find((company) => company.name === named);
  if (found === undefined) throw new WorldError(`${path}: expected the id or the name of a company`);
  return found;
}

function refuseDuplicate(seen: { has(id: string): boolean }, id: string, path: string): void {
  if (seen.has(id)) throw new WorldError(`${path}: this value is used twice`);
}
