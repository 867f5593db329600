import type { Endpoint } from './endpoint.ts';
import { accountEndpoints } from './resources/account.ts';
import { employeeEndpoints } from './resources/employees.ts';
import { groupEndpoints } from './resources/groups.ts';

/** Every endpoint of the specification, in its order. */
export const ENDPOINTS: readonly Endpoint[] = [...employeeEndpoints, ...groupEndpoints, ...accountEndpoints];
