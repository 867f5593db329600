import type { CompanyState, State } from './state.ts';
import type { World, WorldCompany } from './world.ts';

/** Returns the complete state in the format of a world file. A simulator started from it gives the same responses. */
export function worldFromState(state: State): World {
  return {
    companies: [...state.companies.values()].map(companyToWorld),
    credentials: [...state.credentials.values()].map(({ employee, ...credential }) => ({
      ...credential,
      scopes: [...credential.scopes],
      employee: employee ?? undefined,
    })),
  };
}

function companyToWorld(company: CompanyState): WorldCompany {
  return {
    id: company.id,
    name: company.name,
    address: company.address,
    primaryEmail: company.primaryEmail,
    phone: company.phone,
    legalEntities: [...company.legalEntities],
    employees: [...company.employees.values()],
    departments: [...company.departments],
    teams: [...company.teams],
    levels: [...company.levels],
    workLocations: [...company.workLocations],
    customFields: [...company.customFields],
    leaveTypes: [...company.leaveTypes.values()],
    leavePolicies: [...company.leavePolicies.values()],
    groups: [...company.groups.values()],
    leaveRequests: [...company.leaveRequests.values()],
    candidates: [...company.candidates],
    activity: { feed: company.activity.feed, batches: [...company.activity.batches] },
  };
}
