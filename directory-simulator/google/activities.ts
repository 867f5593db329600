import type { LogEntry, MemberKind } from '../engine/directory.ts';
import type { Settings } from '../engine/settings.ts';

export type Application = 'admin' | 'groups_enterprise';

export interface ActivityEvent {
  readonly type: string;
  readonly name: string;
  readonly parameters: readonly { readonly name: string; readonly value: string }[];
}

type Describe = (entry: LogEntry, identifier: Settings['loggedIdentifier']) => ActivityEvent;

/** Returns an event of a log. Parameters without a value are left out. */
const event = (type: string, name: string, values: Readonly<Record<string, string | null | undefined>>) => ({
  type,
  name,
  parameters: Object.entries(values).flatMap(([parameter, value]) =>
    value === undefined || value === null ? [] : [{ name: parameter, value }],
  ),
});

const ofUser =
  (name: string): Describe =>
  ({ user, newValue }) =>
    event('USER_SETTINGS', name, {
      USER_EMAIL: user?.primaryEmail,
      ...(name === 'RENAME_USER' ? { NEW_VALUE: newValue } : {}),
    });
const ofGroup =
  (name: string): Describe =>
  ({ group, member, oldValue, newValue }) =>
    event('GROUP_SETTINGS', name, {
      GROUP_EMAIL: group?.email,
      USER_EMAIL: member?.email,
      OLD_VALUE: oldValue,
      NEW_VALUE: newValue,
    });

/**
 * Events of the admin log (Reports API, appendix, admin audit activity events: "User Settings" and "Group Settings").
 */
const ADMIN: Readonly<Record<string, Describe>> = {
  addUser: ofUser('CREATE_USER'),
  changeUser: ofUser('RENAME_USER'),
  suspendUser: ofUser('SUSPEND_USER'),
  unsuspendUser: ofUser('UNSUSPEND_USER'),
  archiveUser: ofUser('ARCHIVE_USER'),
  unarchiveUser: ofUser('UNARCHIVE_USER'),
  deleteUser: ofUser('DELETE_USER'),
  undeleteUser: ofUser('UNDELETE_USER'),
  addGroup: ofGroup('CREATE_GROUP'),
  changeGroup: ofGroup('CHANGE_GROUP_NAME'),
  deleteGroup: ofGroup('DELETE_GROUP'),
  addMember: ofGroup('ADD_GROUP_MEMBER'),
  removeMember: ofGroup('REMOVE_GROUP_MEMBER'),
  changeRole: ofGroup('UPDATE_GROUP_MEMBER'),
};

const MEMBER_TYPES: Readonly<Record<MemberKind, string>> = {
  user: 'user',
  externalUser: 'user',
  group: 'group',
  externalGroup: 'group',
  everyone: 'other',
  device: 'other',
  servicePrincipal: 'other',
};

const moderation =
  (name: string): Describe =>
  ({ group, member, role }, identifier) =>
    event('moderator_action', name, {
      group_id: identifier === 'id' ? group?.id : group?.email,
      member_id: identifier === 'id' ? member?.id : member?.email,
      member_role: role?.toLowerCase(),
      member_type: member === undefined ? undefined : MEMBER_TYPES[member.kind],
    });

/**
 * Events of the log of groups (Reports API, appendix, enterprise groups audit activity events). This log has no events
 * about users.
 */
const GROUPS_ENTERPRISE: Readonly<Record<string, Describe>> = {
  addGroup: moderation('create_group'),
  changeGroup: moderation('change_info_setting'),
  deleteGroup: moderation('delete_group'),
  addMember: moderation('add_member'),
  removeMember: moderation('remove_member'),
  changeRole: moderation('add_member_role'),
};

/**
 * Returns the event of a change in a log; undefined if this log does not show the change. The admin log shows only
 * changes in the console. The log `groups_enterprise` also shows changes by the owner of a group.
 */
export function eventOf(
  application: Application,
  entry: LogEntry,
  identifier: Settings['loggedIdentifier'],
): ActivityEvent | undefined {
  if (application === 'admin') {
    return entry.via === 'console' ? ADMIN[entry.change]?.(entry, identifier) : undefined;
  }
  return GROUPS_ENTERPRISE[entry.change]?.(entry, identifier);
}
