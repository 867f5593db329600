import { DEPARTMENTS, emailOf, OFFICES, type Person } from './example-people.ts';
import { type Story, tellStory } from './example-story.ts';

/** The example company's directory: one native event per line, in order of time. */
export function exampleEvents(): string {
  return tellStory()
    .events.toSorted((a, b) => a.atMs - b.atMs || (a.sequence ?? 0) - (b.sequence ?? 0))
    .map(({ atMs, sequence, type, data }, index) => ({
      specversion: '1.0',
      id: `acme-${String(index + 1).padStart(5, '0')}`,
      source: 'okta/acme',
      type,
      time: new Date(atMs).toISOString(),
      ...(sequence !== undefined && { sequence: String(sequence) }),
      data,
    }))
    .map((event) => `${JSON.stringify(event)}\n`)
    .join('');
}

/** The same company as the platform knows it at the end of the story; the platform has no groups yet. */
export function exampleWorld(): string {
  const story = tellStory();
  const employees = story.people.map((person) => employeeOf(person, story));
  const company = {
    id: 'company_acme',
    name: 'Acme Example Ltd',
    primaryEmail: 'office@acme.example',
    departments: DEPARTMENTS.map((name) => ({ id: `department_${slug(name)}`, name, parent: null })),
    workLocations: OFFICES.map((nickname) => ({ id: `location_${slug(nickname)}`, nickname })),
    customFields: [{ id: 'field_okta_id', type: 'TEXT', title: 'Okta ID', caption: null, required: false }],
    groups: [],
  };
  const credentials = [
    {
      token: 'example-app-token',
      kind: 'oauth_app',
      company: company.id,
      role: 'admin',
      app: 'groupsync',
      scopes: ['*'],
      employee: 'role_0001',
    },
    { token: 'example-api-key', kind: 'api_key', company: company.id, role: 'admin', employee: 'role_0001' },
  ];
  return layOut(company, employees, credentials);
}

const slug = (name: string) => name.toLowerCase().replaceAll(' ', '_');

function employeeOf(person: Person, { leavers }: Story): object {
  const { roleId: id, userId, memberId, firstName, lastName, department, office, isManager } = person;
  const leftAtMs = leavers.get(person);
  return {
    id,
    userId,
    name: `${firstName} ${lastName}`,
    firstName,
    lastName,
    workEmail: emailOf(firstName, lastName),
    personalEmail: emailOf(firstName, lastName).replace('@acme.example', `.${person.number}@home.example`),
    employeeNumber: String(person.number),
    roleState:
      leftAtMs !== undefined ? 'TERMINATED' : person.arrival === 'not_started' ? 'ACCEPTED' : 'ACTIVE',
    endDate: leftAtMs === undefined ? null : new Date(leftAtMs).toISOString().slice(0, 10),
    employmentType: 'SALARIED_FT',
    department,
    worklocationNickname: office,
    isRemote: office === 'Remote',
    isManager,
    customFields: { 'Okta ID': memberId },
  };
}

/** JSON with one employee per line: a person's change is one line of a difference. */
function layOut(company: object, employees: readonly object[], credentials: readonly object[]): string {
  const head = JSON.stringify(company).slice(0, -1);
  const lines = (items: readonly object[]) => items.map((item) => `  ${JSON.stringify(item)}`).join(',\n');
  return `{"companies": [${head}, "employees": [\n${lines(employees)}\n]}],\n"credentials": [\n${lines(credentials)}\n]}\n`;
}
