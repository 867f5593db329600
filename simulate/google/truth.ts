import type { View } from '../../directory-simulator/engine/directory.ts';

/** A group of the directory. If the reader flattens nested groups, the members include those of nested groups. */
export interface TrueGroup {
  readonly name: string;
  readonly members: ReadonlySet<string>;
}

/** Returns the group; undefined if the group does not exist. */
export function trueGroup(view: View, id: string, isFlat: boolean): TrueGroup | undefined {
  const group = view.group(id);
  if (group === undefined) return undefined;
  const members = new Set<string>();
  const groups = new Set([id]);
  for (const each of groups) {
    for (const { memberId, kind } of view.members(each)) {
      if (kind === 'user' || kind === 'externalUser') members.add(memberId);
      if (kind === 'group' && isFlat) groups.add(memberId);
    }
  }
  return { name: group.name === '' ? group.email : group.name, members };
}

/** Returns whether the account of a member is active. An account of another company counts as active. */
export function isOn(view: View, member: string): boolean {
  const user = view.user(member);
  return user === undefined || !(user.suspended || user.archived);
}
