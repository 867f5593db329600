import { badRequest, notFound } from '../../local/platform/errors.ts';
import type { Change } from './changes.ts';
import type { Directory, Group, LogEntry, Membership, User } from './directory.ts';
import { resolveMember } from './world.ts';

/** The rules of a vendor for changes. */
export interface ChangeRules {
  /** If true, a group can contain itself through other groups. */
  readonly allowsCycles: boolean;
  /** If true, deleted users and groups keep their memberships, and a restore restores the memberships. */
  readonly keepsMemberships: boolean;
}

const STRICT_RULES: ChangeRules = { allowsCycles: false, keepsMemberships: false };

type ChangeOf<Kind extends Change['kind']> = Extract<Change, { kind: Kind }>;
type LogFields = Partial<Omit<LogEntry, 'seq' | 'atMs' | 'change' | 'via' | 'actorEmail'>>;
type Apply<Kind extends Change['kind']> = (
  directory: Directory,
  atMs: number,
  change: ChangeOf<Kind>,
  rules: ChangeRules,
) => LogFields;

/** For each kind of change, the function that makes the change and returns the fields for its log entry. */
const APPLY: { readonly [Kind in Change['kind']]: Apply<Kind> } = {
  addUser(directory, atMs, { user }) {
    const created = { ...user, createdAtMs: atMs };
    directory.putUser(atMs, created);
    return { user: created };
  },
  changeUser(directory, atMs, change) {
    const before = userOf(directory, atMs, change.user);
    const user: User = {
      ...before,
      primaryEmail: change.primaryEmail ?? before.primaryEmail,
      aliases: change.aliases ?? aliasesAfterRename(before.aliases, before.primaryEmail, change.primaryEmail),
      givenName: change.givenName ?? before.givenName,
      familyName: change.familyName ?? before.familyName,
      orgUnitPath: change.orgUnitPath ?? before.orgUnitPath,
      isAdmin: change.isAdmin ?? before.isAdmin,
      vendorFields: { ...before.vendorFields, ...change.vendorFields },
    };
    directory.putUser(atMs, user);
    const { vendorFields } = change;
    const logFields = { user: before, oldValue: before.primaryEmail, newValue: user.primaryEmail };
    return vendorFields === undefined ? logFields : { ...logFields, vendorFields };
  },
  suspendUser: (directory, atMs, { user }) => putUser(directory, atMs, user, { suspended: true }),
  unsuspendUser: (directory, atMs, { user }) => putUser(directory, atMs, user, { suspended: false }),
  archiveUser: (directory, atMs, { user }) => putUser(directory, atMs, user, { archived: true }),
  unarchiveUser: (directory, atMs, { user }) => putUser(directory, atMs, user, { archived: false }),
  deleteUser(directory, atMs, { user: key }, { keepsMemberships }) {
    const user = userOf(directory, atMs, key);
    directory.putUser(atMs, { ...user, deletedAtMs: atMs });
    if (!keepsMemberships) endMembershipsOf(directory, atMs, user.id);
    return { user };
  },
  undeleteUser(directory, atMs, { user: id }) {
    const user = deletedUserOf(directory, atMs, id);
    directory.putUser(atMs, { ...user, deletedAtMs: null });
    return { user };
  },
  purgeUser(directory, atMs, { user: id }) {
    const user = deletedUserOf(directory, atMs, id);
    directory.putUser(atMs, { ...user, purgedAtMs: atMs });
    return { user };
  },
  addGroup(directory, atMs, { group: { members, ...given } }) {
    const group = { ...given, createdAtMs: atMs };
    directory.putGroup(atMs, group);
    for (const member of members) {
      directory.putMembership(atMs, group.id, resolveMember(directory, atMs, member));
    }
    return { group };
  },
  changeGroup(directory, atMs, change) {
    const before = groupOf(directory, atMs, change.group);
    const group: Group = {
      ...before,
      name: change.name ?? before.name,
      email: change.email ?? before.email,
      aliases: change.aliases ?? aliasesAfterRename(before.aliases, before.email, change.email),
      description: change.description ?? before.description,
      vendorFields: { ...before.vendorFields, ...change.vendorFields },
    };
    directory.putGroup(atMs, group);
    return { group: before, oldValue: before.name, newValue: group.name };
  },
  deleteGroup(directory, atMs, { group: key }, { keepsMemberships }) {
    const group = groupOf(directory, atMs, key);
    directory.putGroup(atMs, { ...group, deletedAtMs: atMs });
    if (!keepsMemberships) endMembershipsOf(directory, atMs, group.id);
    return { group };
  },
  undeleteGroup(directory, atMs, { group: id }) {
    const group = directory.viewAt(atMs).storedGroup(id);
    if (group === undefined || group.deletedAtMs === null) throw notFound('deleted group', id);
    directory.putGroup(atMs, { ...group, deletedAtMs: null });
    return { group };
  },
  addMember(directory, atMs, { group: key, member, memberKind, role }, { allowsCycles }) {
    const group = groupOf(directory, atMs, key);
    const membership = resolveMember(directory, atMs, { member, kind: memberKind, role });
    if (!allowsCycles) refuseCycle(directory, atMs, group.id, membership);
    directory.putMembership(atMs, group.id, membership);
    return { group, member: memberOf(directory, atMs, membership), role };
  },
  removeMember(directory, atMs, { group: key, member }) {
    const group = groupOf(directory, atMs, key);
    const membership = membershipOf(directory, atMs, group.id, member);
    directory.endMembership(atMs, group.id, membership.memberId);
    return { group, member: memberOf(directory, atMs, membership), role: membership.role };
  },
  changeRole(directory, atMs, { group: key, member, role }) {
    const group = groupOf(directory, atMs, key);
    const membership = membershipOf(directory, atMs, group.id, member);
    directory.putMembership(atMs, group.id, { ...membership, role });
    const logFields = { oldValue: membership.role, newValue: role };
    return { group, member: memberOf(directory, atMs, membership), role, ...logFields };
  },
};

