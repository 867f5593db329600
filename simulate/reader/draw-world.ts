import type { WorldInput } from '../../directory-simulator/engine/world.ts';
import { between, type Random, some } from '../random.ts';
import { CONNECTION, GROUPS, type Scene } from './scene.ts';

/** The account with whose rights groupsync reads a Google directory. */
export const ADMINISTRATOR = 'admin@d.test';
/** The group of all users in Okta. */
export const EVERYONE = 'k4';
const EXTERNAL = 'guest@elsewhere.test';

type UserInput = NonNullable<WorldInput['users']>[number];
type GroupInput = NonNullable<WorldInput['groups']>[number];
type MemberInput = NonNullable<GroupInput['members']>[number];

/** Draws the state of a directory at the beginning of the run. */
export function drawWorld(random: Random, { vendor, members }: Scene): WorldInput {
  const users = members.map((id): UserInput => ({ id, primaryEmail: `${id}@${CONNECTION}.test` }));
  const admin: UserInput = { id: 'admin', primaryEmail: ADMINISTRATOR, isAdmin: true };
  const groups = Array.from({ length: GROUPS }, (_, index) => groupOf(random, index, members));
  const world = { domain: 'd.test', users: [admin, ...users], groups };
  if (vendor === 'google') return ofGoogle(world);
  return vendor === 'entra' ? ofEntra(world) : ofOkta(world);
}

interface PlainWorld {
  readonly domain: string;
  readonly users: readonly UserInput[];
  readonly groups: readonly GroupInput[];
}

function groupOf(random: Random, index: number, members: readonly string[]): GroupInput {
  const id = `k${index}`;
  const direct = some(random, members, between(random, 1, 5)).map((member) => ({ member }));
  return { id, email: `${id}@d.test`, name: `Group ${id}`, members: direct };
}

const withMembers = (group: GroupInput | undefined, ...added: MemberInput[]): readonly MemberInput[] => [
  ...(group?.members ?? []),
  ...added,
];

/** Makes each of the last two groups contain another group. */
const nested = ({ groups }: PlainWorld): readonly GroupInput[] =>
  groups.map((group, index) =>
    index < GROUPS - 2 ? group : { ...group, members: [...withMembers(group, { member: `k${index - 3}` })] },
  );

function ofGoogle(world: PlainWorld): WorldInput {
  const groups = nested(world).map((group, index) =>
    index === 3 ? { ...group, members: [...withMembers(group, { member: EXTERNAL })] } : group,
  );
  return { ...world, users: [...world.users], groups };
}

/**
 * Adds objects that only Entra ID has: guests, a user without a mailbox, groups that contain each other, a device, a
 * service principal, a dynamic group, a group with hidden membership, and groups that can be restored after their
 * deletion.
 */
function ofEntra(world: PlainWorld): WorldInput {
  const guest: UserInput = { id: 'guest', primaryEmail: EXTERNAL, vendorFields: { userType: 'Guest' } };
  const users = world.users.map((user, index): UserInput => {
    if (index === 1) return { ...user, vendorFields: { userType: 'Guest' } };
    return index === 2 ? { ...user, vendorFields: { mail: null } } : user;
  });
  const added: Readonly<Record<string, readonly MemberInput[]>> = {
    k0: [{ member: 'device', kind: 'device' }],
    k1: [{ member: 'principal', kind: 'servicePrincipal' }],
    k2: [{ member: 'k5' }],
    k3: [{ member: 'guest' }],
  };
  const kinds: Readonly<Record<string, GroupInput['vendorFields']>> = {
    k1: { groupTypes: ['DynamicMembership'] },
    k4: { groupTypes: ['Unified'], visibility: 'HiddenMembership' },
    k5: { groupTypes: ['Unified'] },
  };
  const groups = nested(world).map((group) => ({
    ...group,
    members: [...withMembers(group, ...(added[group.id] ?? []))],
    vendorFields: kinds[group.id] ?? {},
  }));
  return { ...world, users: [...users, guest], groups };
}

/**
 * Adds objects that only Okta has: users in other states, a login that is not an address, a group of an app, and the
 * group Everyone.
 */
function ofOkta(world: PlainWorld): WorldInput {
  const fields: readonly UserInput['vendorFields'][] = [
    {},
    { status: 'STAGED' },
    { status: 'LOCKED_OUT' },
    { login: 'short.login@login.test' },
  ];
  const users = world.users.map((user, index) => ({ ...user, vendorFields: fields[index] ?? {} }));
  const groups = world.groups.map((group): GroupInput => {
    if (group.id === 'k1') return { ...group, vendorFields: { type: 'APP_GROUP' } };
    if (group.id !== EVERYONE) return group;
    const everyone: MemberInput = { member: 'everyone', kind: 'everyone' };
    return { ...group, name: 'Everyone', vendorFields: { type: 'BUILT_IN' }, members: [everyone] };
  });
  return { ...world, users, groups };
}
