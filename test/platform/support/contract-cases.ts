import type { PlatformClient } from '../../../shared/platform/client.ts';
import activity from '../recorded/activity.json' with { type: 'json' };
import address from '../recorded/address.json' with { type: 'json' };
import candidate from '../recorded/candidate.json' with { type: 'json' };
import employee from '../recorded/employee.json' with { type: 'json' };
import balances from '../recorded/leave-balances.json' with { type: 'json' };
import leaveRequest from '../recorded/leave-request.json' with { type: 'json' };

/** A call of one client method, and the platform's raw answer, which the specification allows. */
export interface ContractCase {
  readonly title: string;
  readonly endpoint: string;
  /** The body of the first answer. The later answers of a list are empty pages. */
  readonly answer: unknown;
  readonly run: (client: PlatformClient) => Promise<unknown>;
  readonly expected: unknown;
}

const PAGE = { limit: 20, offset: 40 };

/** The client's clock shows this time in all cases. */
export const CASES_NOW_MS = Date.UTC(2026, 10, 20, 10);

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const { shoeSize: _unknown, ...known } = employee;
const person = { ...known, workLocation: address };
const { worklocationNickname: nickname, ...otherPerson } = { ...person, personalEmail: 'ada@home.test' };

/** Creates a case in which the client must return `expected`, or the answer unchanged. */
const caseOf = (
  title: string,
  endpoint: string,
  answer: unknown,
  run: ContractCase['run'],
  expected = answer,
): ContractCase => ({
  title,
  endpoint: endpoint.replace(' ', ' /platform/api/'),
  answer,
  run,
  expected,
});

const EMPLOYEES: readonly ContractCase[] = [
  caseOf(
    'employees.list reads both spellings of the nickname',
    'GET employees',
    [
      { ...employee, workLocation: address, personalEmail: null },
      { ...otherPerson, workLocationNickname: nickname },
    ],
    (client) => all(client.employees.list(PAGE)),
    [
      { ...person, personalEmail: null },
      { ...otherPerson, worklocationNickname: nickname },
    ],
  ),
  caseOf(
    'employees.listAll sends the employer number and requests all roles',
    'GET employees/include_terminated',
    [person, { id: 'role-18', roleState: 'FROZEN', gender: null, workLocation: null }],
    (client) => all(client.employees.listAll({ ...PAGE, ein: 123456789, sendAllRoles: true })),
  ),
  caseOf('employees.get reads one role', 'GET employees/{employeeId}', person, (client) =>
    client.employees.get('role-17'),
  ),
];

const location = { nickname: 'HQ', address };
const company = {
  id: 'company-1',
  name: 'Acme',
  address,
  workLocations: [{ id: 'loc-1', ...location }],
  primaryEmail: 'hr@acme.test',
  phone: '+1 555 0102',
};
const unit = { id: 'unit-1', name: 'Platform', parent: 'unit-0' };
const units = [unit, { id: 'unit-0', name: 'All', parent: null }];
const customField = { id: 'cf-1', type: 'TEXT', title: 'Okta ID', caption: 'from Okta', required: true };
const leaveType = {
  id: 'clt-1',
  leaveType: 'VACATION',
  name: 'Vacation',
  description: 'paid',
  isUnpaid: false,
};

const COMPANY: readonly ContractCase[] = [
  caseOf(
    'company.current reads the field `legal entities`, whose name has a space',
    'GET companies/current',
    { ...company, 'legal entities': [{ name: 'Acme CA' }] },
    (client) => client.company.current(),
    { ...company, legalEntities: [{ name: 'Acme CA' }] },
  ),
  caseOf('company.workLocations, without ids', 'GET work_locations', [location], (client) =>
    all(client.company.workLocations.list(PAGE)),
  ),
  caseOf('company.departments', 'GET departments', units, (client) =>
    all(client.company.departments.list(PAGE)),
  ),
  caseOf('company.teams', 'GET teams', units, (client) => all(client.company.teams.list(PAGE))),
  caseOf('company.levels', 'GET levels', units, (client) => all(client.company.levels.list(PAGE))),
  caseOf('company.customFields', 'GET custom_fields', [customField], (client) =>
    all(client.company.customFields.list(PAGE)),
  ),
  caseOf('company.leaveTypes, filtered', 'GET company_leave_types', [leaveType], (client) =>
    client.company.leaveTypes({ managedBy: 'PTO' }),
  ),
];

