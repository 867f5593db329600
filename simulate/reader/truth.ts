import type { View } from '../../directory-simulator/engine/directory.ts';

/** A group of the directory, with the members of nested groups if the reader flattens them. */
interface TrueGroup {
  readonly name: string;
  readonly members: ReadonlySet<string>;
}

/** Returns the group; undefined if the group does not exist. */
export function trueGroup(view: View, id: string, isFlat: boolean): TrueGroup | undefined {
  const group = view.group(id);
  if (group === undefined) return undefined;
  const groups = new Set([id]);
  if (isFlat) for (const each of groups) for (const nested of groupsIn(view, each)) groups.add(nested);
  const members = new Set([...groups].flatMap((each) => usersIn(view, each)));
  return { name: group.name === '' ? group.email : group.name, members };
}

const groupsIn = (view: View, id: string): readonly string[] =>
  view
    .members(id)
    .filter(({ memberId, kind }) => kind === 'group' && view.group(memberId) !== undefined)
    .map(({ memberId }) => memberId);

const usersIn = (view: View, id: string): readonly string[] =>
  view.members(id).flatMap(({ memberId, kind }) => {
    if (kind === 'everyone') return existingUsers(view).map((user) => user.id);
    const isUser = kind === 'user' && view.user(memberId) !== undefined;
    return isUser || kind === 'externalUser' ? [memberId] : [];
  });

const existingUsers = (view: View) => view.users().filter(({ deletedAtMs }) => deletedAtMs === null);

/** Returns whether the account of a member is active. Accounts of other companies are always active. */
export function isAccountActive(view: View, member: string): boolean {
  const user = view.user(member);
  return user === undefined || !(user.suspended || user.archived || user.vendorFields['status'] === 'STAGED');
}
