import type { SeededRandom } from './seeded-random.ts';
import type { WorldInput } from './state/world.ts';
import {
  DEPARTMENTS,
  FIRST_NAMES,
  LAST_NAMES,
  LEVELS,
  TEAM_NAMES,
  WORK_LOCATIONS,
} from './world-vocabulary.ts';

export type WorldEmployeeInput = NonNullable<WorldInput['companies'][number]['employees']>[number];

const DAY_MS = 86_400_000;
/** Number of direct reports per manager. It determines the depth of the tree. */
const REPORTS_PER_MANAGER = 8;

/** Generates people in the order of their hiring. Managers come first, because they are hired before their reports. */
export function generatePeople(options: {
  count: number;
  nowMs: number;
  random: SeededRandom;
}): WorldEmployeeInput[] {
  const { count, nowMs, random } = options;
  const usedAddresses = new Map<string, number>();
  const weighted = DEPARTMENTS.flatMap((department) =>
    Array.from({ length: department.share }, () => department),
  );
  const managers = Math.ceil(count / REPORTS_PER_MANAGER);
  const ids = Array.from({ length: count }, () => `emp_${random.hex(12)}`);
  return ids.map((id, index) => {
    const firstName = random.pick(FIRST_NAMES);
    const lastName = random.pick(LAST_NAMES);
    const department = random.pick(weighted);
    const place = random.pick(WORK_LOCATIONS);
    const isRemote = random.chance(0.25);
    const isManager = index < managers;
    const address = mailbox(firstName, lastName, usedAddresses);
    return {
      id,
      userId: `usr_${random.hex(12)}`,
      name: `${firstName} ${lastName}`,
      firstName,
      lastName,
      employmentType: random.chance(0.08)
        ? 'CONTRACTOR'
        : random.pick(['SALARIED_FT', 'SALARIED_FT', 'HOURLY_FT', 'SALARIED_PT'] as const),
      title:
        index === 0
          ? 'Chief Executive Officer'
          : `${isManager ? 'Lead ' : ''}${random.pick(department.titles)}`,
      department: department.name,
      level: levelOf(index, isManager, random),
      teams: [random.pick(TEAM_NAMES)],
      workLocation: isRemote
        ? null
        : {
            streetLine1: place.street,
            streetLine2: '',
            zip: place.zip,
            city: place.city,
            state: place.state,
            country: place.country,
            phone: '',
            isRemote,
          },
      worklocationNickname: isRemote ? 'Remote' : place.nickname,
      timezone: place.timezone,
      isInternational: place.country !== 'US',
      isRemote,
      isManager,
      manager: index === 0 ? null : (ids[Math.floor((index - 1) / REPORTS_PER_MANAGER)] ?? null),
      workEmail: `${address}@juniper-vale.example`,
      personalEmail: `${address}.${index + 1}@mail.example`,
      employeeNumber: String(index + 1),
      customFields: { 'Okta ID': `00u${random.hex(14)}`, 'T-shirt size': random.pick(['S', 'M', 'L', 'XL']) },
      provisioned: isManager || !random.chance(0.03),
      ein: place.country === 'CA' ? '98-7654321' : '12-3456789',
      ...stateOf(isManager, nowMs, random),
    };
  });
}

/** About one in nine people has left, and one in fifty has not started. Managers are always active. */
function stateOf(
  isManager: boolean,
  nowMs: number,
  random: SeededRandom,
): Pick<WorldEmployeeInput, 'roleState' | 'endDate'> {
  const draw = random.fraction();
  if (isManager || draw >= 0.13) return { roleState: 'ACTIVE' };
  if (draw < 0.02) return { roleState: random.pick(['INIT', 'HIRED', 'ACCEPTED'] as const) };
  const endDate = new Date(nowMs - (1 + random.below(900)) * DAY_MS).toISOString().slice(0, 10);
  return { roleState: 'TERMINATED', endDate };
}

function levelOf(index: number, isManager: boolean, random: SeededRandom): string {
  if (index === 0) return LEVELS[0];
  if (isManager) return index <= REPORTS_PER_MANAGER ? LEVELS[1] : LEVELS[2];
  return random.pick([LEVELS[3], LEVELS[4], LEVELS[4], LEVELS[5]]);
}

/** Returns an ASCII address. If an earlier person has the same name, the address ends in a number. */
function mailbox(firstName: string, lastName: string, used: Map<string, number>): string {
  const plain = `${firstName}.${lastName}`
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll('ø', 'o')
    .replaceAll('ı', 'i');
  const name = plain.replaceAll(/[^a-z.]/g, '');
  const times = (used.get(name) ?? 0) + 1;
  used.set(name, times);
  return times === 1 ? name : `${name}${times}`;
}
