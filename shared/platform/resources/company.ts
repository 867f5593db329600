import * as z from 'zod';
import type { Caller, CallOptions } from '../call.ts';
import { checked } from '../checked.ts';
import type { Endpoint } from '../endpoint.ts';
import { createListing } from '../pages.ts';
import { Company, CustomField, LeaveType, OrganisationUnit, WorkLocation } from '../schemas/company.ts';

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
