import type { Directory, Group, Membership, User, View } from '../engine/directory.ts';
import { withEtag } from './api.ts';

const timeOf = (ms: number) => new Date(ms).toISOString();

interface Projection {
  readonly projection?: 'basic' | 'custom' | 'full' | undefined;
  readonly customFieldMask?: string | undefined;
}

/** Returns the fields that only the world sets. Custom schemas are shown only as far as `projection` asks for them. */
function furtherFields({ vendorFields }: User, { projection, customFieldMask = '' }: Projection) {
  const { customSchemas, ...others } = vendorFields;
  if (typeof customSchemas !== 'object' || customSchemas === null) return others;
  const wanted = customFieldMask.split(',');
  const isShown = (schema: string) => projection === 'full' || wanted.includes(schema);
  const shown = Object.entries(customSchemas).filter(([schema]) => isShown(schema));
  return shown.length === 0 ? others : { ...others, customSchemas: Object.fromEntries(shown) };
}

/** Returns a user as `users.list` and `users.get` show it (Directory API, resource users). */
export function userBody({ customerId, domain }: Directory, user: User, query: Projection) {
  const unchangeable = `${user.primaryEmail.split('@', 1)[0]}@${domain}.test-google-a.com`;
  return withEtag({
    kind: 'admin#directory#user',
    id: user.id,
    primaryEmail: user.primaryEmail,
    name: {
      givenName: user.givenName,
      familyName: user.familyName,
      fullName: `${user.givenName} ${user.familyName}`.trim(),
    },
    isAdmin: user.isAdmin,
    isDelegatedAdmin: false,
    creationTime: timeOf(user.createdAtMs),
    agreedToTerms: true,
    suspended: user.suspended,
    ...(user.suspended ? { suspensionReason: 'ADMIN' } : {}),
    archived: user.archived,
    changePasswordAtNextLogin: false,
    emails: [
      { address: user.primaryEmail, primary: true },
      ...[...user.aliases, unchangeable].map((address) => ({ address })),
    ],
    ...(user.aliases.length === 0 ? {} : { aliases: user.aliases }),
    nonEditableAliases: [unchangeable],
    customerId,
    orgUnitPath: user.orgUnitPath,
    isMailboxSetup: !user.suspended,
    includeInGlobalAddressList: true,
    ...(user.deletedAtMs === null ? {} : { deletionTime: timeOf(user.deletedAtMs) }),
    ...furtherFields(user, query),
  });
}

/**
 * Returns a group as `groups.list` and `groups.get` show it. `count` is a string, because Google's JSON has 64-bit
 * numbers as strings.
 */
export function groupBody(group: Group, count: string | null) {
  return withEtag({
    kind: 'admin#directory#group',
    id: group.id,
    email: group.email,
    name: group.name,
    ...(count === null ? {} : { directMembersCount: count }),
    description: group.description,
    adminCreated: true,
    ...(group.aliases.length === 0 ? {} : { aliases: group.aliases }),
    nonEditableAliases: [`${group.email}.test-google-a.com`],
  });
}

const TYPES = {
  user: 'USER',
  externalUser: 'USER',
  group: 'GROUP',
  externalGroup: 'GROUP',
  everyone: 'CUSTOMER',
  device: 'OTHER',
  servicePrincipal: 'OTHER',
} as const;

/** Returns a member as `members.list` shows it. External members have no status, and `CUSTOMER` has no address. */
export function memberBody(view: View, membership: Membership) {
  const { memberId, kind, role, externalEmail } = membership;
  const user = kind === 'user' ? view.user(memberId) : undefined;
  const group = kind === 'group' ? view.group(memberId) : undefined;
  const email = externalEmail ?? user?.primaryEmail ?? group?.email;
  const isExternal = externalEmail !== null;
  return withEtag({
    kind: 'admin#directory#member',
    id: memberId,
    ...(email === undefined ? {} : { email }),
    role,
    type: TYPES[kind],
    ...(isExternal ? {} : { status: statusOf(user) }),
  });
}

function statusOf(user: User | undefined): string {
  if (user?.archived) return 'ARCHIVED';
  return user?.suspended ? 'SUSPENDED' : 'ACTIVE';
}