const { colour: _colour, ...leave } = leaveRequest;
const { leaveType: uniqueId, ...processed } = leaveRequest;
const [balance] = balances;
const exactBalances = [
  {
    role: 'role-17',
    balances: [
      {
        companyLeaveType: 'clt-1',
        isBalanceUnlimited: false,
        balanceWithFutureRequests: '12.5',
        balanceWithoutFutureRequests: '20.25',
      },
      { companyLeaveType: 'clt-2', isBalanceUnlimited: true },
    ],
  },
];

const LEAVE: readonly ContractCase[] = [
  caseOf(
    'leave.requests.create sends hours as text and returns the item of the answered list',
    'POST leave_requests',
    [leaveRequest],
    (client) =>
      client.leave.requests.create({
        role: 'role-17',
        companyLeaveType: 'clt-1',
        leavePolicy: 'policy-2',
        status: 'PENDING',
        startDate: '2026-12-01',
        endDate: '2026-12-02',
        startDateStartTime: '2026-12-01T09:00:00-08:00',
        endDateEndTime: '2026-12-02T17:00:00-08:00',
        startDateCustomHours: 4,
        endDateCustomHours: '3.50',
        reasonForLeave: 'rest',
        externalId: 'ext-5',
      }),
    leave,
  ),
  caseOf(
    'leave.requests.update returns the item of the answered list',
    'PATCH leave_requests/{id}',
    [leaveRequest],
    (client) => client.leave.requests.update('leave-5', { reasonForLeave: 'sun' }),
    leave,
  ),
  caseOf(
    'leave.requests.process reads the other name of the leave type',
    'POST leave_requests/{id}/process',
    { ...processed, leaveTypeUniqueId: uniqueId },
    (client) => client.leave.requests.process('leave-5', 'approve'),
    leave,
  ),
  caseOf(
    'leave.balances.get reads amounts as exact text',
    'GET leave_balances/{role}',
    balance,
    (client) => client.leave.balances.get('role-17'),
    exactBalances[0],
  ),
  caseOf(
    'leave.balances.list reads amounts given as text and as numbers',
    'GET leave_balances',
    balances,
    (client) => all(client.leave.balances.list(PAGE)),
    exactBalances,
  ),
];

const newGroup = { name: 'Ops', spokeId: '00g1', users: ['user-17', 'unknown-1'] };
const group = { id: 'group/1', ...newGroup, version: 'v1' };

const GROUPS: readonly ContractCase[] = [
  caseOf(
    'groups.list reads a group without a spokeId',
    'GET groups',
    [group, { id: 'group-2', name: 'Other', users: [], version: 'v7' }],
    (client) => client.groups.list(),
    [group, { id: 'group-2', name: 'Other', spokeId: null, users: [], version: 'v7' }],
  ),
  caseOf('groups.create', 'POST groups', group, (client) => client.groups.create(newGroup)),
  caseOf('groups.get accepts an id with a slash', 'GET groups/{groupId}', group, (client) =>
    client.groups.get('group/1'),
  ),
  caseOf('groups.replace sends the whole group', 'PUT groups/{groupId}', group, (client) =>
    client.groups.replace('group/1', { ...newGroup, version: 'v0' }),
  ),
  caseOf('groups.patch sends every given field', 'PATCH groups/{groupId}', group, (client) =>
    client.groups.patch('group/1', { ...newGroup, version: 'v0' }),
  ),
  caseOf(
    'groups.delete needs no body',
    'DELETE groups/{groupId}',
    '',
    (client) => client.groups.delete('group/1'),
    'deleted',
  ),
];

const firstPage = { events: activity.data.events, next: 'cursor-1', done: false };

const OTHERS: readonly ContractCase[] = [
  caseOf('candidates.push', 'POST ats_candidates/push_candidate', candidate, (client) =>
    client.candidates.push({ ...candidate, salaryUnit: 'PAY_PERIOD', employmentType: 'HOURLY_PT' }),
  ),
  caseOf(
    'activity.follow reads from a date, then by cursor, and ends at a repeated cursor',
    'GET company_activity',
    activity,
    (client) => all(client.activity.follow({ sinceMs: CASES_NOW_MS - 1000, untilMs: CASES_NOW_MS })),
    [firstPage, { ...firstPage, done: true }],
  ),
  caseOf('me', 'GET me', { id: 'role-3', workEmail: 'bo@acme.test', company: 'company-1' }, (client) =>
    client.me(),
  ),
  caseOf('markInstalled', 'POST mark_app_installed', { ok: true }, (client) => client.markInstalled()),
];

/** At least one case for every method of the client. Together the answers contain every field. */
export const CONTRACT_CASES = [EMPLOYEES, COMPANY, LEAVE, GROUPS, OTHERS].flat();
