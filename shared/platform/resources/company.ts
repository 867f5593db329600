import * as z from 'zod';
import { type Caller, type CallOptions, checked, type Endpoint } from '../call.ts';
import { createListing } from '../pages.ts';
import { Address, flag, openEnum, text } from '../schemas/field.ts';

const id = z.string().min(1);

/** Workforce Platform API, Work location. The standalone list gives no `id`. */
const WorkLocation = z.object({ id: text, nickname: text, address: Address.nullish() });

/** Workforce Platform API, Organisation unit: a department, team or level; `parent` is the id of the unit above. */
const OrganisationUnit = z.object({ id, name: text, parent: text });

/** Workforce Platform API, Company. The key `legal entities` is read as `legalEntities`. */
const Company = z
  .object({
    id,
    name: text,
    address: Address.nullish(),
    workLocations: z.array(WorkLocation).nullish(),
    primaryEmail: text,
    phone: text,
    'legal entities': z.array(z.unknown()).nullish(),
  })
  .transform(({ 'legal entities': legalEntities, ...company }) => ({
    ...company,
    /** Only entities based in CA are supported; their fields are not specified. */
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

/** Workforce Platform API, Custom field definition. Employees carry values under its `title`. */
const CustomField = z.object({
  id,
  type: CustomFieldType.nullish(),
  title: text,
  caption: text,
  required: flag,
});

/** Workforce Platform API, Company leave type. */
const LeaveType = z.object({ id, leaveType: text, name: text, description: text, isUnpaid: flag });

const of = (path: string): Endpoint => ({ method: 'GET', path: `/platform/api/${path}` });
const CURRENT = of('companies/current');
const LEAVE_TYPES = of('company_leave_types');

const LeaveTypesQuery = z.strictObject({ managedBy: z.string().min(1).optional() });

/** Workforce Platform API, Company structure. Every list takes `{limit, offset}`; `limit` is the page size, 1 to 100. */
export function companyResource(call: Caller) {
  const units = z.array(OrganisationUnit);
  return {
    /** `GET /companies/current`: the company that the credential belongs to. */
    current: (options?: CallOptions) => call({ endpoint: CURRENT, decoding: { schema: Company } }, options),
    /** `GET /work_locations`: nickname and address; no id, which only the company object has. */
    workLocations: createListing(call, { endpoint: of('work_locations'), items: z.array(WorkLocation) }),
    departments: createListing(call, { endpoint: of('departments'), items: units }),
    teams: createListing(call, { endpoint: of('teams'), items: units }),
    /** `GET /levels`: fixed positions, such as manager or executive. */
    levels: createListing(call, { endpoint: of('levels'), items: units }),
    /** `GET /custom_fields`: definitions; employees carry the values under the definition's title. */
    customFields: createListing(call, { endpoint: of('custom_fields'), items: z.array(CustomField) }),
    /**
     * `GET /company_leave_types`, not paginated. The specification lets it be filtered by `managedBy` without saying
     * where that goes; it is sent as a query parameter.
     */
    leaveTypes: async (given: z.input<typeof LeaveTypesQuery> = {}, options?: CallOptions) => {
      const query = checked(LeaveTypesQuery, given, LEAVE_TYPES);
      return call({ endpoint: LEAVE_TYPES, query, decoding: { schema: z.array(LeaveType) } }, options);
    },
  };
}
