import type { Group, User, View } from '../engine/directory.ts';

/**
 * The vendorFields that this dialect reads.
 *
 * User: `status`, the status unless the user is suspended or archived; `login`, if it differs from the address;
 * `profile`, further fields of the profile. Group: `type`.
 */
export const USER_STATUSES = [
  'STAGED',
  'PROVISIONED',
  'ACTIVE',
  'RECOVERY',
  'LOCKED_OUT',
  'PASSWORD_EXPIRED',
] as const;
export const GROUP_TYPES = ['OKTA_GROUP', 'APP_GROUP', 'BUILT_IN'] as const;

const textOf = (value: unknown, otherwise: string) => (typeof value === 'string' ? value : otherwise);

/** Returns the status of a user. An archived user of the engine is deprovisioned. */
export function statusOf({ archived, suspended, vendorFields }: User): string {
  if (archived) return 'DEPROVISIONED';
  return suspended ? 'SUSPENDED' : textOf(vendorFields['status'], 'ACTIVE');
}

export const loginOf = ({ vendorFields, primaryEmail }: User) => textOf(vendorFields['login'], primaryEmail);
export const typeOf = ({ vendorFields }: Group) => textOf(vendorFields['type'], 'OKTA_GROUP');
export const displayNameOf = ({ givenName, familyName, primaryEmail }: User) =>
  `${givenName} ${familyName}`.trim() || primaryEmail;

/** Returns a user by id, login or the part of the login before the `@`, if no other user has it. */
export function userByKey(view: View, key: string): User | undefined {
  const byId = view.user(key);
  if (byId?.id === key) return byId;
  const wanted = key.toLowerCase();
  const existing = view.users().filter(({ deletedAtMs }) => deletedAtMs === null);
  const byLogin = existing.find((user) => loginOf(user).toLowerCase() === wanted);
  if (byLogin !== undefined || wanted.includes('@')) return byLogin;
  const byShortName = existing.filter((user) => loginOf(user).toLowerCase().split('@', 1)[0] === wanted);
  return byShortName.length === 1 ? byShortName[0] : undefined;
}

/** Returns a group by its id only. Okta's groups have no address. */
export function groupById(view: View, id: string): Group | undefined {
  const group = view.group(id);
  return group?.id === id ? group : undefined;
}

export const existingGroups = (view: View) => view.groups().filter(({ deletedAtMs }) => deletedAtMs === null);
const existingUsers = (view: View) => view.users().filter(({ deletedAtMs }) => deletedAtMs === null);

/**
 * Returns the users of a group, with every status. A member `everyone` stands for all users. Okta has no nested groups
 * and no external members, so other members are not shown.
 */
export function usersOf(view: View, { id }: Group): readonly User[] {
  const memberships = view.members(id);
  if (memberships.some(({ kind }) => kind === 'everyone')) return existingUsers(view);
  return memberships.flatMap(({ kind, memberId }) => (kind === 'user' ? (view.user(memberId) ?? []) : []));
}

/** Returns a time as Okta stores it: in whole seconds. All time stamps of groups in the documents end with `.000Z`. */
export const shownTime = (ms: number) => new Date(Math.floor(ms / 1_000) * 1_000).toISOString();

export const userUpdatedAt = (view: View, { id, createdAtMs }: User) =>
  Math.max(createdAtMs, view.userChangedAt(id));
export const groupUpdatedAt = (view: View, { id, createdAtMs }: Group) =>
  Math.max(createdAtMs, view.groupChangedAt(id));

/**
 * Returns the time of the latest change of the memberships. The deletion of a user ends memberships, but does not count
 * as such a change, because the documents do not say that it does.
 */
export function membershipUpdatedAt(view: View, group: Group): number {
  if (view.members(group.id).some(({ kind }) => kind === 'everyone')) {
    return Math.max(group.createdAtMs, ...existingUsers(view).map(({ createdAtMs }) => createdAtMs));
  }
  const deletedAt = deletionTimes(view);
  const counted = view
    .membershipChanges(group.id)
    .filter(({ memberId, atMs }) => deletedAt.get(memberId) !== atMs);
  return counted.reduce((latest, { atMs }) => Math.max(latest, atMs), group.createdAtMs);
}

const deletions = new WeakMap<View, Map<string, number | null>>();

/** Returns the times of deletion by user. They are computed once for each view, because a listing has many groups. */
function deletionTimes(view: View): Map<string, number | null> {
  const known = deletions.get(view);
  if (known !== undefined) return known;
  const times = new Map(
    view.users().flatMap(({ id, deletedAtMs }) => (deletedAtMs === null ? [] : [[id, deletedAtMs] as const])),
  );
  deletions.set(view, times);
  return times;
}
