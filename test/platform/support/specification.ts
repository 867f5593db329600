/**
 * One endpoint of the Workforce Platform API, with its parameters and fields. `query`, `body` and `answer` contain
 * paths: `a.b` is the field `b` of the object `a`, and `a[].b` is the field `b` of each item of the list `a`.
 */
export interface SpecifiedEndpoint {
  readonly endpoint: string;
  readonly query: readonly string[];
  readonly body: readonly string[];
  readonly answer: readonly string[];
}

const fields = (...lines: readonly string[]) => lines.flatMap((line) => line.split(' '));
const under = (prefix: string, fields: readonly string[]) => fields.map((field) => `${prefix}.${field}`);
const listOf = (fields: readonly string[]) => under('[]', fields);

const LOCATION_CODE = fields(
  'locationCode stateCode countyCode cityCode schoolCode municipalityCode psdCode',
  'transitDistrictCode isOverridden',
);

const ADDRESS = [
  ...fields('streetLine1 streetLine2 zip city state country phone isRemote'),
  ...under('steLocationCode', LOCATION_CODE),
];

const DAYS = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'];

const EMPLOYEE = [
  ...fields(
    'id userId name preferredFirstName preferredLastName firstName lastName employmentType title',
    'gender identifiedGender department',
  ),
  ...under('workLocation', ADDRESS),
  ...fields(
    'worklocationNickname spokeId endDate roleState workEmail manager customFields isInternational',
    'isManager',
  ),
  ...DAYS.map((day) => `workSchedule.${day}.hours`),
  ...fields('isRemote employeeNumber level teams photo smallPhoto'),
];

/** The active list has two more fields: the guaranteed `personalEmail`, and a second spelling of the nickname. */
const ACTIVE_EMPLOYEE = [...EMPLOYEE, 'personalEmail', 'workLocationNickname'];

const UNIT = ['name', 'id', 'parent'];
const WORK_LOCATION = ['nickname', ...under('address', ADDRESS)];
const COMPANY = [
  'id',
  'name',
  ...under('address', ADDRESS),
  ...under('workLocations[]', ['id', ...WORK_LOCATION]),
  'primaryEmail',
  'phone',
  'legal entities',
];
const CUSTOM_FIELD = ['id', 'type', 'title', 'caption', 'required'];
const LEAVE_TYPE = ['id', 'leaveType', 'name', 'description', 'isUnpaid'];

const LEAVE_REQUEST = fields(
  'id createdAt updatedAt role roleName requestedBy requestedByName status startDate endDate',
  'startDateStartTime endDateEndTime startDateCustomHours endDateCustomHours comments numHours',
  'numMinutes leavePolicy leaveType policyDisplayName reasonForLeave processedAt processedBy',
  'processedByName externalId roleTimezone dates[].date dates[].numMinutes isPaid managedBy',
  'partialDays[].partialDay partialDays[].numMinutes',
);
const PROCESSED_LEAVE_REQUEST = LEAVE_REQUEST.map((field) =>
  field === 'leaveType' ? 'leaveTypeUniqueId' : field,
);

const NEW_LEAVE_REQUEST = fields(
  'role companyLeaveType leavePolicy status startDate endDate startDateStartTime endDateEndTime',
  'startDateCustomHours endDateCustomHours reasonForLeave externalId',
);

const BALANCE = [
  'role',
  ...under(
    'balances[]',
    fields('companyLeaveType isBalanceUnlimited balanceWithFutureRequests balanceWithoutFutureRequests'),
  ),
];

const GROUP = ['id', 'spokeId', 'name', 'users', 'version'];
const GROUP_CHANGE = ['name', 'spokeId', 'users', 'version'];

const CANDIDATE = fields(
  'name email jobTitle phoneNumber candidateId startDate salaryUnit salaryPerUnit signingBonus',
  'currency equityShares department employmentType workLocation attachments[].file_name',
  'attachments[].file_url',
);

const ACTIVITY = [
  ...under(
    'data.events[]',
    fields(
      'id request_data linked_events subjects[].instance subjects[].type subjects[].display_name',
      'subjects[].icon event_type timestamp company spoke owner initiator.type initiator.role',
      'initiator.display_name initiator.icon event_reason.reason event_reason.message name',
    ),
  ),
  'data.next',
  'error',
];

const PAGE = ['limit', 'offset'];

interface Row {
  readonly query?: readonly string[];
  readonly body?: readonly string[];
  readonly answer?: readonly string[];
}

/** The 25 endpoints. The specification does not define some names of company activity. The list has the defaults. */
const ROWS: Readonly<Record<string, Row>> = {
  'GET /platform/api/employees': { query: PAGE, answer: listOf(ACTIVE_EMPLOYEE) },
  'GET /platform/api/employees/include_terminated': {
    query: [...PAGE, 'EIN', 'send_all_roles'],
    answer: listOf(EMPLOYEE),
  },
  'GET /platform/api/employees/{employeeId}': { answer: EMPLOYEE },
  'GET /platform/api/companies/current': { answer: COMPANY },
  'GET /platform/api/work_locations': { query: PAGE, answer: listOf(WORK_LOCATION) },
  'GET /platform/api/departments': { query: PAGE, answer: listOf(UNIT) },
  'GET /platform/api/teams': { query: PAGE, answer: listOf(UNIT) },
  'GET /platform/api/levels': { query: PAGE, answer: listOf(UNIT) },
  'GET /platform/api/custom_fields': { query: PAGE, answer: listOf(CUSTOM_FIELD) },
  'GET /platform/api/company_leave_types': { query: ['managedBy'], answer: listOf(LEAVE_TYPE) },
  'POST /platform/api/leave_requests': { body: NEW_LEAVE_REQUEST, answer: listOf(LEAVE_REQUEST) },
  'PATCH /platform/api/leave_requests/{id}': { body: ['reasonForLeave'], answer: listOf(LEAVE_REQUEST) },
  'POST /platform/api/leave_requests/{id}/process': { query: ['action'], answer: PROCESSED_LEAVE_REQUEST },
  'GET /platform/api/leave_balances/{role}': { answer: BALANCE },
  'GET /platform/api/leave_balances': { query: PAGE, answer: listOf(BALANCE) },
  'GET /platform/api/groups': { answer: listOf(GROUP) },
  'POST /platform/api/groups': { body: ['name', 'spokeId', 'users'], answer: GROUP },
  'GET /platform/api/groups/{groupId}': { answer: GROUP },
  'PUT /platform/api/groups/{groupId}': { body: GROUP_CHANGE, answer: GROUP },
  'PATCH /platform/api/groups/{groupId}': { body: GROUP_CHANGE, answer: GROUP },
  'DELETE /platform/api/groups/{groupId}': {},
  'POST /platform/api/ats_candidates/push_candidate': { body: CANDIDATE, answer: CANDIDATE },
  'GET /platform/api/company_activity': {
    query: ['startDate', 'endDate', 'next', 'limit'],
    answer: ACTIVITY,
  },
  'GET /platform/api/me': { answer: ['id', 'workEmail', 'company'] },
  'POST /platform/api/mark_app_installed': { answer: ['ok'] },
};

export const SPECIFICATION = Object.entries(ROWS).map(
  ([endpoint, { query = [], body = [], answer = [] }]): SpecifiedEndpoint => ({
    endpoint,
    query,
    body,
    answer,
  }),
);
