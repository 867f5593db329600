import type { PlatformClient } from '../../../shared/platform/client.ts';
import activity from '../recorded/activity.json' with { type: 'json' };
import address from '../recorded/address.json' with { type: 'json' };
import candidate from '../recorded/candidate.json' with { type: 'json' };
import employee from '../recorded/employee.json' with { type: 'json' };
import balances from '../recorded/leave-balances.json' with { type: 'json' };
import leaveRequest from '../recorded/leave-request.json' with { type: 'json' };

/** One method of the client, called before a raw body that the specification allows. */
export interface ContractCase {
  readonly title: string;
  /** Method and path template of the one endpoint that is called. */
  readonly endpoint: string;
  /** The raw body of the first answer; a list's later answers are empty pages. */
  readonly answer: unknown;
  readonly run: (client: PlatformClient) => Promise<unknown>;
  /** What the client must make of it. */
  readonly expected: unknown;
}

const PAGE = { limit: 20, offset: 40 };

/** The instant that the cases take for now. */
export const CASES_NOW_MS = Date.UTC(2026, 10, 20, 10);

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const { shoeSize: _unknown, ...known } = employee;
const person = { ...known, workLocation: address };
const { worklocationNickname: nickname, ...otherPerson } = { ...person, personalEmail: 'ada@home.test' };

