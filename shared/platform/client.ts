import * as z from 'zod';
import { type Caller, type CallOptions, checked, type Endpoint } from './call.ts';
import type { PlatformClientOptions } from './caller.ts';
import { groupClient, openCaller } from './group-client.ts';
import { createListing } from './pages.ts';
import { EmploymentType } from './resources/employees.ts';
import { leaveResource } from './resources/leave.ts';
import { Address, amount, CalendarDate, flag, openEnum, text } from './schemas/field.ts';

export type PlatformClient = ReturnType<typeof createPlatformClient>;

/**
 * Creates a client of the Workforce Platform for one credential. A credential belongs to one company.
 *
 * The last argument of every method has the type CallOptions. Every failure is a PlatformError of `errors.ts`:
 * InvalidRequestError, BadRequestError, UnauthorizedError, ForbiddenError, NotFoundError, ConflictError,
 * RateLimitedError, ServerError, TimeoutError, NetworkError, AbortedError, UnexpectedStatusError, ReportedError or
 * UnexpectedBodyError.
 * @throws TypeError if an option is not valid
 */
export function createPlatformClient(options: PlatformClientOptions) {
  const { call, close } = openCaller(options);
  return {
    ...groupClient(call, options),
    company: companyResource(call),
    leave: leaveResource(call),
    candidates: candidatesResource(call),
    close,
  };
}

const SalaryUnit = openEnum(['HOUR', 'DAY', 'WEEK', 'MONTH', 'PAY_PERIOD']);

/** A candidate in a response of the platform (Workforce Platform API, Candidate). */
const Candidate = z.object({
  name: text,
  email: text,
  jobTitle: text,
  phoneNumber: text,
  candidateId: text,
  startDate: text,
  salaryUnit: SalaryUnit.nullish(),
  salaryPerUnit: amount,
  signingBonus: amount,
  currency: text,
  equityShares: amount,
  department: text,
  employmentType: EmploymentType.nullish(),
  workLocation: text,
  attachments: z.array(z.object({ file_name: text, file_url: text })).nullish(),
});

const required = z.string().min(1);

/**
 * A candidate to push. `startDate` is YYYY-MM-DD, and `currency` is an ISO 4217 code. `salaryPerUnit` is the salary for
 * one `salaryUnit`. `signingBonus` has at most two decimal digits. `department` and `workLocation` are ids.
 */
const NewCandidate = z.strictObject({
  name: required,
  email: required,
  jobTitle: z.string().optional(),
  phoneNumber: z.string().optional(),
  candidateId: required.optional(),
  startDate: CalendarDate.optional(),
  salaryUnit: z.enum(['HOUR', 'DAY', 'WEEK', 'MONTH', 'PAY_PERIOD']).optional(),
  salaryPerUnit: z.number().min(0).optional(),
  signingBonus: z.number().min(0).refine(hasCents, 'expected at most two decimal digits').optional(),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'expected an ISO 4217 code')
    .optional(),
  equityShares: z.number().min(0).optional(),
  department: required.optional(),
  employmentType: z
    .enum(['CONTRACTOR', 'SALARIED_PT', 'SALARIED_FT', 'HOURLY_FT', 'HOURLY_PT', 'TEMP'])
    .optional(),
  workLocation: required.optional(),
  attachments: z
    .array(z.strictObject({ file_name: required, file_url: z.url() }))
    .readonly()
    .optional(),
});
type NewCandidate = z.infer<typeof NewCandidate>;

/** Checks the decimal digits that will be sent, because the binary value of the number may differ from them. */
function hasCents(value: number): boolean {
  return /^\d+(\.\d{1,2})?$/.test(String(value));
}

const PUSH: Endpoint = { method: 'POST', path: '/platform/api/ats_candidates/push_candidate' };

