const READ_GROUP_MEMBERS = 'GroupMember.Read.All';
export const READ_USERS = 'User.Read.All';
/** Without this right, groups with hidden membership show no members. */
export const READ_HIDDEN_MEMBERS = 'Member.Read.Hidden';

const READ_DIRECTORY = 'Directory.Read.All';

/** The application permissions (app roles) that an administrator granted at the start. */
export const READ_ALL = [READ_GROUP_MEMBERS, READ_USERS, READ_HIDDEN_MEMBERS];

/** The rights for each resource. A token needs one of these rights (reference pages, application permissions). */
export const GROUP_RIGHTS = [READ_GROUP_MEMBERS, 'Group.Read.All', READ_DIRECTORY];
export const USER_RIGHTS = [READ_USERS, READ_DIRECTORY];
