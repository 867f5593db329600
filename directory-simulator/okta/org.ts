import type { Group, User, View } from '../engine/directory.ts';

/**
 * This dialect reads these vendorFields:
 *
 *   user  | status   the status of a user who is neither suspended nor archived
 *         | login    the login, if it differs from the address
 *         | profile  more fields of the profile
 *   group | type     the type of the group
 */
export const USER_STATUSES = [
  'STAGED',
  'PROVISIONED',
  'ACTIVE',
  'RECOVERY',
  'LOCKED_OUT',
  'PASSWORD_EXPIRED',
] as const;

const textOf = (value: unknown, otherwise: string) => (typeof value === 'string' ? value : otherwise);

/** Returns the status of a user. Archived users have the status DEPROVISIONED. */
export function statusOf({ archived, suspended, vendorFields }: User): string {
  if (archived) return 'DEPROVISIONED';
  return suspended ? 'SUSPENDED' : textOf(vendorFields['status'], 'ACTIVE');
}

export const loginOf = ({ vendorFields, primaryEmail }: User) => textOf(vendorFields['login'], primaryEmail);
export const typeOf = ({ vendorFields }: Group) => textOf(vendorFields['type'], 'OKTA_GROUP');
export const displayNameOf = ({ givenName, familyName, primaryEmail }: User) =>
  `${givenName} ${familyName}`.trim() || primaryEmail;

/** Returns a user by id, by login, or by the part of the login before the `@` if this part is unique. */
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

/** Returns a group by its id, because Okta's groups have no address. */
export function groupById(view: View, id: string): Group | undefined {
  const group = view.group(id);
  return group?.id === id ? group : undefined;
}

export const existingGroups = (view: View) => view.groups().filter(({ deletedAtMs }) => deletedAtMs === null);
const existingUsers = (view: View) => view.users().filter(({ deletedAtMs }) => deletedAtMs === null);

/**
 * Returns the users of a group, with every status. A member `everyone` means all users. Members of other kinds are not
 * shown, because Okta has no nested groups and no external members.
 */
export function usersOf(view: View, { id }: Group): readonly User[] {
  const memberships = view.members(id);
  if (memberships.some(({ kind }) => kind === 'everyone')) return existingUsers(view);
  return memberships.flatMap(({ kind, memberId }) => (kind === 'user' ? (view.user(memberId) ?? []) : []));
}

/**
 * Returns a time in whole seconds, as Okta stores times. All times of groups in Okta's documentation end with `.000Z`.
 */
export const shownTime = (ms: number) => new Date(Math.floor(ms / 1_000) * 1_000).toISOString();

export const userUpdatedAt = (view: View, { id, createdAtMs }: User) =>
  Math.max(createdAtMs, view.userChangedAt(id));
export const groupUpdatedAt = (view: View, { id, createdAtMs }: Group) =>
  Math.max(createdAtMs, view.groupChangedAt(id));

/**
 * Returns the time of the latest change of the memberships. A membership that ends with the deletion of its user does
 * not count, because Okta documents no such change.
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

/**
 * Returns the times of deletion by user. A cache keeps them for each view, because every group of a listing needs them.
 */
function deletionTimes(view: View): Map<string, number | null> {
  const known = deletions.get(view);
  if (known !== undefined) return known;
  const times = new Map(
    view.users().flatMap(({ id, deletedAtMs }) => (deletedAtMs === null ? [] : [[id, deletedAtMs] as const])),
  );
  deletions.set(view, times);
  return times;
}