/**
 * Makes a change and adds it to the log.
 * @throws {ApiError} 404 for an unknown user, group or member; 400 for a group that would contain itself
 */
export function applyChange(
  directory: Directory,
  atMs: number,
  change: Change,
  rules: ChangeRules = STRICT_RULES,
): void {
  const apply = APPLY[change.kind] as Apply<Change['kind']>;
  const logFields = apply(directory, atMs, change as never, rules);
  const administrator = directory
    .viewAt(atMs)
    .users()
    .find(({ isAdmin }) => isAdmin)?.primaryEmail;
  const actorEmail = change.actor ?? administrator ?? `admin@${directory.domain}`;
  directory.record({ atMs, change: change.kind, via: change.via, actorEmail, ...logFields });
}

function userOf(directory: Directory, atMs: number, key: string): User {
  const user = directory.viewAt(atMs).user(key);
  if (user === undefined) throw notFound('user', key);
  return user;
}

function deletedUserOf(directory: Directory, atMs: number, id: string): User {
  const user = directory.viewAt(atMs).storedUser(id);
  if (user === undefined || user.deletedAtMs === null || user.purgedAtMs !== null) {
    throw notFound('deleted user', id);
  }
  return user;
}

function groupOf(directory: Directory, atMs: number, key: string): Group {
  const group = directory.viewAt(atMs).group(key);
  if (group === undefined) throw notFound('group', key);
  return group;
}

function membershipOf(directory: Directory, atMs: number, groupId: string, key: string): Membership {
  const view = directory.viewAt(atMs);
  const isExternal = ({ externalEmail }: Membership) => externalEmail?.toLowerCase() === key.toLowerCase();
  const id = view.user(key)?.id ?? view.group(key)?.id ?? key;
  const membership = view.membership(groupId, id) ?? view.members(groupId).find(isExternal);
  if (membership === undefined) throw notFound('member', key);
  return membership;
}

function putUser(directory: Directory, atMs: number, key: string, changed: Partial<User>): LogFields {
  const user = userOf(directory, atMs, key);
  directory.putUser(atMs, { ...user, ...changed });
  return { user };
}

/** Returns the aliases after a rename. A former address stays as an alias, as in the admin console. */
function aliasesAfterRename(aliases: readonly string[], before: string, after: string | undefined) {
  if (after === undefined || after === before) return aliases;
  return [...aliases.filter((alias) => alias !== after), before];
}

function endMembershipsOf(directory: Directory, atMs: number, memberId: string): void {
  const view = directory.viewAt(atMs);
  for (const { id } of view.groups()) {
    if (view.membership(id, memberId) !== undefined) directory.endMembership(atMs, id, memberId);
  }
}

function memberOf(directory: Directory, atMs: number, { memberId, kind, externalEmail }: Membership) {
  const view = directory.viewAt(atMs);
  const email = externalEmail ?? view.user(memberId)?.primaryEmail ?? view.group(memberId)?.email ?? null;
  return { id: memberId, email, kind };
}

/** Throws if a group would contain itself, directly or through other groups, as Google does. */
function refuseCycle(
  directory: Directory,
  atMs: number,
  parentId: string,
  { memberId, kind }: Membership,
): void {
  if (kind !== 'group') return;
  const view = directory.viewAt(atMs);
  const waiting = [memberId];
  const visited = new Set<string>();
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (id === parentId) throw badRequest('a group cannot be a member of itself or of one of its members');
    if (visited.has(id)) continue;
    visited.add(id);
    waiting.push(...view.members(id).flatMap((one) => (one.kind === 'group' ? [one.memberId] : [])));
  }
}
