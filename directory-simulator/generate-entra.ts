import { createHash } from 'node:crypto';
import { type SeededRandom, seededRandom } from '../local/platform/seeded-random.ts';
import type { WorldInput } from './engine/world.ts';

type UserInput = NonNullable<WorldInput['users']>[number];
type GroupInput = NonNullable<WorldInput['groups']>[number];
type MemberInput = NonNullable<GroupInput['members']>[number];

/** Returns a GUID. The same name always has the same id. */
function guidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`];
  return [...parts, hex.slice(20, 32)].join('-');
}

/**
 * Returns a generated directory as Entra ID has it. External people become guest users. The member `everyone` is
 * replaced by all users. External groups are left out. The first and the third group contain each other. There are
 * Microsoft 365 groups, dynamic groups and a group with hidden membership. Some members are devices and service
 * principals. The deleted users are members of the second group, because they keep their memberships.
 */
export function entraWorld(world: WorldInput, seed: string): WorldInput {
  const random = seededRandom(`${seed}/entra`);
  const { users = [], groups = [], domain } = world;
  const people = users.map((user) => ({
    ...user,
    id: guidOf(user.id),
    ...(random.chance(0.05) ? { vendorFields: { mail: null } } : {}),
  }));
  const guests = guestsOf(groups);
  const idByGuest = new Map(guests.map(({ id, primaryEmail }) => [primaryEmail, id]));
  const everybody = people.filter(({ deletedAtMs }) => deletedAtMs === null || deletedAtMs === undefined);
  const former = people
    .filter((user) => !everybody.includes(user))
    .map(({ id }): MemberInput => ({ member: id, kind: 'user' }));
  const converted = groups.map((group, index): GroupInput => {
    const listed = (group.members ?? []).flatMap((member) => convert(member, idByGuest, everybody));
    const members = index === 1 ? [...listed, ...former] : listed;
    return {
      ...group,
      id: guidOf(group.id),
      members: [...members, ...othersOf(index, groups, random)],
      vendorFields: kindOf(index, random),
    };
  });
  return {
    customerId: guidOf(`${seed}/tenant`),
    ...(domain === undefined ? {} : { domain }),
    users: [...people, ...guests],
    groups: converted,
  };
}

function guestsOf(groups: readonly GroupInput[]): readonly UserInput[] {
  const addresses = groups
    .flatMap(({ members = [] }) => members)
    .flatMap(({ kind, member }) => (kind === 'externalUser' ? [member] : []));
  return [...new Set(addresses)].map((primaryEmail) => ({
    id: guidOf(primaryEmail),
    primaryEmail,
    vendorFields: { userType: 'Guest' },
  }));
}

function convert(
  member: MemberInput,
  idByGuest: ReadonlyMap<string, string>,
  everybody: readonly UserInput[],
): readonly MemberInput[] {
  if (member.kind === 'everyone') return everybody.map(({ id }) => ({ member: id, kind: 'user' }));
  if (member.kind === 'externalGroup') return [];
  if (member.kind !== 'externalUser') return [{ ...member, member: guidOf(member.member) }];
  const id = idByGuest.get(member.member);
  return id === undefined ? [] : [{ member: id, kind: 'user' }];
}

/** Returns the members that only Entra ID has: devices, service principals, and the group that closes a cycle. */
function othersOf(
  index: number,
  groups: readonly GroupInput[],
  random: SeededRandom,
): readonly MemberInput[] {
  const first = groups[0];
  const cycle: MemberInput[] =
    index === 2 && first !== undefined ? [{ member: guidOf(first.id), kind: 'group' }] : [];
  const device: MemberInput[] =
    index === 0 || random.chance(0.1) ? [{ member: guidOf(random.hex(12)), kind: 'device' }] : [];
  const principal: MemberInput[] =
    index === 1 || random.chance(0.1) ? [{ member: guidOf(random.hex(12)), kind: 'servicePrincipal' }] : [];
  return [...cycle, ...device, ...principal];
}

/**
 * Returns the vendor fields for the type of a group. Most groups are security groups with assigned members. The seventh
 * group has hidden membership.
 */
function kindOf(index: number, random: SeededRandom): Readonly<Record<string, unknown>> {
  if (index === 6) return { groupTypes: ['Unified'], visibility: 'HiddenMembership' };
  if (index === 5 || random.chance(0.1)) {
    return {
      groupTypes: ['DynamicMembership'],
      membershipRule: 'user.department -eq "Engineering"',
      membershipRuleProcessingState: 'On',
    };
  }
  return random.chance(0.4) ? { groupTypes: ['Unified'] } : {};
}
