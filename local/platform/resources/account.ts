import { endpoint } from '../endpoint.ts';
import { CurrentUser, Ok } from '../schemas/account.ts';
import type { CompanyState, Credential } from '../state/state.ts';

const area = 'Current user and installation';

const me = endpoint({
  method: 'GET',
  path: '/platform/api/me',
  operationId: 'readCurrentUser',
  area,
  summary: 'The user that owns the token',
  response: CurrentUser,
  handle: ({ company, credential }) => {
    const owner = ownerOf(company, credential);
    return {
      id: owner?.userId ?? `user-of-${company.id}`,
      workEmail: owner?.workEmail ?? null,
      company: company.id,
    };
  },
});

const markInstalled = endpoint({
  method: 'POST',
  path: '/platform/api/mark_app_installed',
  operationId: 'markAppInstalled',
  area,
  summary: 'Marks the calling application as installed, as every other call does',
  response: Ok,
  // The handler does nothing, because every authenticated call marks the application as installed.
  handle: () => ({ ok: true }),
});

export const accountEndpoints = [me, markInstalled];

/** Returns the owner of a credential. The default is the company's first active employee. */
export function ownerOf(company: CompanyState, credential: Credential) {
  if (credential.employee !== null) return company.employees.get(credential.employee);
  for (const employee of company.employees.values()) if (employee.roleState === 'ACTIVE') return employee;
  return undefined;
}
