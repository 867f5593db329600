import type { CompanyState, State } from './state.ts';
import type { World, WorldCompany } from './world.ts';

/** The state in world form: complete, so that a simulator started from it answers as this one does. */
export function worldFromState(state: State): World {
  return {
    companies: [...state.companies.values()].map(companyToWorld),
    credentials: [...state.credentials.values()].map(({ employee, ...credential }) => ({
      ...credential,
      scopes: [...credential.scopes],
      ...(employee === null ? {} : { employee }),
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
