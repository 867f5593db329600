import type { LogEntry, User } from '../engine/directory.ts';
import { displayNameOf, loginOf } from './org.ts';

export interface LoggedEvent {
  readonly eventType: string;
  readonly displayMessage: string;
  readonly legacyEventType: string | null;
  readonly target: readonly Target[];
}

interface Target {
  readonly id: string;
  readonly type: 'User' | 'UserGroup';
  readonly alternateId: string;
  readonly displayName: string;
  readonly detailEntry: null;
}

const userTarget = (user: User): Target => ({
  id: user.id,
  type: 'User',
  alternateId: loginOf(user),
  displayName: displayNameOf(user),
  detailEntry: null,
});

const groupTargets = ({ group }: LogEntry): readonly Target[] =>
  group === undefined
    ? []
    : [
        {
          id: group.id,
          type: 'UserGroup',
          alternateId: 'unknown',
          displayName: group.name,
          detailEntry: null,
        },
      ];

type Kind = readonly [eventType: string, displayMessage: string, legacyEventType: string | null];

const GROUP_EVENTS: Readonly<Record<string, Kind>> = {
  addGroup: ['group.lifecycle.create', 'Create Okta group', null],
  changeGroup: ['group.profile.update', 'Update Okta group profile', null],
  deleteGroup: ['group.lifecycle.delete', 'Delete Okta group', null],
};

const MEMBER_EVENTS: Readonly<Record<string, Kind>> = {
  addMember: ['group.user_membership.add', 'Add user to group membership', 'core.user_group_member.user_add'],
  removeMember: [
    'group.user_membership.remove',
    'Remove user from group membership',
    'core.user_group_member.user_remove',
  ],
};

const status = (name: string) => `core.user.config.user_status.${name}`;
const USER_EVENTS: Readonly<Record<string, readonly Kind[]>> = {
  addUser: [['user.lifecycle.create', 'Create Okta user', 'core.user.config.user_creation.success']],
  undeleteUser: [['user.lifecycle.create', 'Create Okta user', 'core.user.config.user_creation.success']],
  suspendUser: [['user.lifecycle.suspend', 'Suspend Okta user', status('suspended')]],
  unsuspendUser: [['user.lifecycle.unsuspend', 'Unsuspend Okta user', status('unsuspended')]],
  archiveUser: [['user.lifecycle.deactivate', 'Deactivate Okta user', 'core.user.config.user_deactivated']],
  unarchiveUser: [['user.lifecycle.reactivate', 'Reactivate Okta user', 'core.user.config.user_reactivated']],
  deleteUser: [
    ['user.lifecycle.delete.initiated', 'Delete Okta user initiated', null],
    ['user.lifecycle.delete.completed', 'Delete Okta user completed', null],
  ],
};

const UPDATE: Kind = ['user.account.update_profile', 'Update user profile for Okta', null];
/** The event for each new value of `status`. A value that is missing here causes the event `UPDATE`. */
const STATUS_EVENTS: Readonly<Record<string, Kind>> = {
  ACTIVE: ['user.lifecycle.activate', 'Activate Okta user', 'core.user.config.user_activated'],
  LOCKED_OUT: ['user.account.lock', 'Max sign in attempts exceeded', 'core.user_auth.account_locked'],
  RECOVERY: ['user.account.reset_password', 'Fired when the user’s Okta password is reset', null],
  PASSWORD_EXPIRED: ['user.account.expire_password', 'Expire user password', null],
};

/**
 * Returns the events of a change ("Event types"). A change that Okta does not support has no event. The initial members
 * of a new group, and the memberships of a deleted user, have no events of their own.
 */
export function eventsOf(
  entry: LogEntry,
  userById: (id: string) => User | undefined,
): readonly LoggedEvent[] {
  const { change, user, member } = entry;
  const group = GROUP_EVENTS[change];
  if (group !== undefined) return [eventOf(group, groupTargets(entry))];
  const membership = MEMBER_EVENTS[change];
  if (membership !== undefined) {
    const person = member?.kind === 'user' ? userById(member.id) : undefined;
    return person === undefined ? [] : [eventOf(membership, [userTarget(person), ...groupTargets(entry)])];
  }
  if (user === undefined) return [];
  const kinds = change === 'changeUser' ? [updateOf(entry)] : (USER_EVENTS[change] ?? []);
  return kinds.map((kind) => eventOf(kind, [userTarget(user)]));
}

const updateOf = ({ vendorFields }: LogEntry): Kind =>
  STATUS_EVENTS[String(vendorFields?.['status'])] ?? UPDATE;

const eventOf = (
  [eventType, displayMessage, legacyEventType]: Kind,
  target: readonly Target[],
): LoggedEvent => ({
  eventType,
  displayMessage,
  legacyEventType,
  target,
});
