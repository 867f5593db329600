import { generateWorld } from '../local/platform/generate-world.ts';
import { type SeededRandom, seededRandom } from '../local/platform/seeded-random.ts';
import { DEPARTMENTS, GROUP_KINDS } from '../local/platform/world-vocabulary.ts';
import type { WorldInput } from './engine/world.ts';

interface DirectorySize {
  readonly people: number;
  readonly groups: number;
  readonly seed: string;
  /** The time of the generated directory in milliseconds since 1970. */
  readonly nowMs: number;
}

type UserInput = NonNullable<WorldInput['users']>[number];
type GroupInput = NonNullable<WorldInput['groups']>[number];
type MemberInput = NonNullable<GroupInput['members']>[number];

const DOMAIN = 'juniper-vale.example';
const DAY_MS = 86_400_000;
/** The largest number of drawn users of a group. It limits the memory of a directory with many people. */
const MAX_MEMBERS = 2_000;

/**
 * Generates a directory with the people and addresses that `npm run platform` generates for the same seed and number of
 * people. Calls with the same arguments on the same day give the same directory. People who left the company are
 * suspended, archived or deleted. Some groups are nested or have external members. One group has every user as a
 * member, one group is empty, and two groups have the same name.
 */
export function generateDirectory({ people, groups, seed, nowMs }: DirectorySize): WorldInput {
  const todayMs = nowMs - (nowMs % DAY_MS);
  const employees = generateWorld({ people, groups: 0, seed, nowMs }).companies[0]?.employees ?? [];
  const random = seededRandom(`${seed}/directory`);
  const users = employees.map((employee, index): UserInput => {
    const hasLeft = employee.roleState === 'TERMINATED';
    const fate = hasLeft ? random.pick(['suspended', 'archived', 'deleted'] as const) : 'present';
    const mailbox = employee.workEmail?.split('@', 1)[0] ?? `person${index}`;
    return {
      id: `1${digits(random, 20)}`,
      primaryEmail: `${mailbox}@${DOMAIN}`,
      aliases: random.chance(0.1) ? [`${mailbox}.alias@${DOMAIN}`] : [],
      givenName: employee.firstName ?? '',
      familyName: employee.lastName ?? '',
      orgUnitPath: `/${employee.department ?? ''}`,
      isAdmin: index === 0,
      suspended: fate === 'suspended',
      archived: fate === 'archived',
      createdAtMs: todayMs - (30 + random.below(2_000)) * DAY_MS,
      deletedAtMs: fate === 'deleted' ? todayMs - random.below(40) * DAY_MS : null,
    };
  });
  return {
    customerId: `C0${random.hex(7)}`,
    domain: DOMAIN,
    users,
    groups: generateGroups(groups, users, random),
  };
}

function generateGroups(count: number, users: readonly UserInput[], random: SeededRandom): GroupInput[] {
  const existing = users.filter(({ deletedAtMs }) => deletedAtMs === null);
  const identities = Array.from({ length: count }, (_, index) => identityOf(index, random));
  return identities.map((identity, index) => ({
    ...identity,
    description: random.chance(0.5) ? `Access for ${identity.name}` : '',
    aliases: random.chance(0.05) ? [identity.email.replace('@', '.old@')] : [],
    members: membersOf(index, { existing, below: identities.slice(index + 1), random }),
  }));
}

function identityOf(index: number, random: SeededRandom) {
  const department = DEPARTMENTS[index % DEPARTMENTS.length]?.name ?? '';
  const kind = GROUP_KINDS[Math.floor(index / DEPARTMENTS.length) % GROUP_KINDS.length] ?? '';
  const cycle = Math.floor(index / (DEPARTMENTS.length * GROUP_KINDS.length));
  // The second group has the same name as the first group, because directories allow this.
  const name =
    index === 1 ? 'Engineering Admins' : `${department} ${kind}${cycle === 0 ? '' : ` ${cycle + 1}`}`;
  const mailbox = `${department}-${kind}-${index}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return { id: `03${random.hex(13)}`, email: `${mailbox}@${DOMAIN}`, name };
}

interface GroupContext {
  readonly existing: readonly UserInput[];
  /** The groups after this group in the list. A group contains only later groups, so it can never contain itself. */
  readonly below: readonly { readonly id: string }[];
  readonly random: SeededRandom;
}

/** Returns the members of a group. The fifth group is empty. */
function membersOf(index: number, { existing, below, random }: GroupContext): MemberInput[] {
  if (index === 4) return [];
  return [...peopleOf(existing, random), ...nestedOf(below, index, random), ...othersOf(index, random)];
}

/** Returns the users of a group. Most groups are small, and a few contain a third of the company. */
function peopleOf(users: readonly UserInput[], random: SeededRandom): MemberInput[] {
  if (users.length === 0) return [];
  const size = Math.min(MAX_MEMBERS, Math.ceil(random.fraction() ** 5 * users.length * 0.5));
  const ids = new Set(Array.from({ length: size }, () => random.pick(users).id));
  return [...ids].map((member, place) => ({ member, kind: 'user', role: place === 0 ? 'OWNER' : 'MEMBER' }));
}

/**
 * Returns the nested groups. The first group contains the third, and the third contains the sixth. One group in eight
 * contains one or two more groups.
 */
function nestedOf(
  below: readonly { readonly id: string }[],
  index: number,
  random: SeededRandom,
): MemberInput[] {
  const fixed = below.filter((_, place) => (index === 0 && place === 1) || (index === 2 && place === 2));
  const drawn = below.length > 0 && random.chance(0.125) ? [random.pick(below), random.pick(below)] : [];
  const ids = new Set([...fixed, ...drawn].map(({ id }) => id));
  return [...ids].map((member) => ({ member, kind: 'group' }));
}

/**
 * Returns the members that are neither users nor generated groups. The fourth group has every user as a member. The
 * second group and a tenth of the other groups have external people. About 3 % of the groups have an external group.
 */
function othersOf(index: number, random: SeededRandom): MemberInput[] {
  const everyone: MemberInput[] = index === 3 ? [{ member: 'everyone', kind: 'everyone' }] : [];
  const guests = index === 1 || random.chance(0.1) ? 1 + random.below(3) : 0;
  const people = Array.from({ length: guests }, (): MemberInput => {
    return { member: `guest.${random.hex(6)}@partner.example`, kind: 'externalUser' };
  });
  const group: MemberInput[] = random.chance(0.03)
    ? [{ member: `team.${random.hex(4)}@partner.example`, kind: 'externalGroup' }]
    : [];
  return [...everyone, ...people, ...group];
}

const digits = (random: SeededRandom, count: number) =>
  Array.from({ length: count }, () => random.below(10)).join('');
