import type { Endpoint } from './endpoint.ts';
import { accountEndpoints } from './resources/account.ts';
import { activityEndpoints } from './resources/activity.ts';
import { candidateEndpoints } from './resources/candidates.ts';
import { companyEndpoints } from './resources/company.ts';
import { employeeEndpoints } from './resources/employees.ts';
import { groupEndpoints } from './resources/groups.ts';
import { leaveEndpoints } from './resources/leave.ts';

export const ENDPOINTS: readonly Endpoint[] = [
  ...employeeEndpoints,
  ...companyEndpoints,
  ...leaveEndpoints,
  ...groupEndpoints,
  ...candidateEndpoints,
  ...activityEndpoints,
  ...accountEndpoints,
];
