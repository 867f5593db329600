import type { View } from '../../directory-simulator/engine/directory.ts';

/** A group as the directory has it, with the members of the groups below it if these are read. */
export interface TrueGroup {
  readonly name: string;
  readonly members: ReadonlySet<string>;
}

/** undefined for a group that does not exist. */
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

/** Whether the account of a member is switched on; those of other companies always are. */
export function isOn(view: View, member: string): boolean {
  const user = view.user(member);
  return user === undefined || !(user.suspended || user.archived);
}