/** Workforce Platform API, Candidates. Only for OAuth applications. A customer API key causes a ForbiddenError. */
const candidatesResource = (call: Caller) => ({
  /**
   * `POST /ats_candidates/push_candidate`: pushes a candidate into onboarding, and returns the candidate as recorded.
   * The call is repeated only if the first attempt certainly had no effect.
   * @throws BadRequestError, ForbiddenError
   */
  push: (value: NewCandidate, options?: CallOptions) =>
    call({ endpoint: PUSH, body: { schema: NewCandidate, value }, decoding: { schema: Candidate } }, options),
});

/** Workforce Platform API, Work location. `GET /work_locations` returns no `id`. */
const WorkLocation = z.object({ id: text, nickname: text, address: Address.nullish() });

/** Workforce Platform API, Organisation unit: a department, team or level. `parent` is the id of the unit above. */
const OrganisationUnit = z.object({ id: required, name: text, parent: text });

/** Workforce Platform API, Company. The field `legal entities` becomes `legalEntities`. */
const Company = z
  .object({
    id: required,
    name: text,
    address: Address.nullish(),
    workLocations: z.array(WorkLocation).nullish(),
    primaryEmail: text,
    phone: text,
    'legal entities': z.array(z.unknown()).nullish(),
  })
  .transform(({ 'legal entities': legalEntities, ...company }) => ({
    ...company,
    /** The platform supports only legal entities in CA. The specification does not define their fields. */
    ...(legalEntities === undefined ? {} : { legalEntities }),
  }));

const CustomFieldType = openEnum([
  'TEXT',
  'DATE',
  'NUMBER',
  'CURRENCY',
  'PERCENTAGE',
  'SELECT',
  'FILE',
  'ID',
  'RADIO',
  'TEXTAREA',
]);

/** Workforce Platform API, Custom field definition. An employee has the value of the field under its `title`. */
const CustomField = z.object({
  id: required,
  type: CustomFieldType.nullish(),
  title: text,
  caption: text,
  required: flag,
});

const LeaveType = z.object({ id: required, leaveType: text, name: text, description: text, isUnpaid: flag });

const of = (path: string): Endpoint => ({ method: 'GET', path: `/platform/api/${path}` });
const CURRENT = of('companies/current');
const LEAVE_TYPES = of('company_leave_types');

const LeaveTypesQuery = z.strictObject({ managedBy: z.string().min(1).optional() });

/** Workforce Platform API, Company structure. Every list takes `{limit, offset}`. `limit` is from 1 to 100. */
function companyResource(call: Caller) {
  const units = z.array(OrganisationUnit);
  return {
    /** `GET /companies/current`: the company that the credential belongs to. */
    current: (options?: CallOptions) => call({ endpoint: CURRENT, decoding: { schema: Company } }, options),
    /** `GET /work_locations`: nickname and address, but no id. The company object contains the ids. */
    workLocations: createListing(call, { endpoint: of('work_locations'), items: z.array(WorkLocation) }),
    departments: createListing(call, { endpoint: of('departments'), items: units }),
    teams: createListing(call, { endpoint: of('teams'), items: units }),
    /** `GET /levels`: fixed positions, such as manager or executive. */
    levels: createListing(call, { endpoint: of('levels'), items: units }),
    /**
     * `GET /custom_fields`: definitions of custom fields. An employee has each value under the title of its definition.
     */
    customFields: createListing(call, { endpoint: of('custom_fields'), items: z.array(CustomField) }),
    /**
     * `GET /company_leave_types`, not paginated. The specification has a filter `managedBy` and does not define where a
     * client sends it. groupsync sends it as a query parameter.
     */
    leaveTypes: async (given: z.input<typeof LeaveTypesQuery> = {}, options?: CallOptions) => {
      const query = checked(LeaveTypesQuery, given, LEAVE_TYPES);
      return call({ endpoint: LEAVE_TYPES, query, decoding: { schema: z.array(LeaveType) } }, options);
    },
  };
}
