/*
 * The specification states that scopes decide which fields are returned, but it names no scope (Authentication 7). The
 * simulator defines these names. `id`, `personalEmail` and `roleState` need no scope. The scope `*` means all scopes.
 */

export const EMPLOYEE_SCOPES: Readonly<Record<string, readonly string[]>> = {
  'employees:name': ['name', 'firstName', 'lastName', 'preferredFirstName', 'preferredLastName'],
  'employees:identity': ['userId', 'employeeNumber', 'spokeId'],
  'employees:work-email': ['workEmail'],
  'employees:employment': [
    'employmentType',
    'title',
    'endDate',
    'isInternational',
    'isManager',
    'isRemote',
    'workSchedule',
  ],
  'employees:organisation': ['department', 'level', 'teams', 'manager'],
  'employees:work-location': ['workLocation', 'worklocationNickname'],
  'employees:gender': ['gender', 'identifiedGender'],
  'employees:custom-fields': ['customFields'],
  'employees:photo': ['photo', 'smallPhoto'],
};

export const COMPANY_SCOPES: Readonly<Record<string, readonly string[]>> = {
  'company:name': ['name'],
  'company:contact': ['address', 'primaryEmail', 'phone'],
  'company:work-locations': ['workLocations'],
  'company:legal-entities': ['legal entities'],
};

/** The write scopes of groups. A token without any of these scopes has all their rights. */
export const GROUP_WRITE_SCOPES = {
  /** The right to create, rename and delete groups, and to set their `spokeId`. */
  groups: 'groups:write',
  members: 'group-members:write',
} as const;

export function mayWrite(what: keyof typeof GROUP_WRITE_SCOPES, scopes: readonly string[]): boolean {
  const isLimited = Object.values(GROUP_WRITE_SCOPES).some((scope) => scopes.includes(scope));
  return !isLimited || scopes.includes('*') || scopes.includes(GROUP_WRITE_SCOPES[what]);
}

/** Returns the fields that these scopes allow, in the order of the table. An unknown scope allows no field. */
export function fieldsOf(table: Readonly<Record<string, readonly string[]>>, scopes: readonly string[]) {
  const granted = scopes.includes('*') ? Object.keys(table) : scopes;
  return granted.flatMap((scope) => (Object.hasOwn(table, scope) ? (table[scope] ?? []) : []));
}