const EMPLOYEES: readonly ContractCase[] = [
  {
    title: 'employees.list reads both spellings of the nickname',
    endpoint: 'GET /platform/api/employees',
    answer: [
      { ...employee, workLocation: address, personalEmail: null },
      { ...otherPerson, workLocationNickname: nickname },
    ],
    run: (client) => all(client.employees.list(PAGE)),
    expected: [
      { ...person, personalEmail: null },
      { ...otherPerson, worklocationNickname: nickname },
    ],
  },
  {
    title: 'employees.listAll takes employer number and all roles',
    endpoint: 'GET /platform/api/employees/include_terminated',
    answer: [person, { id: 'role-18', roleState: 'FROZEN', gender: null, workLocation: null }],
    run: (client) => all(client.employees.listAll({ ...PAGE, ein: 123456789, sendAllRoles: true })),
    expected: [person, { id: 'role-18', roleState: 'FROZEN', gender: null, workLocation: null }],
  },
  {
    title: 'employees.get reads one role',
    endpoint: 'GET /platform/api/employees/{employeeId}',
    answer: person,
    run: (client) => client.employees.get('role-17'),
    expected: person,
  },
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

/** A paginated list that is read as it comes. */
const plainList = (
  title: string,
  endpoint: string,
  answer: unknown[],
  run: ContractCase['run'],
): ContractCase => ({ title, endpoint, answer, run, expected: answer });

const COMPANY: readonly ContractCase[] = [
  {
    title: 'company.current reads the key with a blank',
    endpoint: 'GET /platform/api/companies/current',
    answer: { ...company, 'legal entities': [{ name: 'Acme CA' }] },
    run: (client) => client.company.current(),
    expected: { ...company, legalEntities: [{ name: 'Acme CA' }] },
  },
  plainList('company.workLocations, without ids', 'GET /platform/api/work_locations', [location], (client) =>
    all(client.company.workLocations.list(PAGE)),
  ),
  plainList('company.departments', 'GET /platform/api/departments', units, (client) =>
    all(client.company.departments.list(PAGE)),
  ),
  plainList('company.teams', 'GET /platform/api/teams', units, (client) =>
    all(client.company.teams.list(PAGE)),
  ),
  plainList('company.levels', 'GET /platform/api/levels', units, (client) =>
    all(client.company.levels.list(PAGE)),
  ),
  plainList('company.customFields', 'GET /platform/api/custom_fields', [customField], (client) =>
    all(client.company.customFields.list(PAGE)),
  ),
  plainList('company.leaveTypes, filtered', 'GET /platform/api/company_leave_types', [leaveType], (client) =>
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
  {
    title: 'leave.requests.create sends hours as text and unwraps the answer',
    endpoint: 'POST /platform/api/leave_requests',
    answer: [leaveRequest],
    run: (client) =>
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
    expected: leave,
  },
  {
    title: 'leave.requests.update unwraps the answer',
    endpoint: 'PATCH /platform/api/leave_requests/{id}',
    answer: [leaveRequest],
    run: (client) => client.leave.requests.update('leave-5', { reasonForLeave: 'sun' }),
    expected: leave,
  },
  {
    title: 'leave.requests.process reads the other name of the leave type',
    endpoint: 'POST /platform/api/leave_requests/{id}/process',
    answer: { ...processed, leaveTypeUniqueId: uniqueId },
    run: (client) => client.leave.requests.process('leave-5', 'approve'),
    expected: leave,
  },
  {
    title: 'leave.balances.get reads amounts as exact text',
    endpoint: 'GET /platform/api/leave_balances/{role}',
    answer: balance,
    run: (client) => client.leave.balances.get('role-17'),
    expected: exactBalances[0],
  },
  {
    title: 'leave.balances.list reads amounts given as text and as numbers',
    endpoint: 'GET /platform/api/leave_balances',
    answer: balances,
    run: (client) => all(client.leave.balances.list(PAGE)),
    expected: exactBalances,
  },
];

const newGroup = { name: 'Ops', spokeId: '00g1', users: ['user-17', 'nobody-1'] };
const group = { id: 'group/1', ...newGroup, version: 'v1' };

const GROUPS: readonly ContractCase[] = [
  {
    title: 'groups.list reads a group without a spokeId',
    endpoint: 'GET /platform/api/groups',
    answer: [group, { id: 'group-2', name: 'Other', users: [], version: 'v7' }],
    run: (client) => client.groups.list(),
    expected: [group, { id: 'group-2', name: 'Other', spokeId: null, users: [], version: 'v7' }],
  },
  {
    title: 'groups.create',
    endpoint: 'POST /platform/api/groups',
    answer: group,
    run: (client) => client.groups.create(newGroup),
    expected: group,
  },
  {
    title: 'groups.get, by an id with a slash',
    endpoint: 'GET /platform/api/groups/{groupId}',
    answer: group,
    run: (client) => client.groups.get('group/1'),
    expected: group,
  },
  {
    title: 'groups.replace sends the whole group',
    endpoint: 'PUT /platform/api/groups/{groupId}',
    answer: group,
    run: (client) => client.groups.replace('group/1', { ...newGroup, version: 'v0' }),
    expected: group,
  },
  {
    title: 'groups.patch sends all that is given',
    endpoint: 'PATCH /platform/api/groups/{groupId}',
    answer: group,
    run: (client) => client.groups.patch('group/1', { ...newGroup, version: 'v0' }),
    expected: group,
  },
  {
    title: 'groups.delete needs no body',
    endpoint: 'DELETE /platform/api/groups/{groupId}',
    answer: '',
    run: (client) => client.groups.delete('group/1'),
    expected: 'deleted',
  },
];

const firstPage = { events: activity.data.events, next: 'cursor-1', done: false };

const OTHERS: readonly ContractCase[] = [
  {
    title: 'candidates.push',
    endpoint: 'POST /platform/api/ats_candidates/push_candidate',
    answer: candidate,
    run: (client) =>
      client.candidates.push({ ...candidate, salaryUnit: 'PAY_PERIOD', employmentType: 'HOURLY_PT' }),
    expected: candidate,
  },
  {
    title: 'activity.follow reads from a date, then by cursor, to the same cursor again',
    endpoint: 'GET /platform/api/company_activity',
    answer: activity,
    run: (client) => all(client.activity.follow({ sinceMs: CASES_NOW_MS - 1000, untilMs: CASES_NOW_MS })),
    expected: [firstPage, { ...firstPage, done: true }],
  },
  {
    title: 'me',
    endpoint: 'GET /platform/api/me',
    answer: { id: 'role-3', workEmail: 'bo@acme.test', company: 'company-1' },
    run: (client) => client.me(),
    expected: { id: 'role-3', workEmail: 'bo@acme.test', company: 'company-1' },
  },
  {
    title: 'markInstalled',
    endpoint: 'POST /platform/api/mark_app_installed',
    answer: { ok: true },
    run: (client) => client.markInstalled(),
    expected: { ok: true },
  },
];

/** Every method of the client at least once, before bodies that hold every field. */
export const CONTRACT_CASES: readonly ContractCase[] = [
  ...EMPLOYEES,
  ...COMPANY,
  ...LEAVE,
  ...GROUPS,
  ...OTHERS,
];
