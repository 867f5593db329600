import * as z from 'zod';
import { type Call, type Endpoint, endpoint } from '../endpoint.ts';
import { Pagination, page } from '../query.ts';
import { CompanyLeaveType, LeaveManagedBy } from '../schemas/leave.ts';
import { Company, CustomField, ListedWorkLocation, OrganisationUnit } from '../schemas/organisation.ts';
import { COMPANY_SCOPES, fieldsOf } from '../scopes.ts';
import type { CompanyState } from '../state/state.ts';

const area = 'Company structure';

const current = endpoint({
  method: 'GET',
  path: '/platform/api/companies/current',
  operationId: 'readCurrentCompany',
  area,
  summary: 'The company that the token can access',
  response: Company,
  handle: ({ company, credential }) => {
    const all: Readonly<Record<string, unknown>> = { ...company, 'legal entities': company.legalEntities };
    const fields = ['id', ...fieldsOf(COMPANY_SCOPES, credential.scopes)];
    return Object.fromEntries(fields.map((field) => [field, all[field]]));
  },
});

const workLocations = paged({
  path: '/platform/api/work_locations',
  operationId: 'listWorkLocations',
  summary: 'Work locations',
  item: ListedWorkLocation,
  items: (company) => company.workLocations.map(({ nickname, address }) => ({ nickname, address })),
});

const UNITS = [
  ['departments', 'listDepartments', 'Departments'],
  ['teams', 'listTeams', 'Teams'],
  ['levels', 'listLevels', 'Levels: fixed positions in the organisation'],
] as const;

const units = UNITS.map(([name, operationId, summary]) =>
  paged({
    path: `/platform/api/${name}`,
    operationId,
    summary,
    item: OrganisationUnit,
    items: (company) => company[name],
  }),
);

const customFields = paged({
  path: '/platform/api/custom_fields',
  operationId: 'listCustomFields',
  summary: 'Custom field definitions',
  item: CustomField,
  items: (company) => company.customFields,
});

const leaveTypes = endpoint({
  method: 'GET',
  path: '/platform/api/company_leave_types',
  operationId: 'listCompanyLeaveTypes',
  area,
  summary: 'Company leave types; with `managedBy`, only the leave types of one application',
  query: z.object({ managedBy: LeaveManagedBy.optional() }),
  response: z.array(CompanyLeaveType),
  handle: ({ company, query }) =>
    [...company.leaveTypes.values()]
      .filter((type) => query.managedBy === undefined || type.managedBy === query.managedBy)
      .map((type) => CompanyLeaveType.parse(type)),
});

export const companyEndpoints = [current, workLocations, ...units, customFields, leaveTypes];

interface PagedList {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly item: z.ZodType;
  items(company: CompanyState): readonly unknown[];
}

function paged({ path, operationId, summary, item, items }: PagedList): Endpoint {
  return endpoint({
    method: 'GET',
    path,
    operationId,
    area,
    summary,
    query: Pagination,
    response: z.array(item),
    handle: ({ company, query }: Call<unknown, z.infer<typeof Pagination>>) => page(items(company), query),
  });
}
