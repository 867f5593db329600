import { generatePeople, type WorldEmployeeInput } from './generate-people.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';
import type { WorldInput } from './state/world.ts';
import { DEPARTMENTS, GROUP_KINDS, LEVELS, TEAM_NAMES, WORK_LOCATIONS } from './world-vocabulary.ts';

interface WorldSize {
  readonly people: number;
  readonly groups: number;
  readonly seed: string;
  /** The time of the generated world in milliseconds since 1970. */
  readonly nowMs: number;
}

/** Maximum number of members of a group. It limits the memory of large worlds. */
const MAX_MEMBERS = 2_000;

type WorldCompanyInput = WorldInput['companies'][number];

/**
 * Generates a company of this size with a realistic structure: a tree of managers, departments, teams, leavers and
 * newcomers. A few of its groups are large, and it has two credentials of each kind. Equal arguments give equal worlds.
 */
export function generateWorld({ people, groups, seed, nowMs }: WorldSize): WorldInput {
  const random = seededRandom(seed);
  const id = `co_${random.hex(12)}`;
  const departments = units(
    'dep',
    DEPARTMENTS.map(({ name }) => name),
  ).map((unit) => ({ ...unit, parent: departmentParent(unit.name) }));
  const employees = generatePeople({ count: people, nowMs, random });
  const token = (kind: string) => `${kind}_${random.hex(32)}`;
  const manager = employees.find((one) => one.isManager === true && one.roleState === 'ACTIVE');
  const worker = employees.find((one) => one.isManager === false && one.roleState === 'ACTIVE');
  const owner = (one: WorldEmployeeInput | undefined) => (one?.id === undefined ? {} : { employee: one.id });
  return {
    companies: [
      {
        id,
        name: 'Juniper & Vale',
        address: addressOf(WORK_LOCATIONS[0]),
        primaryEmail: 'office@juniper-vale.example',
        phone: '+1 415 555 0100',
        legalEntities: [{ name: 'Juniper & Vale Canada Inc.', country: 'CA' }],
        workLocations: WORK_LOCATIONS.map((place, index) => ({
          id: `loc_${index + 1}`,
          nickname: place.nickname,
          address: addressOf(place),
        })),
        departments,
        teams: units('team', TEAM_NAMES),
        levels: units('lvl', LEVELS),
        customFields: [
          { id: 'cf_1', type: 'TEXT', title: 'Okta ID', caption: 'Id in the directory', required: false },
          { id: 'cf_2', type: 'SELECT', title: 'T-shirt size', caption: null, required: false },
          { id: 'cf_3', type: 'DATE', title: 'Badge issued', caption: null, required: true },
        ],
        leaveTypes: LEAVE_TYPES,
        leavePolicies: [
          { id: 'lp_vacation', name: 'Standard vacation' },
          { id: 'lp_sick', name: 'Sick days' },
        ],
        employees,
        groups: generateGroups({ count: groups, employees, random }),
      },
    ],
    credentials: [
      {
        token: token('app'),
        kind: 'oauth_app',
        company: id,
        role: 'admin',
        app: 'groupsync',
        ...owner(manager),
      },
      {
        token: token('app'),
        kind: 'oauth_app',
        company: id,
        role: 'manager',
        app: 'time-tracker',
        ...owner(manager),
      },
      { token: token('key'), kind: 'api_key', company: id, role: 'admin', ...owner(manager) },
      {
        token: token('key'),
        kind: 'api_key',
        company: id,
        role: 'employee',
        scopes: ['employees:name'],
        ...owner(worker),
      },
    ],
  };
}

const LEAVE_TYPES: NonNullable<WorldCompanyInput['leaveTypes']> = [
  {
    id: 'lt_vacation',
    leaveType: 'VACATION',
    name: 'Vacation',
    description: 'Paid time off',
    allowanceHours: 200,
  },
  { id: 'lt_sick', leaveType: 'SICK', name: 'Sick leave', description: 'Illness', isBalanceUnlimited: true },
  {
    id: 'lt_jury',
    leaveType: 'JURY_DUTY',
    name: 'Jury duty',
    description: 'Service at court',
    isUnpaid: true,
    managedBy: 'LEAVES',
  },
];

function generateGroups({
  count,
  employees,
  random,
}: {
  count: number;
  employees: readonly WorldEmployeeInput[];
  random: SeededRandom;
}): NonNullable<WorldCompanyInput['groups']> {
  const active = employees.filter((one) => one.roleState === 'ACTIVE').flatMap((one) => one.userId ?? []);
  return Array.from({ length: count }, (_, index) => {
    const department = DEPARTMENTS[index % DEPARTMENTS.length]?.name ?? '';
    const kind = GROUP_KINDS[Math.floor(index / DEPARTMENTS.length) % GROUP_KINDS.length] ?? '';
    const round = Math.floor(index / (DEPARTMENTS.length * GROUP_KINDS.length));
    // The high exponent makes most groups small. A few groups contain up to half of the company.
    const size = Math.min(MAX_MEMBERS, Math.ceil(random.fraction() ** 6 * active.length * 0.5));
    const users = new Set<string>();
    for (let member = 0; member < size; member += 1) users.add(random.pick(active));
    if (random.chance(0.05)) users.add(`usr_left_${random.hex(6)}`);
    return {
      id: `grp_${random.hex(12)}`,
      name: `${department} ${kind}${round === 0 ? '' : ` ${round + 1}`}`,
      spokeId: `00g${random.hex(14)}`,
      users: [...users],
      version: random.hex(16),
    };
  });
}

const units = (prefix: string, names: readonly string[]) =>
  names.map((name, index) => ({ id: `${prefix}_${index + 1}`, name, parent: null as string | null }));

function departmentParent(name: string): string | null {
  const parent = DEPARTMENTS.find((one) => one.name === name)?.parent ?? null;
  const index = DEPARTMENTS.findIndex((one) => one.name === parent);
  return index < 0 ? null : `dep_${index + 1}`;
}

function addressOf(place: (typeof WORK_LOCATIONS)[number]) {
  const { city, state, zip, country, street } = place;
  return { streetLine1: street, streetLine2: '', zip, city, state, country, phone: '', isRemote: false };
}
