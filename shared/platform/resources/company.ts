import * as z from 'zod';
import type { Caller, CallOptions } from '../call.ts';
import { checked } from '../checked.ts';
import type { Endpoint } from '../endpoint.ts';
import { createListing, type Listing } from '../pages.ts';
import { Company, CustomField, LeaveType, OrganisationUnit, WorkLocation } from '../schemas/company.ts';

const CURRENT: Endpoint = { method: 'GET', path: '/platform/api/companies/current' };
const WORK_LOCATIONS: Endpoint = { method: 'GET', path: '/platform/api/work_locations' };
const DEPARTMENTS: Endpoint = { method: 'GET', path: '/platform/api/departments' };
const TEAMS: Endpoint = { method: 'GET', path: '/platform/api/teams' };
const LEVELS: Endpoint = { method: 'GET', path: '/platform/api/levels' };
const CUSTOM_FIELDS: Endpoint = { method: 'GET', path: '/platform/api/custom_fields' };
const LEAVE_TYPES: Endpoint = { method: 'GET', path: '/platform/api/company_leave_types' };

const LeaveTypesQuery = z.strictObject({ managedBy: z.string().min(1).optional() });

/** Workforce Platform API, Company structure. Every list takes `{limit, offset}`; `limit` is the page size, 1 to 100. */
export interface CompanyResource {
  /** `GET /companies/current`: the company that the credential belongs to. */
  current(options?: CallOptions): Promise<Company>;
  /** `GET /work_locations`: nickname and address; no id, which only the company object has. */
  readonly workLocations: Listing<WorkLocation>;
  /** `GET /departments`. */
  readonly departments: Listing<OrganisationUnit>;
  /** `GET /teams`. */
  readonly teams: Listing<OrganisationUnit>;
  /** `GET /levels`: fixed positions, such as manager or executive. */
  readonly levels: Listing<OrganisationUnit>;
  /** `GET /custom_fields`: definitions; employees carry the values under the definition's title. */
  readonly customFields: Listing<CustomField>;
  /**
   * `GET /company_leave_types`, not paginated. The specification lets it be filtered by `managedBy` without saying
   * where that goes; it is sent as a query parameter.
   */
  leaveTypes(
    query?: { readonly managedBy?: string | undefined },
    options?: CallOptions,
  ): Promise<LeaveType[]>;
}

export function companyResource(call: Caller): CompanyResource {
  const units = z.array(OrganisationUnit);
  return {
    current: (options) => call({ endpoint: CURRENT, decoding: { schema: Company } }, options),
    workLocations: createListing(call, { endpoint: WORK_LOCATIONS, items: z.array(WorkLocation) }),
    departments: createListing(call, { endpoint: DEPARTMENTS, items: units }),
    teams: createListing(call, { endpoint: TEAMS, items: units }),
    levels: createListing(call, { endpoint: LEVELS, items: units }),
    customFields: createListing(call, { endpoint: CUSTOM_FIELDS, items: z.array(CustomField) }),
    leaveTypes: async (query = {}, options) => {
      const { managedBy } = checked(LeaveTypesQuery, query, LEAVE_TYPES);
      const decoding = { schema: z.array(LeaveType) };
      return call({ endpoint: LEAVE_TYPES, query: { managedBy }, decoding }, options);
    },
  };
}
