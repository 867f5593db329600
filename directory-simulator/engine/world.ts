import { createHash } from 'node:crypto';
import * as z from 'zod';
import { describeIssues } from '../../local/platform/errors.ts';
import { createDirectory, type Directory, type MemberKind } from './directory.ts';

const MEMBER_KINDS = [
  'user',
  'group',
  'externalUser',
  'externalGroup',
  'everyone',
  'device',
  'servicePrincipal',
] as const satisfies readonly MemberKind[];

export const WorldUser = z.strictObject({
  id: z.string().min(1),
  primaryEmail: z.string().min(1),
  aliases: z.array(z.string()).default([]),
  givenName: z.string().default(''),
  familyName: z.string().default(''),
  orgUnitPath: z.string().default('/'),
  isAdmin: z.boolean().default(false),
  suspended: z.boolean().default(false),
  archived: z.boolean().default(false),
  createdAtMs: z.number().default(0),
  deletedAtMs: z.number().nullable().default(null),
  purgedAtMs: z.number().nullable().default(null),
  vendorFields: z.record(z.string(), z.unknown()).default({}),
});

export const MemberKindName = z.enum(MEMBER_KINDS);

export const WorldMember = z.strictObject({
  /** The id or address of a user or group, the id of another object, or the address of an external member. */
  member: z.string().min(1),
  /** The kind of the member. By default, the kind of the existing user or group; an external user if there is none. */
  kind: MemberKindName.optional(),
  role: z.enum(['OWNER', 'MANAGER', 'MEMBER']).default('MEMBER'),
});

export const WorldGroup = z.strictObject({
  id: z.string().min(1),
  email: z.string().min(1),
  aliases: z.array(z.string()).default([]),
  name: z.string().default(''),
  description: z.string().default(''),
  createdAtMs: z.number().default(0),
  deletedAtMs: z.number().nullable().default(null),
  vendorFields: z.record(z.string(), z.unknown()).default({}),
  members: z.array(WorldMember).default([]),
});

const World = z.strictObject({
  customerId: z.string().default('C01simulated'),
  domain: z.string().default('example.com'),
  users: z.array(WorldUser).default([]),
  groups: z.array(WorldGroup).default([]),
});
type World = z.infer<typeof World>;
export type WorldInput = z.input<typeof World>;

/** The error for an invalid world, with the path of each invalid field. */
class WorldError extends Error {
  override readonly name = 'WorldError';
}

/** @throws {WorldError} for an invalid world */
export function parseWorld(input: WorldInput): World {
  const parsed = World.safeParse(input);
  if (!parsed.success) throw new WorldError(describeIssues(parsed.error, ''));
  return parsed.data;
}

/** Returns the directory of a world. The content counts as existing since -Infinity, so that lag does not hide it. */
export function directoryOf(world: World): Directory {
  const directory = createDirectory(world.customerId, world.domain);
  const always = Number.NEGATIVE_INFINITY;
  for (const user of world.users) directory.putUser(always, user);
  for (const { members: _, ...group } of world.groups) directory.putGroup(always, group);
  for (const { id, members } of world.groups) {
    for (const member of members) {
      directory.putMembership(always, id, resolveMember(directory, always, member));
    }
  }
  return directory;
}

/** Returns the id, the kind and the role of a member. The id of an external member is derived from its address. */
export function resolveMember(
  directory: Directory,
  atMs: number,
  { member, kind, role }: z.infer<typeof WorldMember>,
) {
  const view = directory.viewAt(atMs);
  if (kind === 'everyone') return { memberId: directory.customerId, kind, role, externalEmail: null };
  if (kind === 'device' || kind === 'servicePrincipal') {
    return { memberId: member, kind, role, externalEmail: null };
  }
  const isExternal = kind === 'externalUser' || kind === 'externalGroup';
  // A deleted user can keep memberships. In a world, such a member needs an explicit kind.
  const deleted = kind === 'user' ? view.storedUser(member) : undefined;
  const user = isExternal || kind === 'group' ? undefined : (view.user(member) ?? deleted);
  if (user !== undefined) return { memberId: user.id, kind: 'user' as const, role, externalEmail: null };
  const group = isExternal || kind === 'user' ? undefined : view.group(member);
  if (group !== undefined) return { memberId: group.id, kind: 'group' as const, role, externalEmail: null };
  const externalKind = kind === 'group' || kind === 'externalGroup' ? 'externalGroup' : 'externalUser';
  return { memberId: externalId(member), kind: externalKind as MemberKind, role, externalEmail: member };
}

/** Returns an id of 21 digits, as Google's users have. The same address always has the same id. */
function externalId(address: string): string {
  const hash = createHash('sha256').update(address.toLowerCase()).digest().readBigUInt64BE();
  return `1${String(hash).padStart(20, '0')}`;
}
