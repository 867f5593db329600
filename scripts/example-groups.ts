import { DEPARTMENTS, OFFICES, type Person } from './example-people.ts';
import type { Random } from './example-random.ts';

/** A group of the example's directory, and who is in it when the story begins. */
export interface GroupPlan {
  readonly id: string;
  readonly name: string;
  /**
   * `rule`: joiners are put in by it. `team`: people move between these. `circle`: people come and go as they like;
   * starts empty.
   */
  readonly kind: 'rule' | 'team' | 'circle';
  readonly includes: (person: Person) => boolean;
}

const TEAMS = ['Atlas', 'Borealis', 'Cascade', 'Delta', 'Ember', 'Fjord', 'Glacier'];
const TEAM_DEPARTMENTS = new Set(['Engineering', 'Product', 'Design']);

const APPLICATIONS: readonly (readonly [string, readonly string[]])[] = [
  ['GitHub', ['Engineering', 'IT']],
  ['Figma', ['Design', 'Product', 'Marketing']],
  ['Salesforce', ['Sales', 'Marketing', 'Customer Support']],
  ['Zendesk', ['Customer Support']],
  ['Datadog', ['Engineering']],
  ['NetSuite', ['Finance', 'Legal']],
  ['Data warehouse readers', ['Product', 'Finance', 'Marketing']],
];

const CIRCLES = [
  'Book club',
  'Running',
  'Climbing',
  'Chess',
  'Choir',
  'First aiders',
  'Interviewers',
  'On-call volunteers',
  'Offsite planning',
  'Office move task force',
];

/** Forty-two groups, of which two are deleted before the story ends. */
export function makeGroups(random: Random): GroupPlan[] {
  const plans: Omit<GroupPlan, 'id'>[] = [
    { name: 'Everyone', kind: 'rule', includes: () => true },
    ...DEPARTMENTS.map((name) => ({ name, kind: 'rule' as const, includes: ofDepartments([name]) })),
    ...OFFICES.map((office) => ({
      name: office === 'Remote' ? 'Remote workers' : `${office} office`,
      kind: 'rule' as const,
      includes: (person: Person) => person.office === office,
    })),
    { name: 'Managers', kind: 'rule', includes: ({ isManager }) => isManager },
    { name: 'Leadership', kind: 'rule', includes: ({ isManager, number }) => isManager && number % 4 === 0 },
    ...TEAMS.map((team, index) => ({
      name: `Team ${team}`,
      kind: 'team' as const,
      includes: ({ department, number }: Person) =>
        TEAM_DEPARTMENTS.has(department) && number % TEAMS.length === index,
    })),
    ...APPLICATIONS.map(([name, departments]) => ({
      name: `App: ${name}`,
      kind: 'rule' as const,
      includes: ofDepartments(departments),
    })),
    ...CIRCLES.map((name) => ({ name, kind: 'circle' as const, includes: () => false })),
  ];
  const numbers = random.sample(
    Array.from({ length: 900 }, (_, index) => index + 100),
    plans.length,
  );
  return plans.map((plan, index) => ({ id: `00g7acme${numbers[index]}`, ...plan }));
}

const ofDepartments = (departments: readonly string[]) => (person: Person) =>
  departments.includes(person.department);
