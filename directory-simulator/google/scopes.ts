const AUTH = 'https://www.googleapis.com/auth/';

const READ_USERS = `${AUTH}admin.directory.user.readonly`;
const READ_GROUPS = `${AUTH}admin.directory.group.readonly`;
const READ_MEMBERS = `${AUTH}admin.directory.group.member.readonly`;
const READ_AUDIT = `${AUTH}admin.reports.audit.readonly`;
const CLOUD_PLATFORM = `${AUTH}cloud-platform`;
const IAM = `${AUTH}iam`;

/** The smallest scopes that read everything. At the start, these scopes are delegated to the service account. */
export const READ_ALL = [READ_USERS, READ_GROUPS, READ_MEMBERS, READ_AUDIT];

/**
 * The scopes of each method. A token needs one of these scopes (reference page of the method, "Authorization scopes").
 */
export const USER_SCOPES = [`${AUTH}admin.directory.user`, READ_USERS];
export const GROUP_SCOPES = [
  'https://apps-apis.google.com/a/feeds/groups/',
  `${AUTH}admin.directory.group`,
  READ_GROUPS,
];
export const MEMBER_SCOPES = [...GROUP_SCOPES, `${AUTH}admin.directory.group.member`, READ_MEMBERS];
export const AUDIT_SCOPES = [READ_AUDIT];
export const SIGN_SCOPES = [CLOUD_PLATFORM, IAM];
